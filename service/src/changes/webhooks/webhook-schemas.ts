import fastJsonStringify from 'fast-json-stringify';
import { type Static, Type } from 'typebox';
import { eventTypes } from '../../domain/event-types.ts';
import { pageQuery } from '../../platform/http/paging.ts';
import { closedBody, Int64, jsonSchema, PathIds, PlainText, Ref, StringEnum } from '../../platform/http/schemas.ts';
import { InterestIds } from '../events/event-schemas.ts';

const webhookStatuses = ['unverified', 'enabled', 'disabled'] as const;
const deliveryStatuses = ['pending', 'delivered', 'failed'] as const;
export type DeliveryStatus = (typeof deliveryStatuses)[number];

const Time = (description: string) => Type.Unsafe<Date>({ type: 'string', format: 'date-time', description });
const TimeOrNull = (description: string) => Type.Union([Time(description), Type.Null()]);

const fields = {
  url: Type.String({
    description:
      'The URL that events are sent to: https, with a public address. It is stored in normalized form: the host in ASCII, other characters percent-encoded.',
    minLength: 1,
    maxLength: 2_000,
    examples: ['https://example.org/hooks'],
  }),
  types: Type.Array(StringEnum(eventTypes), {
    description: 'Only events of these types are sent. If empty or omitted, events of every type are sent.',
    maxItems: eventTypes.length,
    examples: [['pet.created', 'pet.status_changed']],
  }),
  shelterIds: InterestIds(
    'Only events of animals of these shelters are sent, and of the orders for them. If empty or omitted, of every shelter.',
  ),
  categoryIds: InterestIds(
    'Only events of animals of these categories are sent, and of the orders for them. If empty or omitted, of every category.',
  ),
  description: PlainText('A note for people.', ['The site']),
};

const webhook = {
  id: Int64({ description: 'Unique identifier assigned by the service.', examples: [1] }),
  url: Type.String({ description: 'The URL that events are sent to.', examples: ['https://example.org/hooks'] }),
  types: fields.types,
  shelterIds: fields.shelterIds,
  categoryIds: fields.categoryIds,
  description: Type.String({ description: 'A note for people.', examples: ['The site'] }),
  status: StringEnum(webhookStatuses, {
    description:
      'unverified: only tests are sent until the endpoint accepts one; events wait. enabled: events are sent. disabled: nothing is sent.',
  }),
  disabledReason: Type.Union([Type.String({ description: 'Why the service disabled the endpoint.' }), Type.Null()]),
  failingSince: TimeOrNull(
    'The time since which every delivery has failed; null if the last one succeeded. After 5 days the endpoint is disabled.',
  ),
  createdAt: Time('When the endpoint was added.'),
  updatedAt: Time('When the endpoint was last changed.'),
};

export const WebhookSchema = Type.Object(webhook, { $id: 'Webhook', description: 'An endpoint that events are sent to.' });
export type Webhook = Static<typeof WebhookSchema>;

export const WebhookWithSecretSchema = Type.Object(
  {
    ...webhook,
    secret: Type.Optional(
      Type.String({
        description:
          'The secret that signs deliveries. Shown only once: a retry with the same Idempotency-Key returns the endpoint without it.',
        examples: ['whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD'],
      }),
    ),
  },
  { $id: 'WebhookWithSecret' },
);

export const NewWebhookSchema = closedBody(
  Type.Object(
    {
      url: fields.url,
      types: Type.Optional(fields.types),
      shelterIds: Type.Optional(fields.shelterIds),
      categoryIds: Type.Optional(fields.categoryIds),
      description: Type.Optional(fields.description),
    },
    { $id: 'NewWebhook', examples: [{ url: 'https://example.org/hooks', types: ['pet.created', 'pet.status_changed'] }] },
  ),
  WebhookWithSecretSchema,
);
export type NewWebhook = Static<typeof NewWebhookSchema>;

export const WebhookChangesSchema = closedBody(
  Type.Object(
    {
      url: Type.Optional(fields.url),
      types: Type.Optional(fields.types),
      shelterIds: Type.Optional(fields.shelterIds),
      categoryIds: Type.Optional(fields.categoryIds),
      description: Type.Optional(fields.description),
      status: Type.Optional(
        StringEnum(webhookStatuses, {
          description:
            'While the endpoint is disabled, nothing is sent to it and no event is queued for it. `unverified` changes nothing, so that what GET has returned can be sent back.',
        }),
      ),
    },
    {
      $id: 'WebhookChanges',
      anyOf: ['url', 'types', 'shelterIds', 'categoryIds', 'description', 'status'].map((name) => ({ required: [name] })),
      'x-must-be': 'an object with url, types, shelterIds, categoryIds, description or status',
      examples: [{ status: 'disabled' }],
    },
  ),
  WebhookWithSecretSchema,
);
export type WebhookChanges = Static<typeof WebhookChangesSchema>;

