import type { ShownHold } from '../../domain/holds.ts';
import type { Db, Settings } from '../../platform/db/handles.ts';
import type { Found, ListingSearch, Position } from './listing-search.ts';
import {
  documentOf,
  foundColumns,
  heldRows,
  type IndexedFilter,
  idMax,
  indexRange,
  isBehind,
  matchesOf,
  newestRows,
  sheltersOf,
  walkOf,
} from './match-queries.ts';
import {
  asksForPlace,
  asksForProfile,
  asksForWords,
  Parameters,
  petConditions,
  profileConditions,
  withoutPlace,
  wordsOf,
} from './search-conditions.ts';

/** Of more matches than this, these are ranked. */
const rankedMax = 1_000;
/** The newest animals that are looked through before an index of words and filters is used, and how many if some of them match. */
const walkedMax = 2_000;
const walkedFurtherMax = 20_000;
/** If at least one in ten of the newest animals has the words of a search, the index of words is not used: it would return too many. */
const probedMax = 200;
const frequentMin = probedMax / 10;
/** More matches than this are not sorted: looking through the animals in the order of the list finds a page sooner then. */
const sortedMax = 10_000;
/** The shelters near a place whose animals are looked through before an index of words and filters is used. */
const sheltersMax = 100;
interface Page {
  readonly after: Position | undefined;
  readonly limit: number;
}

/**
 * The settings for a search: animals are found by indexes alone, and by this process alone. The statements are planned with their
 * values, but the planner can't know how filters depend on each other, and to read all animals is never right. A short town that is misspelt
 * shares few trigrams with itself.
 */
export const byIndexOnly: Settings = { enable_seqscan: 'off', max_parallel_workers_per_gather: 0, 'pg_trgm.similarity_threshold': 0.2 };

/** The newest animals first, by id. */
export async function findNewest(db: Db, search: ListingSearch, page: Page): Promise<Found[]> {
  if (search.hold !== undefined && !asksForPlace(search) && !search.id) return walkHeld(db, search, search.hold, page);
  const isByIndex = !asksForPlace(search) && !asksForWords(search) && (search.id !== undefined || !asksForProfile(search));
  if (isByIndex) return findNewestPets(db, search, page);
  const walked = await walkNewest(db, search, page);
  if (walked) return walked;
  const ofFew = asksForPlace(search) && (await findOfFewShelters(db, search, page, 'newest'));
  if (ofFew) return ofFew;
  if (hasIndexedFilter(search)) return (await findFewSorted(db, search, page)) ?? walkAll(db, search, page);
  return (await walkShelters(db, search, page, 'newest')).found;
}

/** The nearest shelters first. Those of a shelter by id, the newest first. */
export async function findNearest(db: Db, search: ListingSearch, page: Page): Promise<Found[]> {
  const ofFew = await findOfFewShelters(db, search, page, 'distance');
  if (ofFew) return ofFew;
  const found = hasIndexedFilter(search) ? await findFew(db, search, page) : undefined;
  return found ?? (await walkShelters(db, search, page, 'distance')).found;
}

/**
 * The most relevant animals first, of `rankedMax` at most: the newest, if one in ten animals matches. Those that have the words as they
 * were asked for come before those that have the other ones.
 */
export async function findRelevant(db: Db, { otherWords, ...search }: ListingSearch, { after, limit }: Page): Promise<Found[]> {
  const parameters = new Parameters();
  // Words that are misspelt are rare, so the index of words finds them.
  const asked = otherWords === undefined ? await rankedMatchesOf(db, search, parameters) : ranked(search, parameters, true);
  const other = otherWords === undefined ? undefined : await rankedMatchesOf(db, { ...search, q: otherWords }, parameters);
  const from = after ? `where (rank, id) < (${parameters.add(after.rank)}::real, ${parameters.add(after.id)}::bigint)` : '';
  const found = other
    ? `asked as materialized (${asked}), other as materialized (${other}),
      found as (select id, "shelterId", distance, (rank + 1)::real as rank from asked
        union all select id, "shelterId", distance, rank from other where id not in (select id from asked))`
    : `found as materialized (${asked})`;
  const text = `with ${found} select * from found ${from} order by rank desc, id desc limit ${parameters.add(limit)}`;
  return select(db, text, parameters);
}

