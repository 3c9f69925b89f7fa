import { type Static, Type } from 'typebox';
import { type HoldReason, holdReasons, meaningOfHold, shownHolds, textOfHold } from '../../domain/holds.ts';
import { closedBody, PlainText, StringEnum } from '../../platform/http/schemas.ts';

const noteLengthMax = 1_000;
const exampleUntil = '2030-12-01T09:00:00Z';
const exampleNote = 'Stitches come out on 1 December.';

const Reason = StringEnum(holdReasons, {
  description: `Why the animal is held. ${holdReasons.map((reason) => `${reason}: ${meaningOfHold(reason)}`).join(' ')}`,
});
const until = 'When the hold ends by itself. Until then, everybody may read it.';
const noteIs = 'For staff and volunteers of the shelter, who read it in the console. Partners and adopters never do.';

export const HoldSchema = Type.Object(
  {
    reason: Reason,
    until: Type.Unsafe<Date | null>({
      type: 'string',
      format: 'date-time',
      nullable: true,
      description: `${until} null: when staff end it.`,
    }),
    note: Type.Unsafe<string | null>({ type: 'string', nullable: true, description: noteIs }),
  },
  {
    $id: 'Hold',
    description: 'Why an animal is not ready to be adopted for a while, as staff see it.',
    examples: [{ reason: 'medical', until: '2030-12-01T09:00:00.000Z', note: exampleNote }],
  },
);
export interface Hold extends Static<typeof HoldSchema> {
  readonly reason: HoldReason;
}

export const NewHoldSchema = closedBody(
  Type.Object(
    {
      reason: Reason,
      until: Type.Optional(
        Type.String({
          description: `${until} Without it, the hold lasts until staff end it.`,
          pattern: '^\\d{4}-\\d{2}-\\d{2}T\\d{2}:\\d{2}:\\d{2}(\\.\\d{1,9})?(Z|[+-]\\d{2}:\\d{2})$',
          'x-must-be': `a time such as ${exampleUntil}`,
          examples: [exampleUntil],
        }),
      ),
      note: Type.Optional(PlainText(noteIs, [exampleNote], noteLengthMax)),
    },
    { $id: 'NewHold', examples: [{ reason: 'medical', until: exampleUntil, note: exampleNote }] },
  ),
);
export type NewHold = Static<typeof NewHoldSchema>;

export const ShownHoldSchema = Type.Object(
  {
    reason: StringEnum(shownHolds),
    text: Type.String({
      description: `The reason in words, to be shown with the name of the animal: ${shownHolds.map((shown) => `"${textOfHold(shown)}"`).join(', ')}.`,
      examples: [textOfHold('medical')],
    }),
    until: Type.Optional(Type.Unsafe<Date>({ type: 'string', format: 'date-time', description: 'When the hold ends, if that is known.' })),
  },
  {
    $id: 'ShownHold',
    description: 'Why the animal is not ready to be adopted for a while. Applications for it are taken, orders are not.',
    examples: [{ reason: 'medical', text: textOfHold('medical'), until: '2030-12-01T09:00:00.000Z' }],
  },
);

export const holdSchemas = [HoldSchema, NewHoldSchema, ShownHoldSchema];
