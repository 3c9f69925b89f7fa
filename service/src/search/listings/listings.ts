import { emptyProfile } from '../../animals/profiles/profile-changes.ts';
import type { StoredProfile } from '../../domain/profile-fields.ts';
import type { Db, Searcher, SearchOwner } from '../../platform/db/handles.ts';
import { countedMax, countFacets, type FacetCount } from './facet-queries.ts';
import { byIndexOnly, findNearest, findNewest, findRelevant } from './listing-queries.ts';
import { type ListingRow, selectListings } from './listing-rows-queries.ts';
import type { Facets } from './listing-schemas.ts';
import type { AskedSearch, Found, ListingSearch, ListingSort, Position } from './listing-search.ts';
import { namedRank } from './match-queries.ts';
import { asksForWords } from './search-conditions.ts';
import { correctWords, namedAsRest, type Reading, understand, withWords } from './understanding.ts';

export interface Listing extends ListingRow {
  readonly profile: StoredProfile;
}

/** What a search has found, and how it was understood. */
interface Result<T> {
  readonly found: T;
  readonly asked: AskedSearch;
  readonly reading: Reading;
  /** The search as it is meant has found nothing. */
  readonly isFallback: boolean;
}

interface Page {
  readonly sort: ListingSort;
  readonly limit: number;
  /** Which of the readings a cursor is of, and where it is; undefined: there is no cursor, or it is of none and they are not the last ones. */
  readonly resume:
    | ((readings: readonly [Reading, ...Reading[]], isLast: boolean) => { readonly reading: Reading; readonly after: Position } | undefined)
    | undefined;
}

/** Finds a page of animals and reads all that is shown of them, in one snapshot: each is as it was found. */
export async function searchListings(
  db: Searcher,
  search: ListingSearch,
  { sort, limit, resume }: Page,
  owner: SearchOwner,
): Promise<Result<Listing[]> & { readonly after: Position | undefined }> {
  const searchWithin = async (tx: Db) => {
    const readings = await understand(tx, search, sort);
    if (resume) {
      const meant = resume(readings, false) ?? resume(await correctReadings(tx, readings, sort), true);
      if (!meant) throw new Error('a cursor is of no reading');
      const { reading, after } = meant;
      const found = await findReading(tx, reading, { sort, after, limit });
      return { ...found, reading: found.reading, after, isFallback: false };
    }
    const first = await findFirst(readings, (reading) => findReading(tx, reading, { sort, after: undefined, limit }));
    return { ...first, after: undefined };
  };
  const readWithin = async (tx: Db) => {
    const { found, ...result } = await searchWithin(tx);
    return { ...result, found: await read(tx, found) };
  };
  return db.search(readWithin, owner, byIndexOnly);
}

/** Counts the animals that a search finds, by value. */
export async function countListings(db: Searcher, search: ListingSearch, clientId: bigint): Promise<Result<Facets>> {
  const countWithin = async (tx: Db) => {
    const readings = await understand(tx, search, 'relevance');
    // Animals without a profile are found, and not counted.
    const chosen = await findFirst(readings, (reading) =>
      readings.length === 1 || reading.named.length > 0
        ? Promise.resolve({ found: reading.named, asked: { words: undefined }, reading })
        : findReading(tx, reading, { sort: 'newest', after: undefined, limit: 1 }),
    );
    const { corrected, asked, reading } = await withCorrectWords(tx, chosen.reading, 'relevance');
    const named = chosen.reading.named.map(({ id }) => id);
    return {
      ...chosen,
      asked,
      reading,
      counts: corrected || named.length > 0 ? await countFacets(tx, corrected, named, search.today) : [],
    };
  };
  const { counts, ...result } = await db.search(countWithin, clientId, byIndexOnly);
  const of = (facet: FacetCount['facet']) =>
    counts
      .filter((count) => count.facet === facet)
      .map(({ value, count }) => ({ value, count: Math.min(Number(count), countedMax) }))
      .sort((a, b) => b.count - a.count);
  const isExact = !counts.some(({ facet }) => facet === 'more');
  return { ...result, found: { isExact, breeds: of('breed'), ages: of('age'), sizes: of('size'), sexes: of('sex') } };
}

