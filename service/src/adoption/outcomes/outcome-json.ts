import fastJsonStringify from 'fast-json-stringify';
import { jsonSchema } from '../../platform/http/schemas.ts';
import { type Outcome, OutcomeSchema, OutcomeTypeSchema } from './outcome-schemas.ts';

/** Serializes an outcome for a response. The same text is stored for retries. */
export const outcomeJson: (outcome: Outcome) => string = fastJsonStringify(jsonSchema(OutcomeSchema), {
  schema: { OutcomeType: jsonSchema(OutcomeTypeSchema) },
});
