import type { Db, Settings } from '../db/handles.ts';
import type { Found, ListingSearch, Near, Position } from './listing-search.ts';
import { asksForProfile, nearness, Parameters, petConditions, profileConditions, termsOf } from './search-conditions.ts';

/** Of more matches than this, these are ranked. */
const rankedMax = 1_000;
/** The newest animals that are looked through before an index of words and filters is used. */
const walkedMax = 2_000;
/** More matches than this are not sorted: looking through the animals in the order of the list finds a page sooner then. */
const sortedMax = 3_000;
const foundColumns = (id: string, shelterId: string) => `${id} as id, ${shelterId} as "shelterId"`;

interface Page {
  readonly after: Position | undefined;
  readonly limit: number;
}

/**
 * The settings for a search: animals are found by indexes alone, and by this process alone. The statements are planned with their
 * values, but the planner can't know how filters depend on each other, and to read all animals is never right.
 */
export const byIndexOnly: Settings = { enable_seqscan: 'off', max_parallel_workers_per_gather: 0 };

/** The words of a search, without accents. A word that no animal has is replaced by the most similar one of a name or a breed. */
export async function correctWords(db: Db, text: string): Promise<string> {
  const { rows } = await db.query<{ word: string }>({
    text: `select case
        when exists (select from listing_words known where known.word = asked.word) then asked.word
        when (select count(*) from pets where removed_at is null and to_tsvector('listings', name) @@ plainto_tsquery('listings', asked.word)) > 0
          then asked.word
        else coalesce((select similar_.word from listing_words similar_ where is_name and similar_.word % asked.word
          order by similarity(similar_.word, asked.word) desc, similar_.word limit 1), asked.word)
        end as word
      from unnest(tsvector_to_array(to_tsvector('listings', $1))) asked(word)`,
    values: [text],
  });
  return rows.map(({ word }) => word).join(' ');
}

/** The newest animals first, by id. */
export async function findNewest(db: Db, search: ListingSearch, page: Page): Promise<Found[]> {
  if (search.words !== undefined) return findNewestWithWords(db, search, search.words, page);
  if (search.near) return walkShelters(db, search, page, 'newest');
  if (search.ids || !asksForProfile(search)) return findNewestPets(db, search, page);
  const walked = await walkNewest(db, search, page);
  return walked.length === page.limit ? walked : findAllSorted(db, search, page);
}

/** The nearest shelters first. Those of a shelter by id, the newest first. */
export async function findNearest(db: Db, search: ListingSearch, near: Near, page: Page): Promise<Found[]> {
  if (search.words !== undefined || search.breed !== undefined) {
    const found = await findFew(db, search, near, page);
    if (found) return found;
  }
  return walkShelters(db, { ...search, near }, page, 'distance');
}

/** The most relevant animals first, of `rankedMax` at most. */
export async function findRelevant(db: Db, search: ListingSearch, { after, limit }: Page): Promise<Found[]> {
  const parameters = new Parameters();
  const matches = matchesOf(search, parameters, { ranked: true });
  const from = after ? `where (rank, id) < (${parameters.add(after.rank)}::real, ${parameters.add(after.id)}::bigint)` : '';
  const text = `with found as materialized (select * from (${matches}) matches limit ${rankedMax})
    select * from found ${from} order by rank desc, id desc limit ${parameters.add(limit)}`;
  return select(db, text, parameters);
}

/** By the primary key, or by the index that begins with the filters; a row comparison, for the reasons that pet-queries.ts gives. */
async function findNewestPets(db: Db, search: ListingSearch, { after, limit }: Page): Promise<Found[]> {
  const { categoryId, status, shelterId, ids } = search;
  const filters = { category_id: categoryId, status };
  const ofShelter = { shelter_id: shelterId };
  if (ids) {
    const parameters = new Parameters();
    const before = after ? `and pets.id < ${parameters.add(after.id)}` : '';
    const conditions = [petConditions(search, parameters), asksForProfile(search) ? profileConditions(search, parameters) : '']
      .filter((condition) => condition !== '')
      .join(' and ');
    const text = `select ${foundColumns('pets.id', 'pets.shelter_id')}, null as distance, null as rank
      from pets left join listings on listings.id = pets.id where ${conditions} ${before} order by pets.id desc limit ${parameters.add(limit)}`;
    return select(db, text, parameters);
  }
  if (shelterId === undefined) return walkPets(db, filters, {}, { after, limit });
  const isFiltered = categoryId !== undefined || status !== undefined;
  // If the store has one large shelter, most of what the filters find is there.
  const walked = isFiltered ? await walkPets(db, filters, ofShelter, { after, limit }, walkedMax) : [];
  return walked.length === limit ? walked : walkPets(db, ofShelter, filters, { after, limit });
}

