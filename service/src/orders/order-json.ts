import fastJsonStringify from 'fast-json-stringify';
import { jsonSchema } from '../http/schemas.ts';
import { AdopterSchema, type Order, OrderSchema, OrderStatusSchema } from './order-schemas.ts';

/** One order as the bytes that a response carries, and that a repeat of its request is answered with. */
export const orderJson: (order: Order) => string = fastJsonStringify(jsonSchema(OrderSchema), {
  schema: { OrderStatus: jsonSchema(OrderStatusSchema), Adopter: jsonSchema(AdopterSchema) },
});
