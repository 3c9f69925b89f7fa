import fastJsonStringify from 'fast-json-stringify';
import { type Static, Type } from 'typebox';
import { EventSchema } from '../../changes/events/event-schemas.ts';
import {
  actionsFrom,
  type CallerAction,
  type OrderStatus,
  orderActions,
  orderStates,
  orderStatuses,
  placing,
} from '../../domain/order-states.ts';
import { explainStateConflict, type States } from '../../domain/state-conflicts.ts';
import { pageQuery } from '../../platform/http/paging.ts';
import { EmailText, Int64, Int64OrNull, jsonSchema, PlainName, Ref, StringEnum } from '../../platform/http/schemas.ts';

const Time = (description: string) => Type.Unsafe<Date>({ type: 'string', format: 'date-time', description });

export const OrderStatusSchema = StringEnum(orderStatuses, {
  $id: 'OrderStatus',
  description: `The status of the order. ${orderStatuses.map((status) => `${status}: ${orderStates[status].meaning}`).join(' ')}`,
});

const visibleTo = "Visible only to the client that placed the order, to the store, and to the animal's shelter.";
const ada = { name: 'Ada Lovelace', email: 'ada@example.org' };

export const NewAdopterSchema = Type.Object(
  {
    name: PlainName("The adopter's name.", [ada.name]),
    email: EmailText("The adopter's e-mail address.", ada.email),
  },
  { $id: 'NewAdopter', description: visibleTo, examples: [ada] },
);
export type NewAdopter = Static<typeof NewAdopterSchema>;

/** Without constraints: adopters that were stored under earlier rules are still shown. */
export const AdopterSchema = Type.Object(
  {
    name: Type.String({ description: "The adopter's name.", examples: [ada.name] }),
    email: Type.String({ description: "The adopter's e-mail address.", examples: [ada.email] }),
  },
  { $id: 'Adopter', description: visibleTo, examples: [ada] },
);

export const NewOrderSchema = Type.Object(
  { petId: Int64({ description: 'The animal to adopt.', examples: [1] }), adopter: Ref(NewAdopterSchema) },
  { $id: 'NewOrder', examples: [{ petId: 1, adopter: ada }] },
);
export type NewOrder = Static<typeof NewOrderSchema>;

export const OrderSchema = Type.Object(
  {
    id: Int64({ description: 'Unique identifier assigned by the service.', examples: [1] }),
    petId: Int64({ description: 'The animal that is ordered.', examples: [1] }),
    status: Ref(OrderStatusSchema),
    adopter: Type.Union([Ref(AdopterSchema), Type.Null({ description: "The adopter's data has been erased." })]),
    createdAt: Time('When the order was placed.'),
    updatedAt: Time('When its status last changed.'),
    expiresAt: Time('When the order expires, unless it is approved first.'),
    applicationId: Int64OrNull({ description: 'The application that it was placed for; null: it was placed without one.', examples: [1] }),
  },
  { $id: 'Order' },
);
export type Order = Static<typeof OrderSchema>;

const { adopter: _, applicationId, ...unchanged } = OrderSchema.properties;
/** Events from before release 1.2.0 don't say the application. */
const inEvents = { ...unchanged, applicationId: Type.Optional(applicationId) };

export const OrderEventSchema = Type.Object(inEvents, {
  $id: 'OrderInEvent',
  description: "An order without the adopter's data, which no event contains.",
});

const OrderEventEnvelopeSchema = EventSchema('order', {
  what: 'What happened to the order.',
  data: { order: Ref(OrderEventSchema) },
  description: "Sent to the client that placed the order, to the store, and to the animal's shelter.",
});

export const orderSchemas = [
  OrderStatusSchema,
  AdopterSchema,
  NewAdopterSchema,
  NewOrderSchema,
  OrderSchema,
  OrderEventSchema,
  OrderEventEnvelopeSchema,
];

export const ListOrdersQuery = Type.Object(
  {
    ...pageQuery('orders'),
    status: Type.Optional(StringEnum(orderStatuses, { description: 'Only orders with this status.' })),
    petId: Type.Optional(Int64({ description: 'Only orders for this animal.' })),
  },
  { additionalProperties: false },
);

/** Serializes an order for a response. The same text is stored for retries. */
export const orderJson: (order: Order) => string = fastJsonStringify(jsonSchema(OrderSchema), {
  schema: { OrderStatus: jsonSchema(OrderStatusSchema), Adopter: jsonSchema(AdopterSchema) },
});

/** Serializes an order for an event. The schema has no field for the adopter, so that no adopter's data can leak into events. */
export const orderEventJson: (order: Order) => string = fastJsonStringify(jsonSchema(OrderEventSchema), {
  schema: { OrderStatus: jsonSchema(OrderStatusSchema) },
});

const statusAfter = (action: string) => orderActions[action as CallerAction].to;
const states: States = {
  actionsFrom: (status) => actionsFrom(status as OrderStatus),
  statusAfter,
  doneWord: statusAfter,
  first: placing.to,
};

/** Says why the status of an order does not allow an action, and what can be done instead. */
export const explainOrderConflict = (id: bigint, status: OrderStatus, name: CallerAction): string =>
  explainStateConflict(`Order ${id}`, status, name, states);
