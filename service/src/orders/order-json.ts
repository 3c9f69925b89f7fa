import fastJsonStringify from 'fast-json-stringify';
import { jsonSchema } from '../http/schemas.ts';
import { AdopterSchema, type Order, OrderEventSchema, OrderSchema, OrderStatusSchema } from './order-schemas.ts';

/** One order as the bytes that a response carries, and that a repeat of its request is answered with. */
export const orderJson: (order: Order) => string = fastJsonStringify(jsonSchema(OrderSchema), {
  schema: { OrderStatus: jsonSchema(OrderStatusSchema), Adopter: jsonSchema(AdopterSchema) },
});

/** An order as it is told to the world: nothing of the adopter can leave, since the shape has no place for it. */
export const orderEventJson: (order: Order) => string = fastJsonStringify(jsonSchema(OrderEventSchema), {
  schema: { OrderStatus: jsonSchema(OrderStatusSchema) },
});
