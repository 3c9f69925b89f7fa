import { etagOf } from '../../platform/http/protocol/representations.ts';
import type { PetText } from './pet-queries.ts';
import { type Pet, petFields } from './pet-schemas.ts';

/**
 * One animal as the bytes that every response and event carries: a number is JSON as it is, everything else is a string. A field without
 * a value is left out. The first field, the id, always has one.
 */
export const petJson = (pet: Pet): string => petTextJson(petFields.map(({ name }) => pet[name]?.toString() ?? null));

const starts = petFields.map(({ name }, i) => `${i === 0 ? '' : ','}"${name}":`);
const numbers = petFields.map(({ isNumber }) => isNumber);

/** The same bytes, from PostgreSQL's text. */
export function petTextJson(pet: PetText): string {
  let json = '{';
  for (let i = 0; i < pet.length; i += 1) {
    const value = pet[i];
    if (value !== null && value !== undefined) json += `${starts[i]}${numbers[i] ? value : JSON.stringify(value)}`;
  }
  return `${json}}`;
}

/** A hash of the serialized animal. The same in every operation that returns a single animal, so that it works as If-Match. */
export const petEtag = (pet: Pet): string => etagOf(petJson(pet));
