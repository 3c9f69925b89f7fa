import { countOrdersForStaff, type ListedOrder, listOrdersForStaff } from '../../adoption/orders/staff-orders.ts';
import { type OrderStatus, orderStatuses } from '../../domain/order-states.ts';
import { scopesThat } from '../../domain/scopes.ts';
import { parseInt64 } from '../../platform/db/int64.ts';
import { type Html, html } from '../../platform/html.ts';
import { findAnimalForStaff as findAnimal } from '../../search/listings/staff-list.ts';
import { emptyState, pageLinks, table } from '../frame/elements.ts';
import type { Screens } from '../screens/screens.ts';
import type { Visit } from '../screens/visit.ts';
import type { AdoptionParts } from './adoption-parts.ts';
import { adopterName, name, orderLabel, shelterLine } from './adoption-words.ts';
import { searchBox, type Tab, tabLinks } from './list-parts.ts';

const pageSize = 50;
/** One more than is shown of a count. */
const countMax = 101;

const tabs: ReadonlyArray<Tab<OrderStatus>> = [
  { key: 'open', name: 'Open', statuses: ['placed', 'approved'] },
  { key: 'adopted', name: 'Handed over', statuses: ['completed'], isNewestFirst: true },
  { key: 'ended', name: 'Ended', statuses: ['cancelled', 'expired', 'returned'], isNewestFirst: true },
];

export function addOrderList(screens: Screens, { db }: AdoptionParts): void {
  screens.page({
    path: '/orders',
    needs: scopesThat('manageOrders'),
    place: { name: 'Orders', icon: 'check', order: 40 },
    show: async (visit) => {
      const { query } = visit;
      const petId = parseInt64(query.get('pet') ?? '');
      const pet = petId === undefined ? undefined : await findAnimal(db, visit.caller, petId);
      const tab = tabs.find(({ key }) => key === query.get('state')) ?? (tabs[0] as Tab<OrderStatus>);
      const found = await page(visit, tab, petId);
      const title = pet ? `Orders of ${pet.name}` : 'Orders';
      const hasTabs = petId === undefined;
      return {
        title,
        main: html`<h1>${pet ? html`Orders of ${name(pet.name)}` : title}</h1>
${searchBox()}
${hasTabs && tabLinks('/orders', query, tabs, tab, await countOrdersForStaff(db, visit.caller, orderStatuses, countMax), countMax)}
${found.rows.length === 0 ? nothing : list(visit, found.rows)}
${pageLinks('/orders', query, found.next)}`,
      };
    },
  });

  /** Those of an animal are few: in every state. */
  async function page(visit: Visit, { statuses, isNewestFirst = false }: Tab<OrderStatus>, petId: bigint | undefined) {
    const cursor = parseInt64(visit.query.get('cursor') ?? '');
    const kind = petId === undefined ? { statuses, isNewestFirst } : { statuses: orderStatuses, isNewestFirst: true };
    const rows = await listOrdersForStaff(db, visit.caller, { ...kind, petId, cursor, limit: pageSize + 1 });
    const shown = rows.slice(0, pageSize);
    return { rows: shown, next: rows.length > pageSize ? String(shown.at(-1)?.id) : undefined };
  }
}

function list(visit: Visit, rows: readonly ListedOrder[]): Html {
  const { times, caller } = visit;
  const isStore = caller.shelterId === null;
  return table('Orders', rows, [
    {
      name: 'Order',
      cell: ({ id, pet, shelter }) =>
        html`<a href="/orders/${id}" data-row>${name(pet)}</a> <span class="soft number">${id}</span>${isStore && shelterLine(shelter)}`,
    },
    { name: 'Adopter', cell: (row) => adopterName(row) },
    { name: 'State', cell: ({ status }) => orderLabel(status) },
    {
      name: 'When',
      cell: ({ status, expiresAt, updatedAt }) =>
        status === 'placed' ? html`<span>expires ${times.ago(expiresAt)}</span>` : times.ago(updatedAt),
    },
    {
      name: 'Next',
      isActs: true,
      cell: ({ id, status, pet }) =>
        status === 'approved' &&
        html`<a class="button quiet" href="/orders/${id}/hand-over">Hand over<span class="hidden"> ${pet}</span></a>`,
    },
  ]);
}

const nothing = emptyState('check', 'None here', 'An order appears when a partner reserves an animal, or when you accept an application.');
