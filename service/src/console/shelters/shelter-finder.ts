import { listSheltersByName } from '../../adoption/shelters/shelters.ts';
import type { Db } from '../../platform/db/handles.ts';
import { parseInt64 } from '../../platform/db/int64.ts';
import { type Html, html } from '../../platform/html.ts';
import { emptyState, icon, pageLinks, table } from '../frame/elements.ts';
import type { Visit } from '../screens/visit.ts';

const pageSize = 50;
const searchLengthMax = 100;

/** All shelters by name, to look for one and to choose it. `linkTo` says where a name leads. */
export async function shelterFinder(
  db: Db,
  { query }: Visit,
  { path, linkTo }: { readonly path: string; readonly linkTo: (id: bigint) => string },
): Promise<Html> {
  const text = (query.get('q') ?? '').trim().slice(0, searchLengthMax);
  const found = await listSheltersByName(db, { text, afterId: parseInt64(query.get('cursor') ?? ''), limit: pageSize + 1 });
  const shown = found.slice(0, pageSize);
  return html`<form class="search" role="search" action="${path}">
<label class="hidden" for="q">Name, town or number of a shelter</label>
<input id="q" name="q" type="search" value="${text}" placeholder="Name, town or number" maxlength="${searchLengthMax}" autocomplete="off" data-key="/">
<button class="button quiet">${icon('search')}<span>Find</span></button>
${text !== '' && html`<a href="${path}">Show all</a>`}
</form>
${
  shown.length === 0
    ? emptyState(
        'search',
        'Nothing found',
        text === '' ? 'There is no other page.' : `No shelter has “${text}” in its name or town, or as its number.`,
      )
    : table('Shelters, by name', shown, [
        { name: 'Name', cell: ({ id, name }) => html`<a href="${linkTo(id)}" data-row><bdi>${name}</bdi></a>` },
        { name: 'Town', cell: ({ town }) => (town === null ? '' : html`<bdi>${town}</bdi>`) },
        { name: 'Number', cell: ({ id }) => html`<span class="number">${id}</span>` },
      ])
}
${pageLinks(path, query, found.length > pageSize ? String(shown.at(-1)?.id) : undefined)}`;
}