async function rankedMatchesOf(db: Db, search: ListingSearch, parameters: Parameters): Promise<string> {
  const { areWordsFrequent, areMatchesFrequent } = await probe(db, search);
  return areMatchesFrequent ? newestMatchesOf(search, parameters) : ranked(search, parameters, !areWordsFrequent);
}

const ranked = (search: ListingSearch, parameters: Parameters, isByWordsOnly: boolean): string =>
  `select * from (${matchesOf(search, parameters, { isRanked: true, isByWordsOnly })}) matches limit ${rankedMax}`;

/** Whether one in ten of the newest animals has the words, and whether it also matches the filters. */
async function probe(db: Db, search: ListingSearch): Promise<{ areWordsFrequent: boolean; areMatchesFrequent: boolean }> {
  const parameters = new Parameters();
  const newest = newestRows(search, parameters, idMax, probedMax);
  const { from, hasWords, condition } = walkOf(search, parameters, `(${newest})`);
  const { rows } = await db.query<{ withWords: bigint; matches: bigint }>({
    text: `select count(*) filter (where ${hasWords}) as "withWords", count(*) filter (where ${condition}) as matches from ${from}`,
    values: parameters.values,
  });
  const { withWords = 0n, matches = 0n } = rows[0] ?? {};
  return { areWordsFrequent: withWords >= frequentMin, areMatchesFrequent: matches >= frequentMin };
}

function newestMatchesOf(search: ListingSearch, parameters: Parameters): string {
  const { columns, words, document, from, condition } = walkOf(search, parameters);
  // Ranked after the limit, so that no other animal is.
  return `select id, "shelterId", distance, ts_rank(document, ${words}) as rank from (
    select ${columns}, ${document} as document from ${from} where ${condition} order by animal.id desc limit ${rankedMax}) newest`;
}

/** The index of words and filters can find it. */
const hasIndexedFilter = (search: ListingSearch) => asksForWords(search) || asksForProfile(search);

/** By the primary key, or by the index that begins with the filters; a row comparison, for the reasons that pet-queries.ts gives. */
async function findNewestPets(db: Db, search: ListingSearch, page: Page): Promise<Found[]> {
  if (search.id) return findByIds(db, search, page);
  if (search.shelterId === undefined) return walkPets(db, search, ['categoryId', 'status'], page);
  const isFiltered = search.categoryId !== undefined || search.status !== undefined;
  // If the store has one large shelter, most of what the filters find is there.
  const walked = isFiltered ? await walkPets(db, search, ['categoryId', 'status'], page, walkedMax) : [];
  return walked.length === page.limit ? walked : walkPets(db, search, ['shelterId'], page);
}

async function findByIds(db: Db, search: ListingSearch, { after, limit }: Page): Promise<Found[]> {
  const parameters = new Parameters();
  const before = after ? `and pets.id < ${parameters.add(after.id)}` : '';
  const conditions = [petConditions(search, parameters), asksForProfile(search) ? profileConditions(search, parameters) : '']
    .filter((condition) => condition !== '')
    .join(' and ');
  const text = `select ${foundColumns('pets.id', 'pets.shelter_id')}, null as distance, null as rank
    from pets left join listings on listings.id = pets.id where ${conditions} ${before} order by pets.id desc limit ${parameters.add(limit)}`;
  return select(db, text, parameters);
}

/** By an index that begins with the filters `by`. Skips animals that the others don't match, or looks through `lookedThroughMax` and no more. */
async function walkPets(
  db: Db,
  search: ListingSearch,
  by: readonly IndexedFilter[],
  { after, limit }: Page,
  lookedThroughMax?: number,
): Promise<Found[]> {
  const parameters = new Parameters();
  const { inRange, order } = indexRange(search, by, after?.id ?? idMax, parameters);
  const others = petConditions(without(search, by), parameters, 'walked', 'pets');
  const from = lookedThroughMax
    ? `(select * from pets where removed_at is null and ${inRange} order by ${order} limit ${lookedThroughMax}) walked where ${others}`
    : `pets walked where ${inRange} and ${others}`;
  const text = `select ${foundColumns('id', 'shelter_id')}, null as distance, null as rank from ${from} order by ${order} limit ${parameters.add(limit)}`;
  return select(db, text, parameters);
}

