import { type FoundAdopter, findAdopters } from '../../adoption/applications/adopter-search.ts';
import { findApplicationForStaff } from '../../adoption/applications/staff-applications.ts';
import { findOrderForStaff } from '../../adoption/orders/staff-orders.ts';
import { scopesThat } from '../../domain/scopes.ts';
import { parseInt64 } from '../../platform/db/int64.ts';
import { type Html, html, personal } from '../../platform/html.ts';
import { busySearch, unlessBusy } from '../animals/animal-list.ts';
import { emptyState, icon, table } from '../frame/elements.ts';
import type { Screens } from '../screens/screens.ts';
import type { Visit } from '../screens/visit.ts';
import type { AdoptionParts } from './adoption-parts.ts';
import { adopterName, applicationLabel, name, orderLabel, shelterLine } from './adoption-words.ts';
import { searchBox, searchLengthMax, searchPath } from './list-parts.ts';

const adoptersShownMax = 50;

/** Who called: an adopter by what a person on the telephone says. */
export function addAdopterSearch(screens: Screens, { db }: AdoptionParts): void {
  screens.page({
    path: searchPath,
    needs: scopesThat('manageOrders'),
    show: async (visit) => {
      const typed = (visit.query.get('q') ?? '').trim().slice(0, searchLengthMax);
      // What was asked for is about a person, whether or not somebody is found.
      const results = typed !== '' && personal(await resultsOf(visit, typed));
      return {
        title: 'Find an adopter',
        main: html`<a class="crumb" href="/applications">${icon('back')}Applications</a>
<h1>Find an adopter</h1>
${searchBox(typed)}
${results || html`<p class="soft">${whatIsFound}</p>`}`,
      };
    },
  });

  async function resultsOf(visit: Visit, typed: string): Promise<Html> {
    const numbered = await findNumbered(visit, typed);
    const result = await unlessBusy(findAdopters(db, visit.caller, typed, adoptersShownMax));
    if (!result) return busySearch;
    const rows = [...numbered, ...result.found.filter((one) => !numbered.some((first) => isSame(first, one)))];
    return html`${rows.length === 0 ? nothing(typed) : list(visit, rows)}
${result.isMore && html`<p role="status">There are more than these. Type more, such as the first name or a part of the telephone number.</p>`}
${result.isFilling && html`<p class="soft" role="status">${stillFilling}</p>`}`;
  }

  /** What has this number. */
  async function findNumbered({ caller }: Visit, typed: string): Promise<FoundAdopter[]> {
    const id = /^#?\s*\d+$/.test(typed) ? parseInt64(typed.replace(/^#\s*/, '')) : undefined;
    if (id === undefined) return [];
    const application = await findApplicationForStaff(db, caller, id);
    const order = await findOrderForStaff(db, caller, id);
    return [...(application ? [{ application }] : []), ...(order ? [{ order }] : [])];
  }
}

const isSame = (a: FoundAdopter, b: FoundAdopter): boolean => a.application?.id === b.application?.id && a.order?.id === b.order?.id;

const stillFilling = 'The store is still reading the adopters of before its last upgrade: search again in a few minutes.';
const whatIsFound =
  'By a part of the name, the e-mail address or the telephone number, as you heard it: mueller finds Müller. Everybody is found whose data the store still has, also long after the animal has gone.';

function list(visit: Visit, rows: readonly FoundAdopter[]): Html {
  const { times, caller } = visit;
  const isStore = caller.shelterId === null;
  const of = (row: FoundAdopter) => row.order ?? row.application;
  return table('Adopters, the newest first', rows, [
    {
      name: 'Adopter',
      cell: (row) => html`<a href="/${row.order ? 'orders' : 'applications'}/${of(row).id}" data-row>${adopterName(of(row))}</a>`,
    },
    {
      name: 'For',
      cell: (row) =>
        html`<span><a href="/animals/${of(row).petId}">${name(of(row).pet)}</a>${isStore && shelterLine(of(row).shelter)}</span>`,
    },
    { name: 'State', cell: ({ order, application }) => (order ? orderLabel(order.status) : applicationLabel(application.status)) },
    { name: 'Since', cell: (row) => times.ago(of(row).updatedAt) },
  ]);
}

const nothing = (typed: string): Html =>
  emptyState(
    'search',
    'Nothing found',
    `Nobody here has “${typed}” in the name, the e-mail address or the telephone number. Try less of it: a part is enough. Adopters whose data was erased are not found.`,
  );