/** By an index that begins with the columns `by`. Skips animals that are not `also`, or looks through `lookedThroughMax` and no more. */
async function walkPets(
  db: Db,
  by: Readonly<Record<string, unknown>>,
  also: Readonly<Record<string, unknown>>,
  { after, limit }: Page,
  lookedThroughMax?: number,
): Promise<Found[]> {
  const parameters = new Parameters();
  const given = (columns: Readonly<Record<string, unknown>>) =>
    Object.entries(columns).flatMap(([column, value]) => (value === undefined ? [] : { column, parameter: parameters.add(value) }));
  const keys = given(by);
  const columns = keys.map(({ column }) => column).join(', ');
  const values = keys.map(({ parameter }) => parameter).join(', ');
  const before = parameters.add(after?.id ?? idMax);
  const inRange = columns === '' ? `id < ${before}` : `(${columns}, id) < (${values}, ${before}) and (${columns}) >= (${values})`;
  const order = [...keys.map(({ column }) => column), 'id'].map((column) => `${column} desc`).join(', ');
  const others = given(also).map(({ column, parameter }) => `${column} = ${parameter}`);
  const walked = `pets where removed_at is null and ${inRange}`;
  const from = lookedThroughMax
    ? `(select * from ${walked} order by ${order} limit ${lookedThroughMax}) walked where ${others.join(' and ')}`
    : [walked, ...others].join(' and ');
  const text = `select ${foundColumns('id', 'shelter_id')}, null as distance, null as rank from ${from} order by ${order} limit ${parameters.add(limit)}`;
  return select(db, text, parameters);
}

const idMax = 9_223_372_036_854_775_807n;

async function walkNewest(db: Db, search: ListingSearch, { after, limit }: Page): Promise<Found[]> {
  const parameters = new Parameters();
  const text = `select ${foundColumns('id', 'shelter_id')}, null as distance, null as rank
    from (select * from listings where id < ${parameters.add(after?.id ?? idMax)} order by id desc limit ${walkedMax}) listings
    where ${[petConditions(search, parameters, 'listings'), profileConditions(search, parameters)].filter(Boolean).join(' and ')}
    order by id desc limit ${parameters.add(limit)}`;
  return select(db, text, parameters);
}

async function findNewestWithWords(db: Db, search: ListingSearch, words: string, page: Page): Promise<Found[]> {
  // The place leaves few of them.
  if (search.near) return findAllSorted(db, search, page);
  return (await findFewSorted(db, search, page)) ?? walkNewestWithWords(db, search, words, page);
}

/** The matches by id; undefined if there are too many. */
async function findFewSorted(db: Db, search: ListingSearch, { after, limit }: Page): Promise<Found[] | undefined> {
  const parameters = new Parameters();
  const matches = matchesOf(search, parameters, { beforeId: after?.id });
  const text = `with found as materialized (select * from (${matches}) matches limit ${sortedMax + 1})
    select found.*, matches from (select count(*) as matches from found) counted left join found on matches <= ${sortedMax}
      order by id desc limit ${parameters.add(limit)}`;
  return allUnlessTooMany(await select<Counted>(db, text, parameters));
}

/** Looks through the animals, the newest first: there are so many matches that it finds a page soon. */
async function walkNewestWithWords(db: Db, search: ListingSearch, words: string, { after, limit }: Page): Promise<Found[]> {
  const parameters = new Parameters();
  const conditions = [
    petConditions(search, parameters, 'animal', 'pets'),
    profileConditions(search, parameters),
    hasWords(parameters.add(words)),
    `animal.id < ${parameters.add(after?.id ?? idMax)}`,
  ].filter((condition) => condition !== '');
  const text = `select ${foundColumns('animal.id', 'animal.shelter_id')}, null as distance, null as rank
    from pets animal left join listings on listings.id = animal.id where ${conditions.join(' and ')}
    order by animal.id desc limit ${parameters.add(limit)}`;
  return select(db, text, parameters);
}

/** Finds all matches by the index of words and filters, and sorts them by id. */
async function findAllSorted(db: Db, search: ListingSearch, { after, limit }: Page): Promise<Found[]> {
  const parameters = new Parameters();
  const matches = matchesOf(search, parameters, { beforeId: after?.id });
  const text = `with found as materialized (${matches}) select * from found order by id desc limit ${parameters.add(limit)}`;
  return select(db, text, parameters);
}

/** The matches by distance; undefined if there are too many, near or not. */
async function findFew(db: Db, search: ListingSearch, near: Near, { after, limit }: Page): Promise<Found[] | undefined> {
  const parameters = new Parameters();
  const matches = matchesOf({ ...search, near: undefined }, parameters, {});
  const behind = after ? isBehind(after, parameters, 'near.distance', 'near.id', 'found.id') : 'true';
  const text = `with found as materialized (select id, "shelterId" from (${matches}) matches limit ${sortedMax + 1})
    select found.id, near.id as "shelterId", near.distance, null as rank, matches
      from (select count(*) as matches from found) counted
      left join (found join (${sheltersNear(near, parameters)}) near on near.id = found."shelterId")
        on ${behind} and matches <= ${sortedMax}
      order by near.distance, near.id, found.id desc limit ${parameters.add(limit)}`;
  return allUnlessTooMany(await select<Counted>(db, text, parameters));
}

/** Beside each row how many matches there are. If there are too many or none, there is one row without an animal. */
type Counted = Found & { readonly matches: bigint };

