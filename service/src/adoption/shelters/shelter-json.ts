import fastJsonStringify from 'fast-json-stringify';
import { etagOf } from '../../platform/http/protocol/representations.ts';
import { jsonSchema } from '../../platform/http/schemas.ts';
import { openingHoursSchemas } from './opening-hours-schemas.ts';
import { type Shelter, ShelterSchema } from './shelter-schemas.ts';

/** Serializes a shelter for a response. */
export const shelterJson: (shelter: Shelter) => string = fastJsonStringify(jsonSchema(ShelterSchema), {
  schema: Object.fromEntries(openingHoursSchemas.map((schema) => [schema.$id, jsonSchema(schema)])),
});

/** The same in every operation that returns one shelter, so that it works as If-Match. */
export const shelterEtag = (shelter: Shelter): string => etagOf(shelterJson(shelter));
