import fastJsonStringify from 'fast-json-stringify';
import { etagOf } from '../../platform/http/protocol/representations.ts';
import { jsonSchema } from '../../platform/http/schemas.ts';
import { type Shelter, ShelterSchema } from './shelter-schemas.ts';

/** Serializes a shelter for a response. */
export const shelterJson: (shelter: Shelter) => string = fastJsonStringify(jsonSchema(ShelterSchema));

/** The same in every operation that returns one shelter, so that it works as If-Match. */
export const shelterEtag = (shelter: Shelter): string => etagOf(shelterJson(shelter));