const delivery = {
  id: Int64({ description: 'Identifier of the delivery, unique for the endpoint: the number in eventId.', examples: [1] }),
  eventId: Type.String({ description: 'The id of the event, as in the header webhook-id.', examples: ['evt_1'] }),
  type: Type.String({ description: 'The type of the event.', examples: ['pet.created'] }),
  status: StringEnum(deliveryStatuses, {
    description: 'pending: still to be sent. delivered: received by the endpoint. failed: given up after the last attempt.',
  }),
  attemptCount: Int64({ description: 'Number of attempts so far, or since the last replay.', examples: [1] }),
  createdAt: Time('When the delivery was queued.'),
  nextAttemptAt: TimeOrNull(
    'When the next attempt is due, if the delivery is pending. Null if an earlier delivery for the same animal must be sent first.',
  ),
  deliveredAt: TimeOrNull('When the endpoint received it.'),
};

export const DeliverySchema = Type.Object(delivery, { $id: 'Delivery', description: 'An event that is sent to an endpoint.' });
export type Delivery = Static<typeof DeliverySchema>;

const DeliveryAttemptSchema = Type.Object(
  {
    at: Time('When the attempt started.'),
    durationMs: Int64({ description: 'Duration of the attempt in milliseconds.', examples: [12] }),
    status: Type.Union([Type.Integer({ description: 'The HTTP status of the response.', examples: [204] }), Type.Null()]),
    answer: Type.Union([
      Type.String({ description: 'The first kilobyte of the response body. Null if the status is 2xx.', examples: [''] }),
      Type.Null(),
    ]),
    error: Type.Union([Type.String({ description: 'Why there was no response.' }), Type.Null()]),
  },
  { $id: 'DeliveryAttempt' },
);
export type DeliveryAttempt = Static<typeof DeliveryAttemptSchema>;

export const DeliveryWithAttemptsSchema = Type.Object(
  { ...delivery, attempts: Type.Array(Ref(DeliveryAttemptSchema), { description: 'The last 100 attempts, oldest first.' }) },
  { $id: 'DeliveryWithAttempts' },
);

export const ReplaySchema = closedBody(
  Type.Object(
    {
      deliveryId: Type.Optional(Int64({ description: 'Replay this delivery.', examples: [1] })),
      failed: Type.Optional(
        Type.Unsafe<true>({ type: 'boolean', const: true, 'x-must-be': 'true', description: 'Replay every failed delivery.' }),
      ),
      from: Type.Optional(
        Type.String({ description: 'Replay every event published from this time on, whether or not it was sent before.', maxLength: 40 }),
      ),
      to: Type.Optional(Type.String({ description: 'Replay only events published before this time.', maxLength: 40 })),
    },
    {
      $id: 'Replay',
      oneOf: [{ required: ['deliveryId'] }, { required: ['failed'] }, { required: ['from', 'to'] }],
      'x-must-be': 'an object with deliveryId, with failed, or with from and to',
      examples: [{ failed: true }],
    },
  ),
);
export type ReplayRequest = Static<typeof ReplaySchema>;

export const ReplayedSchema = Type.Object(
  { count: Int64({ description: 'Number of deliveries queued.', examples: [3] }) },
  { $id: 'Replayed' },
);

export const WebhookPath = PathIds({ webhookId: 'Identifier of the endpoint.' });
export const DeliveryPath = PathIds({ webhookId: 'Identifier of the endpoint.', deliveryId: 'Identifier of the delivery.' });

export const ListWebhooksQuery = Type.Object(pageQuery('endpoints'), { additionalProperties: false });
export const ListDeliveriesQuery = Type.Object(
  {
    ...pageQuery('deliveries'),
    status: Type.Optional(StringEnum(deliveryStatuses, { description: 'Only deliveries with this status.' })),
  },
  { additionalProperties: false },
);

export const webhookSchemas = [
  NewWebhookSchema,
  WebhookChangesSchema,
  WebhookSchema,
  WebhookWithSecretSchema,
  DeliverySchema,
  DeliveryAttemptSchema,
  DeliveryWithAttemptsSchema,
  ReplaySchema,
  ReplayedSchema,
];

/** Serializes an endpoint for a response, with its secret if it is given. */
export const webhookJson: (webhook: Webhook & { secret?: string }) => string = fastJsonStringify(jsonSchema(WebhookWithSecretSchema));

export const deliveryJson: (delivery: Delivery) => string = fastJsonStringify(jsonSchema(DeliverySchema));