interface FoundBy {
  /** With the words that it was corrected to. */
  readonly reading: Reading;
  readonly found: readonly Found[];
  readonly asked: AskedSearch;
}

/** The search as it is meant, or if that finds nothing, the words in names alone. */
async function findFirst(
  [meant, inNames]: readonly [Reading, ...Reading[]],
  find: (reading: Reading) => Promise<FoundBy>,
): Promise<FoundBy & { readonly isFallback: boolean }> {
  const first = await find(meant);
  if (first.found.length > 0 || inNames?.search.name === undefined) return { ...first, isFallback: false };
  const second = await find(inNames);
  return { ...(second.found.length > 0 ? second : first), isFallback: true };
}

/** A cursor of a search whose words were corrected is of the words that they were corrected to. */
async function correctReadings(
  tx: Db,
  [first, ...others]: readonly [Reading, ...Reading[]],
  sort: ListingSort,
): Promise<[Reading, ...Reading[]]> {
  const correct = async (reading: Reading) => (await withCorrectWords(tx, reading, sort)).reading;
  const corrected: [Reading, ...Reading[]] = [await correct(first)];
  for (const other of others) corrected.push(await correct(other));
  return corrected;
}

interface Turn {
  readonly sort: ListingSort;
  readonly after: Position | undefined;
  readonly limit: number;
}

/** By relevance, the animals with the name that is searched for come first. */
async function findReading(tx: Db, typed: Reading, turn: Turn): Promise<FoundBy> {
  const { corrected, asked, reading } = await withCorrectWords(tx, typed, turn.sort);
  const { named } = reading;
  const { sort, after, limit } = turn;
  if (sort !== 'relevance') return { found: corrected ? await find(tx, corrected, turn) : [], asked, reading };
  const isAmongNamed = after === undefined || after.rank === namedRank;
  const first = isAmongNamed ? named.filter(({ id }) => after === undefined || id < after.id).slice(0, limit) : [];
  if (!corrected || first.length === limit) return { found: first, asked, reading };
  const ids = new Set(named.map(({ id }) => id));
  const others = await find(tx, corrected, { sort, after: isAmongNamed ? undefined : after, limit: limit + ids.size });
  return { found: [...first, ...others.filter(({ id }) => !ids.has(id))].slice(0, limit), asked, reading };
}

/** Without `corrected`, the text of the search has no words, so it finds nothing. */
async function withCorrectWords(
  tx: Db,
  reading: Reading,
  sort: ListingSort,
): Promise<{ readonly corrected: ListingSearch | undefined; readonly asked: AskedSearch; readonly reading: Reading }> {
  const { search } = reading;
  if (search.q === undefined) return { corrected: search, asked: { words: undefined }, reading };
  const { corrected, corrections, replacing, words } = await correctWords(tx, search.q, search.spelling === 'exact');
  const found = { corrected: corrected && { ...search, ...corrected }, asked: { words } };
  const said = { ...reading, corrections: [...reading.corrections, ...corrections] };
  if (replacing.length === 0) return { ...found, reading: said };
  const meant = withWords(search, replacing);
  const named = sort === 'relevance' ? await namedAsRest(tx, reading.named, meant) : reading.named;
  return { ...found, reading: { ...said, search: meant, named } };
}

async function find(tx: Db, search: ListingSearch, { sort, ...page }: Turn): Promise<Found[]> {
  if (sort === 'distance' && search.near) return findNearest(tx, search, page);
  if (sort !== 'relevance') return findNewest(tx, search, page);
  if (asksForWords(search)) return findRelevant(tx, search, page);
  // Nothing is more relevant than another, so the newest come first.
  return (await findNewest(tx, search, page)).map((found) => ({ ...found, rank: 0 }));
}

async function read(tx: Db, found: readonly Found[]): Promise<Listing[]> {
  const rows = found.length === 0 ? [] : await selectListings(tx, found);
  if (rows.length < found.length) throw new Error('an animal was found, but it or its shelter does not exist');
  return rows.map((row) => ({ ...row, profile: row.profile ?? emptyProfile }));
}
