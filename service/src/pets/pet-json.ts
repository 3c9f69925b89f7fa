import { createHash } from 'node:crypto';
import fastJsonStringify from 'fast-json-stringify';
import { jsonSchema } from '../http/schemas.ts';
import { type Pet, PetSchema, PetStatusSchema } from './pet-schemas.ts';

/** One animal as the bytes that every response carries. */
export const petJson: (pet: Pet) => string = fastJsonStringify(jsonSchema(PetSchema), {
  schema: { PetStatus: jsonSchema(PetStatusSchema) },
});

/** A hash of an animal's bytes: the same wherever the animal is read alone, so that it can be sent as If-Match. */
export const petEtag = (pet: Pet): string => `"${createHash('sha256').update(petJson(pet)).digest('base64url').slice(0, 22)}"`;
