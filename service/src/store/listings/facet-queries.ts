import { ageBands } from '../../domain/profile-values.ts';
import type { Db } from '../../platform/db/handles.ts';
import type { ListingSearch } from './listing-search.ts';
import { idMax, indexRange } from './match-queries.ts';
import { bornFor, nearness, Parameters, petConditions, profileConditions, termsOf, wordsOf } from './search-conditions.ts';

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

/** Counts the values of the animals that are found, of `countedMax` at most. If there may be others, `more` has a count. */
export async function countFacets(db: Db, search: ListingSearch): Promise<FacetCount[]> {
  const parameters = new Parameters();
  const terms = [termsOf(search, parameters), wordsOf(search, parameters)].filter((term) => term !== undefined);
  const conditions = [
    ...(terms.length > 0 ? [`document @@ (${terms.join(' && ')})`] : []),
    petConditions(search, parameters, 'listings'),
    profileConditions(search, parameters),
  ].filter((condition) => condition !== '');
  const walked = terms.length > 0 || search.near || search.id || search.status === undefined ? undefined : newestOf(search, parameters);
  const near = search.near ? `join shelters on shelters.id = listings.shelter_id and ${nearness(search.near, parameters).isNear}` : '';
  const today = parameters.add(search.today);
  const ages = ageBands.map(
    (age) =>
      `when ${bornFor(age, today)
        .map((born) => `birth_date ${born}`)
        .join(' and ')} then '${age}'`,
  );
  const { rows } = await db.query<FacetCount>({
    text: `with ${walked ? `newest as materialized (${walked}),` : ''}
      found as materialized (
        select breeds, size, sex, case ${ages.join(' ')} end as age from ${walked ? listingsOfNewest : listingsOf(search, terms.length > 0)} ${near}
          ${conditions.length > 0 ? `where ${conditions.join(' and ')}` : ''} limit ${countedMax + 1})
      select * from (select 'breed' as facet, breed as value, count(*) as count from found, unnest(breeds) breed
        group by breed order by count desc, breed limit ${breedsMax}) breeds
      union all select 'age', age, count(*) from found where age is not null group by age
      union all select 'size', size, count(*) from found where size is not null group by size
      union all select 'sex', sex, count(*) from found where sex <> 'unknown' group by sex
      union all select 'more', '', count(*) from found having count(*) > ${countedMax}
      ${walked ? `union all select 'more', '', count(*) from newest having count(*) > ${walkedMax}` : ''}`,
    values: parameters.values,
  });
  return rows;
}

/** By an index of animals: of a status that is rare, no others are read. */
function newestOf(search: ListingSearch, parameters: Parameters): string {
  const { inRange, order } = indexRange(search, ['status'], idMax, parameters);
  return `select id as pet_id from pets where removed_at is null and ${inRange} order by ${order} limit ${walkedMax + 1}`;
}

const listingsOfNewest = 'newest cross join lateral (select * from listings where listings.id = newest.pet_id offset 0) listings';

/** The newest first, unless an index finds the animals. */
const listingsOf = ({ near, id }: ListingSearch, hasTerms: boolean) =>
  hasTerms || near || id ? 'listings' : '(select * from listings order by id desc) listings';