/** By the index of held animals: there are few, and the index of words does not have them. */
async function walkHeld(db: Db, search: ListingSearch, hold: ShownHold, { after, limit }: Page): Promise<Found[]> {
  const parameters = new Parameters();
  const held = heldRows(hold, parameters, after?.id);
  const listed = 'cross join lateral (select * from listings where listings.id = held.id offset 0) listings';
  const animals = asksForProfile(search) ? `(select listings.* from (${held}) held ${listed})` : `(${held})`;
  const { columns, from, condition } = walkOf(search, parameters, animals);
  const text = `select ${columns}, null as rank from ${from} where ${condition} order by animal.id desc limit ${parameters.add(limit)}`;
  return select(db, text, parameters);
}

/** What is left to compare. */
const without = (search: ListingSearch, by: readonly IndexedFilter[]): ListingSearch => ({
  ...search,
  ...Object.fromEntries(by.map((name) => [name, undefined])),
});

/** Looks through the newest animals, further if some of them match; undefined: that is not enough for a page. */
async function walkNewest(db: Db, search: ListingSearch, page: Page): Promise<Found[] | undefined> {
  const first = await walk(db, search, page, walkedMax);
  if (first.isComplete) return first.found;
  const areEnoughLikely = first.found.length * (walkedFurtherMax / walkedMax) >= page.limit;
  const further = areEnoughLikely ? await walk(db, search, page, walkedFurtherMax) : first;
  return further.isComplete ? further.found : undefined;
}

/**
 * `isComplete`: the page is full, or there is no other animal to look at. Ends with the animal that fills the page. Only if none does, the
 * animals are counted, by an index alone.
 */
async function walk(
  db: Db,
  search: ListingSearch,
  { after, limit }: Page,
  lookedThroughMax: number,
): Promise<{ readonly found: Found[]; readonly isComplete: boolean }> {
  const parameters = new Parameters();
  const newest = newestRows(search, parameters, after?.id, lookedThroughMax);
  const { columns, from, condition } = walkOf(search, parameters, `(${newest})`);
  const limited = parameters.add(limit);
  const text = `with found as materialized (select ${columns}, null as rank from ${from} where ${condition} order by id desc limit ${limited})
    select found.*, "areOthersLeft" from (select case when (select count(*) from found) < ${limited}
        then exists (select from (${newest}) looked offset ${lookedThroughMax - 1}) end as "areOthersLeft") counted
      left join found on true order by id desc`;
  const rows = await select<Found & { readonly areOthersLeft: boolean | null }>(db, text, parameters);
  return { found: rows.filter(({ id }) => id !== null), isComplete: !rows[0]?.areOthersLeft };
}

/** Looks through all animals, the newest first: there are so many matches that it finds a page soon. */
async function walkAll(db: Db, search: ListingSearch, { after, limit }: Page): Promise<Found[]> {
  const parameters = new Parameters();
  const { columns, from, condition } = walkOf(search, parameters);
  const before = parameters.add(after?.id ?? idMax);
  const text = `select ${columns}, null as rank from ${from} where animal.id < ${before} and ${condition} order by animal.id desc limit ${parameters.add(limit)}`;
  return select(db, text, parameters);
}

/** The matches by id, the newest first; undefined if there are too many. */
async function findFewSorted(db: Db, search: ListingSearch, { after, limit }: Page): Promise<Found[] | undefined> {
  const parameters = new Parameters();
  const matches = matchesOf(search, parameters, { beforeId: after?.id });
  const text = `with found as materialized (select * from (${matches}) matches limit ${sortedMax + 1})
    select found.*, matches from (select count(*) as matches from found) counted left join found on matches <= ${sortedMax}
      order by id desc limit ${parameters.add(limit)}`;
  return allUnlessTooMany(await select<Counted>(db, text, parameters));
}

