import { Type } from 'typebox';
import { Int64, Ref, StringEnum } from '../../platform/http/schemas.ts';
import { keysMax } from './usage.ts';

const Time = (description: string, example: string) =>
  Type.Unsafe<Date>({ type: 'string', format: 'date-time', description, examples: [example] });

const intervals = ['minute', 'hour', 'day'] as const;

const ErrorCountSchema = Type.Object(
  {
    code: Type.String({ description: 'The error code.', examples: ['rate_limit_exceeded'] }),
    count: Type.Integer({ description: 'Requests with this error.', examples: [12] }),
  },
  { $id: 'ErrorCount' },
);

const DeprecatedCountSchema = Type.Object(
  {
    operation: Type.String({ description: 'The deprecated operation.', examples: ['GET /v1/pets/{petId}'] }),
    count: Type.Integer({ description: 'Requests to it.', examples: [3] }),
  },
  { $id: 'DeprecatedCount' },
);

const counts = {
  requests: Type.Integer({ description: 'All requests with a valid key, including those with an error.', examples: [4212] }),
  errors: Type.Array(Ref(ErrorCountSchema), { description: 'By code, the most frequent first.' }),
  deprecated: Type.Array(Ref(DeprecatedCountSchema), { description: 'Requests to deprecated operations, the most frequent first.' }),
};

export const UsageSchema = Type.Object(
  {
    from: Time('The start of the first interval.', '2026-11-15T09:00:00.000Z'),
    to: Time('The end of the last interval.', '2026-11-16T09:00:00.000Z'),
    interval: StringEnum(intervals, { description: 'The length of an interval, in UTC.' }),
    limits: Type.Object(
      {
        perMinute: Type.Integer({ description: 'Requests of the client in a minute.', examples: [300] }),
        perDay: Type.Integer({ description: 'Requests of the client in a UTC day.', examples: [10_000] }),
      },
      { description: 'The limits in force now. All keys of a client share them.' },
    ),
    photoStorage: Type.Object(
      {
        usedBytes: Type.Integer({
          description: 'Bytes of all files of the photos that the client has sent. Those of removed photos count for about a day more.',
          examples: [81_400_000],
        }),
        limitBytes: Type.Integer({
          description: 'Bytes that its plan allows. Above it, photos are 409 photo_storage_limit.',
          examples: [2_000_000_000],
        }),
      },
      { description: 'What the photos of the client take now.' },
    ),
    total: Type.Object(counts, { description: 'The whole period.' }),
    keys: Type.Array(Type.Object({ keyId: Int64({ description: 'Identifier of the key.', examples: [12] }), ...counts }), {
      description: `Each key that was used in the period, the busiest first; at most ${keysMax}.`,
    }),
    intervals: Type.Array(Type.Object({ start: Time('The start of the interval.', '2026-11-16T08:00:00.000Z'), ...counts }), {
      description: 'Each interval with a request, the oldest first.',
    }),
  },
  { $id: 'Usage', description: 'How many requests a client has sent.' },
);

export const usageSchemas = [ErrorCountSchema, DeprecatedCountSchema, UsageSchema];

export const GetUsageQuery = Type.Object(
  {
    from: Type.Optional(
      Type.String({
        description:
          'Only requests from this time on, such as 2026-11-15T10:00:00Z, rounded down to a whole interval. By default 60 minutes, 24 hours or 30 days before `to`, by interval.',
        maxLength: 40,
      }),
    ),
    to: Type.Optional(
      Type.String({ description: 'Only requests before this time, rounded up to a whole interval. By default now.', maxLength: 40 }),
    ),
    interval: Type.Optional(StringEnum(intervals, { default: 'hour', description: 'The length of an interval, in UTC.' })),
    keyId: Type.Optional(Int64({ description: 'Only requests with this key of the client.' })),
  },
  { additionalProperties: false },
);
