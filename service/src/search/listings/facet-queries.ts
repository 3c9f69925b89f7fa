import { ageBands } from '../../domain/profile-fields.ts';
import type { Db } from '../../platform/db/handles.ts';
import type { ListingSearch } from './listing-search.ts';
import { heldRows, idMax, indexRange, sheltersOf } from './match-queries.ts';
import { asksForPlace, bornFor, Parameters, petConditions, profileConditions, termsOf, wordsOf } from './search-conditions.ts';

/** The animals that facets are counted of. */
export const countedMax = 10_000;
/** The newest animals of a status that are looked at: many may have no profile, and are not counted. */
const walkedMax = 2 * countedMax;
const breedsMax = 20;

export interface FacetCount {
  readonly facet: 'breed' | 'age' | 'size' | 'sex' | 'more';
  readonly value: string;
  readonly count: bigint;
}

/**
 * Counts the values of the animals that are found, of `countedMax` at most, and of those with the ids `named`. If there may be others,
 * `more` has a count. Without a search there are only those.
 */
export async function countFacets(
  db: Db,
  search: ListingSearch | undefined,
  named: readonly bigint[],
  today: string,
): Promise<FacetCount[]> {
  const parameters = new Parameters();
  const { newest, found } = search ? foundBy(search, parameters) : { newest: undefined, found: undefined };
  const of = columnsOf(parameters.add(today));
  const also = named.length > 0 ? `select ${of} from listings where id = any(${parameters.add(named)}::bigint[])` : undefined;
  const main = found && `(select ${of} ${found})`;
  const { rows } = await db.query<FacetCount>({
    text: `with ${newest ? `newest as materialized (${newest}),` : ''}
      found as materialized (${[main, also].filter(Boolean).join(' union ')})
      select * from (select 'breed' as facet, breed as value, count(*) as count from found, unnest(breeds) breed
        group by breed order by count desc, breed limit ${breedsMax}) breeds
      union all select 'age', age, count(*) from found where age is not null group by age
      union all select 'size', size, count(*) from found where size is not null group by size
      union all select 'sex', sex, count(*) from found where sex <> 'unknown' group by sex
      union all select 'more', '', count(*) from found having count(*) > ${countedMax}
      ${newest ? `union all select 'more', '', count(*) from newest having count(*) > ${walkedMax}` : ''}`,
    values: parameters.values,
  });
  return rows;
}

function columnsOf(today: string): string {
  const ages = ageBands.map(
    (age) =>
      `when ${bornFor(age, today)
        .map((born) => `birth_date ${born}`)
        .join(' and ')} then '${age}'`,
  );
  return `listings.id, breeds, size, sex, case ${ages.join(' ')} end as age`;
}

/** Of a select: where the animals are that are counted. `newest`: the table of that name. */
function foundBy(search: ListingSearch, parameters: Parameters): { newest: string | undefined; found: string } {
  const terms = [termsOf(search, parameters), wordsOf(search, parameters)].filter((term) => term !== undefined);
  const conditions = [
    ...(terms.length > 0 ? [`document @@ (${terms.join(' && ')})`] : []),
    petConditions(search, parameters, 'listings'),
    profileConditions(search, parameters),
  ].filter((condition) => condition !== '');
  const isFoundByIndex =
    asksForPlace(search) || search.id || (search.hold === undefined && (terms.length > 0 || search.status === undefined));
  const isWalked = !isFoundByIndex;
  const near = asksForPlace(search) ? `join (${sheltersOf(search, parameters)}) near on near.id = listings.shelter_id` : '';
  const where = conditions.length > 0 ? `where ${conditions.join(' and ')}` : '';
  return {
    newest: isWalked ? newestOf(search, parameters) : undefined,
    found: `from ${isWalked ? listingsOfNewest : listingsOf(search, terms.length > 0)} ${near} ${where} limit ${countedMax + 1}`,
  };
}

/** By an index of animals: of a status or a hold that is rare, no others are read. */
function newestOf(search: ListingSearch, parameters: Parameters): string {
  if (search.hold !== undefined) return `select id as pet_id from (${heldRows(search.hold, parameters)}) held limit ${walkedMax + 1}`;
  const { inRange, order } = indexRange(search, ['status'], idMax, parameters);
  return `select id as pet_id from pets where removed_at is null and ${inRange} order by ${order} limit ${walkedMax + 1}`;
}

const listingsOfNewest = 'newest cross join lateral (select * from listings where listings.id = newest.pet_id offset 0) listings';

/** The newest first, unless an index finds the animals. */
const listingsOf = (search: ListingSearch, hasTerms: boolean) =>
  hasTerms || asksForPlace(search) || search.id ? 'listings' : '(select * from listings order by id desc) listings';