/** The matches by distance; undefined if there are too many, near or not. */
async function findFew(db: Db, search: ListingSearch, { after, limit }: Page): Promise<Found[] | undefined> {
  const parameters = new Parameters();
  const matches = matchesOf(withoutPlace(search), parameters, {});
  const behind = after ? isBehind(after, parameters, 'near.distance', 'near.id', 'found.id') : 'true';
  const text = `with found as materialized (select id, "shelterId" from (${matches}) matches limit ${sortedMax + 1})
    select found.id, near.id as "shelterId", near.distance, null as rank, matches
      from (select count(*) as matches from found) counted
      left join (found join (${sheltersOf(search, parameters)}) near on near.id = found."shelterId")
        on ${behind} and matches <= ${sortedMax}
      order by near.distance, near.id, found.id desc limit ${parameters.add(limit)}`;
  return allUnlessTooMany(await select<Counted>(db, text, parameters));
}

/** Beside each row how many matches there are. If there are too many or none, there is one row without an animal. */
type Counted = Found & { readonly matches: bigint };

function allUnlessTooMany(rows: readonly Counted[]): Found[] | undefined {
  return (rows[0]?.matches ?? 0n) > sortedMax ? undefined : rows.filter(({ id }) => id !== null);
}

/** Looks through the animals of the nearest shelters, or of those in a place; undefined: there are others, and those have too few for a page. */
async function findOfFewShelters(db: Db, search: ListingSearch, page: Page, sort: 'newest' | 'distance'): Promise<Found[] | undefined> {
  const { found, shelters } = await walkShelters(db, search, page, sort, sheltersMax);
  return shelters < sheltersMax || (sort === 'distance' && found.length === page.limit) ? found : undefined;
}

/** Looks through the animals of the shelters near a place, the nearest first. */
async function walkShelters(
  db: Db,
  search: ListingSearch,
  { after, limit }: Page,
  sort: 'newest' | 'distance',
  lookedThroughMax?: number,
): Promise<{ readonly found: Found[]; readonly shelters: number }> {
  const parameters = new Parameters();
  const position =
    after &&
    (sort === 'newest' ? `animal.id < ${parameters.add(after.id)}` : isBehind(after, parameters, 'near.distance', 'near.id', 'animal.id'));
  const skipped =
    after && sort === 'distance'
      ? `and (distance, id) >= (${parameters.add(after.distance)}::float8, ${parameters.add(after.shelterId)}::bigint)`
      : '';
  const byListing = !asksForWords(search) && asksForProfile(search);
  const conditions = [
    `animal.shelter_id = near.id`,
    petConditions(search, parameters, 'animal', byListing ? 'listings' : 'pets'),
    asksForProfile(search) ? profileConditions(search, parameters, byListing ? 'animal' : 'listings') : '',
    asksForWords(search) ? `${documentOf} @@ ${wordsOf(search, parameters)}` : '',
    position ?? '',
  ].filter((condition) => condition !== '');
  const animals = byListing
    ? 'listings animal'
    : `pets animal ${asksForWords(search) || asksForProfile(search) ? 'left join listings on listings.id = animal.id' : ''}`;
  const limited = parameters.add(limit);
  // The shelters are sorted again, so that the planner knows their order: by distance it then ends with the shelter that fills the page.
  const order = (id: string) => (sort === 'newest' ? `${id} desc` : `distance, "shelterId", ${id} desc`);
  const text = `with near as materialized (select * from (${sheltersOf(search, parameters)}) shelter
      where true ${skipped} order by distance, id ${lookedThroughMax ? `limit ${lookedThroughMax}` : ''}),
    found as materialized (select animal.id, near.id as "shelterId", near.distance, null as rank
      from (select * from near order by distance, id) near cross join lateral
        (select animal.id from ${animals} where ${conditions.join(' and ')} order by animal.id desc limit ${limited}) animal
      order by ${order('animal.id')} limit ${limited})
    select found.*, shelters from (select count(*) as shelters from near) counted left join found on true order by ${order('found.id')}`;
  const rows = await select<Found & { readonly shelters: bigint }>(db, text, parameters);
  return { found: rows.filter(({ id }) => id !== null), shelters: Number(rows[0]?.shelters ?? 0) };
}

async function select<Row extends Found = Found>(db: Db, text: string, { values }: Parameters): Promise<Row[]> {
  const { rows } = await db.query<Row>({ text, values });
  return rows;
}
