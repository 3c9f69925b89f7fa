import { type PublicHold, petJson, shownHoldJson } from '../../animals/pets/pet-json.ts';
import type { Pet } from '../../animals/pets/pet-schemas.ts';
import type { ListingShelter } from './listing-schemas.ts';

/** The parts of a listing. `profile` and `photos` are JSON. */
export interface ListingParts {
  readonly pet: Pet;
  readonly shelter: ListingShelter;
  readonly profile: string;
  readonly photos: readonly string[];
  /** Undefined: the animal is not held. */
  readonly hold: PublicHold | undefined;
  /** In kilometres; null: the search is not near a place. */
  readonly distance: number | null;
}

/** A page of listings in JSON, with as many from the start as fit into `bytesMax`, but at least one. `count` of them are on it. */
export function listingsJson(listings: readonly ListingParts[], bytesMax: number): { readonly json: string; readonly count: number } {
  const texts: string[] = [];
  let bytes = '[]'.length;
  for (const listing of listings) {
    const text = listingJson(listing);
    bytes += Buffer.byteLength(text) + (texts.length > 0 ? ','.length : 0);
    if (bytes > bytesMax && texts.length > 0) break;
    texts.push(text);
  }
  return { json: `[${texts.join(',')}]`, count: texts.length };
}

function listingJson({ pet, shelter, profile, photos, hold, distance }: ListingParts): string {
  const near = distance === null ? '' : `,"distanceKm":${distance.toFixed(1)}`;
  const held = hold ? `,"hold":${shownHoldJson(hold)}` : '';
  return `{"pet":${petJson(pet)},"shelter":${shelterJson(shelter)},"profile":${profile},"photos":[${photos.join(',')}]${held}${near}}`;
}

const shelterJson = ({ id, ...others }: ListingShelter) => `{"id":${id},${JSON.stringify(others).slice(1)}`;
