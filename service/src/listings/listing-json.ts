import { petJson } from '../pets/pet-json.ts';
import type { Pet } from '../pets/pet-schemas.ts';
import type { ListingShelter } from './listing-schemas.ts';

/** The parts of a listing. `profile` and `photos` are JSON. */
export interface ListingParts {
  readonly pet: Pet;
  readonly shelter: ListingShelter;
  readonly profile: string;
  readonly photos: readonly string[];
  /** In kilometres; null: the search is not near a place. */
  readonly distance: number | null;
}

/** The bytes of a page of listings. */
export const listingsJson = (listings: readonly ListingParts[]): string => `[${listings.map(listingJson).join(',')}]`;

function listingJson({ pet, shelter, profile, photos, distance }: ListingParts): string {
  const near = distance === null ? '' : `,"distanceKm":${distance.toFixed(1)}`;
  return `{"pet":${petJson(pet)},"shelter":${shelterJson(shelter)},"profile":${profile},"photos":[${photos.join(',')}]${near}}`;
}

const shelterJson = ({ id, ...others }: ListingShelter) => `{"id":${id},${JSON.stringify(others).slice(1)}`;
