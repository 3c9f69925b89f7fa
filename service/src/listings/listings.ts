import type { Db, Snapshotter } from '../db/handles.ts';
import type { Pet } from '../pets/pet-schemas.ts';
import { getReadyPhotos, type PhotoRow } from '../photos/photos.ts';
import type { StoredProfile } from '../profiles/profile-changes.ts';
import { getProfiles } from '../profiles/profiles.ts';
import { countedMax, countFacets, type FacetCount } from './facet-queries.ts';
import { correctWords, findByIndexOnly, findNearest, findNewest, findRelevant } from './listing-queries.ts';
import { selectListedPets, selectListedShelters } from './listing-rows-queries.ts';
import type { Facets, ListingShelter } from './listing-schemas.ts';
import type { Found, ListingSearch, ListingSort, Position } from './listing-search.ts';

export interface Listing {
  readonly found: Found;
  readonly pet: Pet;
  readonly shelter: ListingShelter;
  readonly profile: StoredProfile;
  readonly photos: readonly PhotoRow[];
}

/** Finds a page of animals and reads all that is shown of them, in one snapshot: each is as it was found. */
export async function searchListings(
  db: Snapshotter,
  search: ListingSearch,
  page: { readonly sort: ListingSort; readonly after: Position | undefined; readonly limit: number },
  clientId: bigint,
): Promise<Listing[]> {
  return db.snapshot(async (tx) => {
    await findByIndexOnly(tx);
    const corrected = await withCorrectWords(tx, search);
    return corrected ? readListings(tx, await find(tx, corrected, page)) : [];
  }, clientId);
}

/** Counts the animals that a search finds, by value. */
export async function countListings(db: Snapshotter, search: ListingSearch, clientId: bigint): Promise<Facets> {
  const counts = await db.snapshot(async (tx) => {
    await findByIndexOnly(tx);
    const corrected = await withCorrectWords(tx, search);
    return corrected ? countFacets(tx, corrected) : [];
  }, clientId);
  const of = (facet: FacetCount['facet']) =>
    counts
      .filter((count) => count.facet === facet)
      .map(({ value, count }) => ({ value, count: Math.min(Number(count), countedMax) }))
      .sort((a, b) => b.count - a.count);
  const isExact = !counts.some(({ facet, count }) => facet === 'all' && count > countedMax);
  return { isExact, breeds: of('breed'), ages: of('age'), sizes: of('size'), sexes: of('sex') };
}

/** Undefined: the text of the search has no words, so it finds nothing. */
async function withCorrectWords(tx: Db, search: ListingSearch): Promise<ListingSearch | undefined> {
  if (search.words === undefined) return search;
  const words = await correctWords(tx, search.words);
  return words === '' ? undefined : { ...search, words };
}

function find(tx: Db, search: ListingSearch, { sort, ...page }: { sort: ListingSort; after: Position | undefined; limit: number }) {
  if (sort === 'relevance') return findRelevant(tx, search, page);
  if (sort === 'distance' && search.near) return findNearest(tx, search, search.near, page);
  return findNewest(tx, search, page);
}

async function readListings(tx: Db, found: readonly Found[]): Promise<Listing[]> {
  if (found.length === 0) return [];
  const ids = found.map(({ id }) => id);
  const pets = await selectListedPets(tx, ids);
  const shelters = await selectListedShelters(tx, [...new Set(found.map(({ shelterId }) => shelterId))]);
  const profiles = await getProfiles(tx, ids);
  const photos = await getReadyPhotos(tx, ids);
  const petsById = new Map(pets.map((pet) => [pet.id, pet]));
  const sheltersById = new Map(shelters.map((shelter) => [shelter.id, shelter]));
  return found.map((one) => {
    const [pet, shelter, profile] = [petsById.get(one.id), sheltersById.get(one.shelterId), profiles.get(one.id)];
    if (!pet || !shelter || !profile) throw new Error(`animal ${one.id} was found, but it or its shelter does not exist`);
    return { found: one, pet, shelter, profile, photos: photos.get(one.id) ?? [] };
  });
}
