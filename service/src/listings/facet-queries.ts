import type { Db } from '../db/handles.ts';
import { ageBands } from '../domain/profile-values.ts';
import type { ListingSearch } from './listing-search.ts';
import { bornFor, nearness, Parameters, petConditions, profileConditions, termsOf } from './search-conditions.ts';

/** The animals that facets are counted of. */
export const countedMax = 10_000;
const breedsMax = 20;

export interface FacetCount {
  readonly facet: 'breed' | 'age' | 'size' | 'sex' | 'all';
  readonly value: string;
  readonly count: bigint;
}

/** Counts the values of the animals that are found, of one more than `countedMax` at most. Those are counted as `all`. */
export async function countFacets(db: Db, search: ListingSearch): Promise<FacetCount[]> {
  const parameters = new Parameters();
  const terms = [
    termsOf(search, parameters),
    search.words === undefined ? undefined : `plainto_tsquery('listings', ${parameters.add(search.words)})`,
  ].filter((term) => term !== undefined);
  const conditions = [
    ...(terms.length > 0 ? [`document @@ (${terms.join(' && ')})`] : []),
    petConditions(search, parameters, 'listings'),
    profileConditions(search, parameters),
  ].filter((condition) => condition !== '');
  const near = search.near ? `join shelters on shelters.id = listings.shelter_id and ${nearness(search.near, parameters).isNear}` : '';
  const today = parameters.add(search.today);
  const ages = ageBands.map(
    (age) =>
      `when ${bornFor(age, today)
        .map((born) => `birth_date ${born}`)
        .join(' and ')} then '${age}'`,
  );
  const { rows } = await db.query<FacetCount>({
    text: `with found as materialized (
        select breeds, size, sex, case ${ages.join(' ')} end as age from listings ${near}
          ${conditions.length > 0 ? `where ${conditions.join(' and ')}` : ''} ${terms.length === 0 && !search.near ? 'order by listings.id desc' : ''} limit ${countedMax + 1})
      select * from (select 'breed' as facet, breed as value, count(*) as count from found, unnest(breeds) breed
        group by breed order by count desc, breed limit ${breedsMax}) breeds
      union all select 'age', age, count(*) from found where age is not null group by age
      union all select 'size', size, count(*) from found where size is not null group by size
      union all select 'sex', sex, count(*) from found where sex <> 'unknown' group by sex
      union all select 'all', '', count(*) from found`,
    values: parameters.values,
  });
  return rows;
}
