import { type Static, Type } from 'typebox';
import { pageQuery } from '../http/paging.ts';
import { Int64, NameText, Ref, StringEnum } from '../http/schemas.ts';
import { orderStatuses } from './order-states.ts';

const Time = (description: string) => Type.Unsafe<Date>({ type: 'string', format: 'date-time', description });

export const OrderStatusSchema = StringEnum(orderStatuses, { $id: 'OrderStatus', description: 'Where the order stands.' });

export const AdopterSchema = Type.Object(
  {
    name: NameText("The adopter's name.", ['Ada Lovelace']),
    email: Type.String({
      description: "The adopter's e-mail address.",
      maxLength: 254,
      pattern: '^[^\\s@\\p{Cc}\\p{Cs}]+@[^\\s@\\p{Cc}\\p{Cs}]+$',
      'x-must-be': 'an e-mail address of at most 254 characters',
      examples: ['ada@example.org'],
    }),
  },
  {
    $id: 'Adopter',
    description: 'Seen only by the client that placed the order and by the store.',
    examples: [{ name: 'Ada Lovelace', email: 'ada@example.org' }],
  },
);
export type Adopter = Static<typeof AdopterSchema>;

export const NewOrderSchema = Type.Object(
  { petId: Int64({ description: 'The animal to be adopted.', examples: [1] }), adopter: Ref(AdopterSchema) },
  { $id: 'NewOrder', examples: [{ petId: 1, adopter: { name: 'Ada Lovelace', email: 'ada@example.org' } }] },
);
export type NewOrder = Static<typeof NewOrderSchema>;

export const OrderSchema = Type.Object(
  {
    id: Int64({ description: 'Unique identifier assigned by the service.', examples: [1] }),
    petId: Int64({ description: 'The animal that is ordered.', examples: [1] }),
    status: Ref(OrderStatusSchema),
    adopter: Type.Union([Ref(AdopterSchema), Type.Null({ description: "The adopter's data were erased." })]),
    createdAt: Time('When the order was placed.'),
    updatedAt: Time('When its status last changed.'),
    expiresAt: Time('Until when a placed order must be approved; from then on it reads as expired.'),
  },
  { $id: 'Order' },
);
export type Order = Static<typeof OrderSchema>;

export const OrderEventSchema = Type.Object(
  {
    id: OrderSchema.properties.id,
    petId: OrderSchema.properties.petId,
    status: OrderSchema.properties.status,
    createdAt: OrderSchema.properties.createdAt,
    updatedAt: OrderSchema.properties.updatedAt,
    expiresAt: OrderSchema.properties.expiresAt,
  },
  { $id: 'OrderInEvent', description: "An order without the adopter's data, which are in no event." },
);

export const ListOrdersQuery = Type.Object(
  {
    ...pageQuery('orders'),
    status: Type.Optional(StringEnum(orderStatuses, { description: 'Only the orders in this state.' })),
    petId: Type.Optional(Int64({ description: 'Only the orders of this animal.' })),
  },
  { additionalProperties: false },
);
