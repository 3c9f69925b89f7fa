import { etagOf } from '../../platform/http/etags.ts';
import type { PetText } from './pet-queries.ts';
import { type Pet, petFields } from './pet-schemas.ts';

const fields = petFields.map(({ name, isNumber }) => ({ name, isNumber, start: `"${name}":` }));

/**
 * One animal as the bytes that every response and event carries, from its values or from PostgreSQL's text: a number is JSON as it
 * is, everything else is a string. A field without a value is left out.
 */
export function petJson(pet: Pet | PetText): string {
  let json = '';
  for (const { name, start, isNumber } of fields) {
    const value = pet[name] ?? undefined;
    if (value !== undefined) json += `${json && ','}${start}${isNumber ? value : JSON.stringify(value)}`;
  }
  return `{${json}}`;
}

export const petsJson = (pets: readonly PetText[]): string => `[${pets.map(petJson).join(',')}]`;

/** A hash of the serialized animal. The same in every operation that returns a single animal, so that it works as If-Match. */
export const petEtag = (pet: Pet | PetText): string => etagOf(petJson(pet));
