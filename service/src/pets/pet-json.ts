import fastJsonStringify from 'fast-json-stringify';
import { etagOf } from '../http/etags.ts';
import { jsonSchema } from '../http/schemas.ts';
import type { PetText } from './pet-queries.ts';
import { type Pet, PetSchema, PetStatusSchema, petFields } from './pet-schemas.ts';

/** One animal as the bytes that every response carries. */
export const petJson: (pet: Pet) => string = fastJsonStringify(jsonSchema(PetSchema), {
  schema: { PetStatus: jsonSchema(PetStatusSchema) },
});

/** A page of animals as PostgreSQL writes them, in the same bytes: an int64 is JSON as it stands, all else is a string. */
export const petsJson = (pets: readonly PetText[]): string => `[${pets.map(petTextJson).join(',')}]`;

const fields = petFields.map(({ name, isNumber }) => ({ name, isNumber, start: `"${name}":` }));

export function petTextJson(pet: PetText): string {
  let json = '';
  for (const { name, start, isNumber } of fields) json += `${json && ','}${start}${isNumber ? pet[name] : JSON.stringify(pet[name])}`;
  return `{${json}}`;
}

/** A hash of an animal's bytes: the same wherever the animal is read alone, so that it can be sent as If-Match. */
export const petEtag = (pet: Pet): string => etagOf(petJson(pet));
