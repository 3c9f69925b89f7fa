import { type TObject, type TSchema, Type } from 'typebox';
import {
  type OpeningHours,
  openingExceptionsMax,
  openingFromPattern,
  openingsOfDayMax,
  openingToPattern,
  weekdays,
} from '../../domain/opening-hours.ts';
import { closedBody, Ref } from '../../platform/http/schemas.ts';

const OpeningSchema = closedBody(
  Type.Object(
    {
      from: Type.String({
        description: 'When it opens.',
        pattern: openingFromPattern,
        'x-must-be': 'a time such as 09:30',
        examples: ['10:00'],
      }),
      to: Type.String({
        description: 'When it closes, later than `from`. A day ends at 24:00: what is after midnight belongs to the next day.',
        pattern: openingToPattern,
        'x-must-be': 'a time such as 17:00, 24:00 at the latest',
        examples: ['17:00'],
      }),
    },
    { $id: 'Opening', description: "From when to when, by the shelter's clocks.", 'x-must-be': 'an object with from and to' },
  ),
);

const openings = (description: string) =>
  Type.Array(Ref(OpeningSchema), {
    description,
    maxItems: openingsOfDayMax,
    'x-must-be': `a list of at most ${openingsOfDayMax} times, each with from and to`,
  });

const capital = (text: string) => `${text.slice(0, 1).toUpperCase()}${text.slice(1)}`;

const WeeklySchema = closedBody(
  Type.Object(Object.fromEntries(weekdays.map((day) => [day, Type.Optional(openings(`On ${capital(day)}.`))])), {
    description: 'The usual week. A weekday that is not here is closed.',
    'x-must-be': 'an object with weekdays, such as monday',
  }),
) as TObject;

const OpeningExceptionSchema = closedBody(
  Type.Object({
    date: Type.String({
      description: 'The day.',
      pattern: '^[0-9]{4}-[0-9]{2}-[0-9]{2}$',
      'x-must-be': 'a day such as 2026-12-24',
      examples: ['2026-12-24'],
    }),
    hours: openings('In place of those of its weekday. An empty list: closed.'),
  }),
);

/** Every level rejects unknown fields: a misspelt weekday would be a closed one. */
export const OpeningHoursSchema = closedBody(
  Type.Object(
    {
      weekly: WeeklySchema,
      exceptions: Type.Array(OpeningExceptionSchema, {
        description: 'Days that differ from their weekday, such as holidays. Returned in the order of their dates.',
        maxItems: openingExceptionsMax,
        'x-must-be': `a list of at most ${openingExceptionsMax} days, each with date and hours`,
      }),
    },
    {
      $id: 'OpeningHours',
      description: "When visitors may come, by the clocks of the shelter's time zone.",
      'x-must-be': 'an object with weekly and exceptions',
      examples: [
        {
          weekly: {
            wednesday: [{ from: '14:00', to: '18:00' }],
            saturday: [
              { from: '10:00', to: '12:00' },
              { from: '13:00', to: '17:00' },
            ],
          },
          exceptions: [{ date: '2026-12-26', hours: [] }],
        },
      ],
    },
  ),
);

/** As operations know it. */
export const GivenOpeningHours = Type.Unsafe<OpeningHours>(Ref(OpeningHoursSchema));

export const openingHoursSchemas: ReadonlyArray<TSchema & { readonly $id?: string }> = [OpeningSchema, OpeningHoursSchema];
