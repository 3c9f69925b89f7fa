import { type Static, Type } from 'typebox';
import { eventTypes } from '../domain/event-types.ts';
import { pageQuery } from '../http/paging.ts';
import { Int64, PathIds, PlainText, Ref, StringEnum } from '../http/schemas.ts';

export const webhookStatuses = ['enabled', 'disabled'] as const;
export const deliveryStatuses = ['pending', 'delivered', 'failed'] as const;
export type DeliveryStatus = (typeof deliveryStatuses)[number];

/** The type of a delivery that was asked for to try an endpoint. */
export const testType = 'webhook.test';

const Time = (description: string) => Type.Unsafe<Date>({ type: 'string', format: 'date-time', description });
const TimeOrNull = (description: string) => Type.Union([Time(description), Type.Null()]);

const fields = {
  url: Type.String({
    description:
      'Where events are sent: https, and a public address. It is stored as URL writes it: the host in ASCII, other characters encoded.',
    minLength: 1,
    maxLength: 2_000,
    examples: ['https://example.org/hooks'],
  }),
  types: Type.Array(StringEnum(eventTypes), {
    description: 'Only events of these types; every type where it is empty or omitted.',
    maxItems: eventTypes.length,
    examples: [['pet.created', 'pet.status_changed']],
  }),
  description: PlainText('For people.', ['The site']),
};

export const NewWebhookSchema = Type.Object(
  { url: fields.url, types: Type.Optional(fields.types), description: Type.Optional(fields.description) },
  { $id: 'NewWebhook', examples: [{ url: 'https://example.org/hooks', types: ['pet.created', 'pet.status_changed'] }] },
);
export type NewWebhook = Static<typeof NewWebhookSchema>;

export const WebhookChangesSchema = Type.Object(
  {
    url: Type.Optional(fields.url),
    types: Type.Optional(fields.types),
    description: Type.Optional(fields.description),
    status: Type.Optional(
      StringEnum(webhookStatuses, { description: 'While it is disabled nothing is sent, and no event is kept for it.' }),
    ),
  },
  {
    $id: 'WebhookChanges',
    anyOf: [{ required: ['url'] }, { required: ['types'] }, { required: ['description'] }, { required: ['status'] }],
    'x-must-be': 'an object with url, types, description or status',
    examples: [{ status: 'disabled' }],
  },
);
export type WebhookChanges = Static<typeof WebhookChangesSchema>;

const webhook = {
  id: Int64({ description: 'Unique identifier assigned by the service.', examples: [1] }),
  url: Type.String({ description: 'Where events are sent.', examples: ['https://example.org/hooks'] }),
  types: fields.types,
  description: Type.String({ description: 'For people.', examples: ['The site'] }),
  status: StringEnum(webhookStatuses, { description: 'Whether events are sent.' }),
  disabledReason: Type.Union([Type.String({ description: 'Why the service disabled it.' }), Type.Null()]),
  failingSince: TimeOrNull('Since when no delivery has succeeded; null where the last one did. After 5 days the endpoint is disabled.'),
  createdAt: Time('When it was added.'),
  updatedAt: Time('When it was last changed.'),
};

export const WebhookSchema = Type.Object(webhook, { $id: 'Webhook', description: 'An endpoint that events are sent to.' });
export type Webhook = Static<typeof WebhookSchema>;

export const WebhookWithSecretSchema = Type.Object(
  {
    ...webhook,
    secret: Type.Optional(
      Type.String({
        description:
          'What deliveries are signed with. Shown this once: a repeat of the request by its Idempotency-Key is answered without it.',
        examples: ['whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD'],
      }),
    ),
  },
  { $id: 'WebhookWithSecret' },
);

const delivery = {
  id: Int64({ description: 'Unique identifier assigned by the service.', examples: [1] }),
  eventId: Type.String({ description: 'The id of the event, as in the header webhook-id.', examples: ['evt_1'] }),
  type: Type.String({ description: 'The type of the event.', examples: ['pet.created'] }),
  status: StringEnum(deliveryStatuses, { description: 'Whether it is still to be sent, has arrived, or was given up.' }),
  attemptCount: Int64({ description: 'Attempts so far, since it was last replayed.', examples: [1] }),
  createdAt: Time('When it was queued.'),
  nextAttemptAt: TimeOrNull('When it is sent next, where it is pending and nothing earlier of the same animal is.'),
  deliveredAt: TimeOrNull('When it arrived.'),
};

export const DeliverySchema = Type.Object(delivery, { $id: 'Delivery', description: 'An event on its way to an endpoint.' });
export type Delivery = Static<typeof DeliverySchema>;

export const DeliveryAttemptSchema = Type.Object(
  {
    at: Time('When it began.'),
    durationMs: Int64({ description: 'How long it took.', examples: [12] }),
    status: Type.Union([Type.Integer({ description: 'The HTTP status of the answer.', examples: [204] }), Type.Null()]),
    answer: Type.Union([Type.String({ description: 'The first kilobyte of the answer.', examples: [''] }), Type.Null()]),
    error: Type.Union([Type.String({ description: 'Why there was no answer.' }), Type.Null()]),
  },
  { $id: 'DeliveryAttempt' },
);
export type DeliveryAttempt = Static<typeof DeliveryAttemptSchema>;

export const DeliveryWithAttemptsSchema = Type.Object(
  { ...delivery, attempts: Type.Array(Ref(DeliveryAttemptSchema), { description: 'The last 100, the oldest first.' }) },
  { $id: 'DeliveryWithAttempts' },
);

export const ReplaySchema = Type.Object(
  {
    deliveryId: Type.Optional(Int64({ description: 'This delivery.', examples: [1] })),
    failed: Type.Optional(
      Type.Unsafe<true>({ type: 'boolean', const: true, 'x-must-be': 'true', description: 'Every delivery that was given up.' }),
    ),
    from: Type.Optional(
      Type.String({ description: 'Every event published from this time on, whether or not it was sent.', maxLength: 40 }),
    ),
    to: Type.Optional(Type.String({ description: 'And before this time.', maxLength: 40 })),
  },
  {
    $id: 'Replay',
    oneOf: [{ required: ['deliveryId'] }, { required: ['failed'] }, { required: ['from', 'to'] }],
    'x-must-be': 'an object with deliveryId, with failed, or with from and to',
    examples: [{ failed: true }],
  },
);
export type Replay = Static<typeof ReplaySchema>;

export const ReplayedSchema = Type.Object(
  { count: Int64({ description: 'Deliveries that are queued by this.', examples: [3] }) },
  { $id: 'Replayed' },
);

export const WebhookPath = PathIds({ webhookId: 'Identifier of the endpoint.' });
export const DeliveryPath = PathIds({ webhookId: 'Identifier of the endpoint.', deliveryId: 'Identifier of the delivery.' });

export const ListWebhooksQuery = Type.Object(pageQuery('endpoints'), { additionalProperties: false });
export const ListDeliveriesQuery = Type.Object(
  {
    ...pageQuery('deliveries'),
    status: Type.Optional(StringEnum(deliveryStatuses, { description: 'Only the deliveries in this state.' })),
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
