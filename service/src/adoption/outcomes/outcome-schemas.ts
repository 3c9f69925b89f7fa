import fastJsonStringify from 'fast-json-stringify';
import { type Static, Type } from 'typebox';
import { outcomes, outcomeTypes, outcomeUndoing } from '../../domain/outcomes.ts';
import { Int64, jsonSchema, Ref, StringEnum } from '../../platform/http/schemas.ts';

const Time = (description: string) => Type.Unsafe<Date>({ type: 'string', format: 'date-time', description });

export const OutcomeTypeSchema = StringEnum(outcomeTypes, {
  $id: 'OutcomeType',
  description: `How an animal left the store without being adopted here. ${outcomeTypes.map((type) => `${type}: ${outcomes[type].meaning}`).join(' ')}`,
});

export const NewOutcomeSchema = Type.Object(
  { type: Ref(OutcomeTypeSchema) },
  { $id: 'NewOutcome', additionalProperties: false, examples: [{ type: 'transferred' }] },
);

export const OutcomeSchema = Type.Object(
  {
    petId: Int64({ description: 'The animal.', examples: [1] }),
    type: Ref(OutcomeTypeSchema),
    recordedAt: Time('When staff recorded it, and the animal left every list.'),
    undoableUntil: Type.Optional(
      Time(
        `Until then, ${outcomeUndoing.days} days after it was recorded, the outcome can be undone. Without it, it can't be undone any more.`,
      ),
    ),
  },
  { $id: 'Outcome', description: "For the store's staff and those of the animal's shelter." },
);
export type Outcome = Static<typeof OutcomeSchema>;

export const outcomeSchemas = [OutcomeTypeSchema, NewOutcomeSchema, OutcomeSchema];

/** Serializes an outcome for a response. The same text is stored for retries. */
export const outcomeJson: (outcome: Outcome) => string = fastJsonStringify(jsonSchema(OutcomeSchema), {
  schema: { OutcomeType: jsonSchema(OutcomeTypeSchema) },
});
