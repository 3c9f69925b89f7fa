import {
  countApplicationsForStaff,
  type ListedApplication,
  listApplicationsForStaff,
} from '../../adoption/applications/staff-applications.ts';
import type { ConfirmedStatus } from '../../domain/application-states.ts';
import { scopesThat } from '../../domain/scopes.ts';
import { parseInt64 } from '../../platform/db/int64.ts';
import { type Html, html } from '../../platform/html.ts';
import { findAnimalForStaff as findAnimal } from '../../search/listings/staff-list.ts';
import { emptyState, icon, pageLinks, table } from '../frame/elements.ts';
import type { Screens } from '../screens/screens.ts';
import type { Visit } from '../screens/visit.ts';
import type { AdoptionParts } from './adoption-parts.ts';
import { adopterName, applicationLabel, name, shelterLine } from './adoption-words.ts';
import { searchBox, type Tab, tabLinks } from './list-parts.ts';

const pageSize = 50;
const manages = scopesThat('manageOrders');

const tabs: ReadonlyArray<Tab<ConfirmedStatus>> = [
  { key: 'waiting', name: 'To decide', statuses: ['submitted', 'reviewing'] },
  { key: 'accepted', name: 'Accepted', statuses: ['accepted'] },
  { key: 'ended', name: 'Ended', statuses: ['completed', 'declined', 'withdrawn', 'closed'], isNewestFirst: true },
];

export function addApplicationList(screens: Screens, { db }: AdoptionParts): void {
  screens.page({
    path: '/applications',
    needs: manages,
    place: { name: 'Applications', icon: 'heart', order: 30 },
    show: async (visit) => {
      const { query } = visit;
      const petId = parseInt64(query.get('pet') ?? '');
      const pet = petId === undefined ? undefined : await findAnimal(db, visit.caller, petId);
      const tab = tabs.find(({ key }) => key === query.get('state')) ?? (tabs[0] as Tab<ConfirmedStatus>);
      const found = await page(visit, tab, petId);
      const counts = await countApplicationsForStaff(db, visit.caller, petId, countMax);
      const title = pet ? `Applications for ${pet.name}` : 'Applications';
      const newest = petId === undefined ? '' : `?pet=${petId}`;
      return {
        title,
        main: html`<div class="head"><h1>${pet ? html`Applications for ${name(pet.name)}` : title}</h1>
<a class="button" href="/applications/new${newest}" data-key="n">${icon('plus')}New application</a></div>
${searchBox()}
${tabLinks('/applications', query, tabs, tab, counts, countMax)}
${petId !== undefined && linksBesideList(petId)}
${found.rows.length === 0 ? nothing(tab) : list(visit, found.rows)}
${pageLinks('/applications', query, found.next)}
${tab.key === 'ended' && html`<p><a href="/applications/ends">Those that were ended together, and how to take that back</a></p>`}`,
      };
    },
  });

  async function page(visit: Visit, { statuses, isNewestFirst = false }: Tab<ConfirmedStatus>, petId: bigint | undefined) {
    const cursor = parseInt64(visit.query.get('cursor') ?? '');
    const rows = await listApplicationsForStaff(db, visit.caller, { statuses, petId, cursor, limit: pageSize + 1, isNewestFirst });
    const shown = rows.slice(0, pageSize);
    return { rows: shown, next: rows.length > pageSize ? String(shown.at(-1)?.id) : undefined };
  }
}

/** One more than is shown of a count. */
const countMax = 101;

/** From the applications for one animal. */
const linksBesideList = (petId: bigint): Html => html`<p class="acts">
<a class="button quiet" href="/applications/pets/${petId}">Compare side by side</a>
<a class="button quiet" href="/applications">Those for all animals</a>
</p>`;

function list(visit: Visit, rows: readonly ListedApplication[]): Html {
  const { times, caller } = visit;
  const isStore = caller.shelterId === null;
  return table('Applications, the oldest first', rows, [
    { name: 'Adopter', cell: (row) => html`<a href="/applications/${row.id}" data-row>${adopterName(row)}</a>` },
    {
      name: 'For',
      cell: ({ pet, petId, shelter }) => html`<span><a href="/animals/${petId}">${name(pet)}</a>${isStore && shelterLine(shelter)}</span>`,
    },
    { name: 'State', cell: ({ status }) => applicationLabel(status) },
    { name: 'Sent', cell: ({ createdAt }) => times.ago(createdAt) },
    { name: 'Next', isActs: true, cell: nextAct },
  ]);
}

function nextAct({ id, status, orderId, petId, pet }: ListedApplication): Html | false {
  if (status === 'accepted')
    return html`<a class="button quiet" href="/orders/${orderId ?? id}/hand-over">Hand over<span class="hidden"> ${pet}</span></a>`;
  return (
    (status === 'submitted' || status === 'reviewing') &&
    html`<a class="button quiet" href="/applications/pets/${petId}">Compare<span class="hidden"> those for ${pet}</span></a>`
  );
}

function nothing({ key }: Tab<ConfirmedStatus>): Html {
  if (key === 'waiting') return emptyState('check', 'Nobody waits for a decision', 'New applications appear here, the oldest first.');
  return emptyState(
    'heart',
    'None here',
    key === 'accepted' ? 'Nobody has been accepted who has not taken the animal home.' : 'Applications that have ended appear here.',
  );
}
