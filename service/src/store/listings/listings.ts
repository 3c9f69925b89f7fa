import type { StoredProfile } from '../../domain/profile-fields.ts';
import type { Db, Searcher } from '../../platform/db/handles.ts';
import { emptyProfile } from '../profiles/profile-changes.ts';
import { countedMax, countFacets, type FacetCount } from './facet-queries.ts';
import { byIndexOnly, findNearest, findNewest, findRelevant } from './listing-queries.ts';
import { type ListingRow, selectListings } from './listing-rows-queries.ts';
import type { Facets } from './listing-schemas.ts';
import type { Asked, Found, ListingSearch, ListingSort, Position } from './listing-search.ts';
import { correctWords } from './spelling.ts';
import { selectBreed } from './word-queries.ts';

export interface Listing extends ListingRow {
  readonly profile: StoredProfile;
}

/** What a search has found, and what it has asked for. */
interface Result<T> {
  readonly found: T;
  readonly asked: Asked;
}

/** Finds a page of animals and reads all that is shown of them, in one snapshot: each is as it was found. */
export async function searchListings(
  db: Searcher,
  search: ListingSearch,
  page: { readonly sort: ListingSort; readonly after: Position | undefined; readonly limit: number },
  clientId: bigint,
): Promise<Result<Listing[]>> {
  const searchWithin = async (tx: Db) => {
    const { corrected, asked } = await withCorrectWords(tx, search);
    return { found: corrected ? await read(tx, await find(tx, corrected, page)) : [], asked };
  };
  return db.search(searchWithin, clientId, byIndexOnly);
}

/** Counts the animals that a search finds, by value. */
export async function countListings(db: Searcher, search: ListingSearch, clientId: bigint): Promise<Result<Facets>> {
  const countWithin = async (tx: Db) => {
    const { corrected, asked } = await withCorrectWords(tx, search);
    return { counts: corrected ? await countFacets(tx, corrected) : [], asked };
  };
  const { counts, asked } = await db.search(countWithin, clientId, byIndexOnly);
  const of = (facet: FacetCount['facet']) =>
    counts
      .filter((count) => count.facet === facet)
      .map(({ value, count }) => ({ value, count: Math.min(Number(count), countedMax) }))
      .sort((a, b) => b.count - a.count);
  const isExact = !counts.some(({ facet }) => facet === 'more');
  return { found: { isExact, breeds: of('breed'), ages: of('age'), sizes: of('size'), sexes: of('sex') }, asked };
}

/** Without `corrected`, the text of the search has no words, or one that no animal has, so it finds nothing. */
async function withCorrectWords(
  tx: Db,
  search: ListingSearch,
): Promise<{ readonly corrected: ListingSearch | undefined; readonly asked: Asked }> {
  const breed = search.breed === undefined ? undefined : await selectBreed(tx, search.breed);
  if (search.q === undefined) return { corrected: search, asked: { words: undefined, breed } };
  const { corrected, words } = await correctWords(tx, search.q);
  return { corrected: corrected && { ...search, ...corrected }, asked: { words, breed } };
}

function find(tx: Db, search: ListingSearch, { sort, ...page }: { sort: ListingSort; after: Position | undefined; limit: number }) {
  if (sort === 'relevance') return findRelevant(tx, search, page);
  if (sort === 'distance' && search.near) return findNearest(tx, search, search.near, page);
  return findNewest(tx, search, page);
}

async function read(tx: Db, found: readonly Found[]): Promise<Listing[]> {
  const rows = found.length === 0 ? [] : await selectListings(tx, found);
  if (rows.length < found.length) throw new Error('an animal was found, but it or its shelter does not exist');
  return rows.map((row) => ({ ...row, profile: row.profile ?? emptyProfile }));
}
