import type { Db } from '../../platform/db/handles.ts';
import type { Found, ListingSearch } from './listing-search.ts';
import { foundColumns } from './match-queries.ts';
import { asksForPlace, asksForProfile, Parameters, petConditions, profileConditions } from './search-conditions.ts';
import { sheltersOf } from './shelter-place-queries.ts';

/** So many animals with the name are put first. */
const namedMax = 20;
/** Animals with the words of the name that are looked through for those that have no others. */
const lookedThroughMax = 200;
/** Higher than any rank of words. */
export const namedRank = 10;

/** The animals with exactly this name that match the filters, the newest first. */
export async function findNamed(db: Db, name: string, search: ListingSearch): Promise<Found[]> {
  const parameters = new Parameters();
  const text = parameters.add(name);
  const near = asksForPlace(search) ? `join (${sheltersOf(search, parameters)}) near on near.id = animal.shelter_id` : '';
  const conditions = [
    petConditions(search, parameters, 'animal', 'pets'),
    asksForProfile(search) ? profileConditions(search, parameters) : '',
    `listing_breed(animal.name) = (select listing_breed(${text}))`,
  ].filter((condition) => condition !== '');
  const isPlain = near === '' && conditions.length === 1;
  const { rows } = await db.query<Found>({
    // Without filters the text is always the same, so it is planned once.
    ...(isPlain && { name: 'animals-named' }),
    text: `select ${foundColumns('animal.id', 'animal.shelter_id')}, ${near === '' ? 'null::float8' : 'near.distance'} as distance, ${namedRank}::real as rank
      from (select * from pets where removed_at is null and to_tsvector('listings', name) @@ plainto_tsquery('listings', ${text})
        limit ${lookedThroughMax}) animal
        ${asksForProfile(search) ? 'join listings on listings.id = animal.id' : ''} ${near}
      where ${conditions.join(' and ')} order by animal.id desc limit ${namedMax}`,
    values: parameters.values,
  });
  return rows;
}