function allUnlessTooMany(rows: readonly Counted[]): Found[] | undefined {
  return (rows[0]?.matches ?? 0n) > sortedMax ? undefined : rows.filter(({ id }) => id !== null);
}

/** Looks through the animals of the nearest shelters. */
async function walkShelters(
  db: Db,
  search: ListingSearch & { near?: Near | undefined },
  { after, limit }: Page,
  sort: 'newest' | 'distance',
): Promise<Found[]> {
  const parameters = new Parameters();
  const position =
    after &&
    (sort === 'newest' ? `animal.id < ${parameters.add(after.id)}` : isBehind(after, parameters, 'near.distance', 'near.id', 'animal.id'));
  const skipped =
    after && sort === 'distance'
      ? `and (distance, id) >= (${parameters.add(after.distance)}::float8, ${parameters.add(after.shelterId)}::bigint)`
      : '';
  const byListing = search.words === undefined && asksForProfile(search);
  const conditions = [
    `animal.shelter_id = near.id`,
    petConditions(search, parameters, 'animal', byListing ? 'listings' : 'pets'),
    asksForProfile(search) ? profileConditions(search, parameters, byListing ? 'animal' : 'listings') : '',
    search.words === undefined ? '' : hasWords(parameters.add(search.words)),
    position ?? '',
  ].filter((condition) => condition !== '');
  const animals = byListing
    ? 'listings animal'
    : `pets animal ${search.words !== undefined || asksForProfile(search) ? 'left join listings on listings.id = animal.id' : ''}`;
  const limited = parameters.add(limit);
  const text = `select found.id, near.id as "shelterId", near.distance, null as rank
    from (select * from (${sheltersNear(search.near as Near, parameters)}) shelter where true ${skipped} order by distance, id) near
    cross join lateral (select animal.id from ${animals} where ${conditions.join(' and ')} order by animal.id desc limit ${limited}) found
    order by ${sort === 'newest' ? 'found.id desc' : 'near.distance, near.id, found.id desc'} limit ${limited}`;
  return select(db, text, parameters);
}

const hasWords = (words: string) =>
  `(listings.document @@ plainto_tsquery('listings', ${words}) or to_tsvector('listings', animal.name) @@ plainto_tsquery('listings', ${words}))`;

const isBehind = (after: Position, parameters: Parameters, distance: string, shelterId: string, id: string) => {
  const [afterDistance, afterShelter] = [`${parameters.add(after.distance)}::float8`, `${parameters.add(after.shelterId)}::bigint`];
  return `((${distance}, ${shelterId}) > (${afterDistance}, ${afterShelter})
    or ((${distance}, ${shelterId}) = (${afterDistance}, ${afterShelter}) and ${id} < ${parameters.add(after.id)}))`;
};

/** All matches, in no order: those with a profile, and by their names those without. */
function matchesOf(search: ListingSearch, parameters: Parameters, options: { ranked?: boolean; beforeId?: bigint | undefined }): string {
  const words = search.words === undefined ? undefined : `plainto_tsquery('listings', ${parameters.add(search.words)})`;
  const near = search.near ? `join (${sheltersNear(search.near, parameters)}) near on near.id =` : undefined;
  const distance = search.near ? 'near.distance' : 'null::float8';
  const before = options.beforeId === undefined ? undefined : parameters.add(options.beforeId);
  const rankOf = (document: string) => (options.ranked ? `ts_rank(${document}, ${words})` : 'null::real');
  const described = [
    `listings.document @@ (${[termsOf(search, parameters), words].filter(Boolean).join(' && ')})`,
    ...(before ? [`listings.id < ${before}`] : []),
    petConditions(search, parameters, 'listings'),
    profileConditions(search, parameters),
  ].filter((condition) => condition !== '');
  const select = `select ${foundColumns('listings.id', 'listings.shelter_id')}, ${distance} as distance, ${rankOf('listings.document')} as rank
    from listings ${near ? `${near} listings.shelter_id` : ''} where ${described.join(' and ')}`;
  if (asksForProfile(search) || !words) return select;
  const nameDocument = `to_tsvector('listings', pets.name)`;
  const named = [
    `${nameDocument} @@ ${words}`,
    ...(before ? [`pets.id < ${before}`] : []),
    petConditions(search, parameters),
    'not exists (select from listings where listings.id = pets.id)',
  ];
  return `(${select}) union all (select ${foundColumns('pets.id', 'pets.shelter_id')}, ${distance}, ${rankOf(`setweight(${nameDocument}, 'A')`)}
    from pets ${near ? `${near} pets.shelter_id` : ''} where ${named.join(' and ')})`;
}

async function select<Row extends Found = Found>(db: Db, text: string, { values }: Parameters): Promise<Row[]> {
  const { rows } = await db.query<Row>({ text, values });
  return rows;
}

function sheltersNear(near: Near, parameters: Parameters): string {
  const { distance, isNear } = nearness(near, parameters);
  return `select id, ${distance} as distance from shelters where ${isNear}`;
}
