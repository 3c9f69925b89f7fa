import { type Static, Type } from 'typebox';
import { pageQuery } from '../http/paging.ts';
import { Ref, StringEnum } from '../http/schemas.ts';
import { OrderEventSchema } from '../orders/order-schemas.ts';
import { PetSchema, PetStatusSchema } from '../pets/pet-schemas.ts';
import { eventMeanings, eventTypes } from './event-types.ts';

const isOf = (what: 'pet' | 'order') => eventTypes.filter((type) => type.startsWith(`${what}.`));

const envelope = {
  id: Type.String({
    description: 'Unique. The same wherever the event is read or sent, so that a repeat can be told.',
    examples: ['evt_1'],
  }),
  createdAt: Type.Unsafe<Date>({ type: 'string', format: 'date-time', description: 'When it happened.' }),
};

export const PetEventSchema = Type.Object(
  {
    ...envelope,
    type: StringEnum(isOf('pet'), { description: 'What happened to the animal.' }),
    data: Type.Object({
      pet: Ref(PetSchema),
      previousStatus: Type.Optional(Ref(PetStatusSchema)),
    }),
  },
  {
    $id: 'PetEvent',
    description: 'The animal as it was right after the change; with pet.status_changed also its status before.',
    examples: [
      {
        id: 'evt_1',
        type: 'pet.created',
        createdAt: '2026-11-15T10:00:00.000Z',
        data: { pet: { id: 1, name: 'Biscuit', categoryId: 1, status: 'available' } },
      },
    ],
  },
);

export const OrderEventEnvelopeSchema = Type.Object(
  {
    ...envelope,
    type: StringEnum(isOf('order'), { description: 'What happened to the order.' }),
    data: Type.Object({ order: Ref(OrderEventSchema) }),
  },
  { $id: 'OrderEvent', description: 'Told to the client that placed the order, and to the store.' },
);

/** What is sent for each type of event, as OpenAPI describes it. */
export const eventWebhooks = Object.fromEntries(
  eventTypes.map((type) => {
    const name = type.startsWith('pet.') ? 'PetEvent' : 'OrderEvent';
    const schema = { allOf: [{ $ref: `#/components/schemas/${name}` }, { properties: { type: { const: type } } }] };
    return [
      type,
      {
        post: {
          tags: ['Events'],
          summary: eventMeanings[type],
          requestBody: { required: true, content: { 'application/json': { schema } } },
          responses: { '2XX': { description: 'Received.' } },
        },
      },
    ];
  }),
);

export const ListEventsQuery = Type.Object(
  {
    ...pageQuery('events'),
    cursor: Type.Optional(
      Type.String({
        description:
          'From the Link header of the page before; without one, from the oldest event kept. `latest` is the end of the feed as it is now: the page is empty, and its Link leads to what is published from now on.',
      }),
    ),
    type: Type.Optional(StringEnum(eventTypes, { description: 'Only the events of this type.' })),
  },
  { additionalProperties: false },
);
export type ListEvents = Static<typeof ListEventsQuery>;
