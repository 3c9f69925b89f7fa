import fastJsonStringify from 'fast-json-stringify';
import { jsonSchema } from '../../platform/http/schemas.ts';
import { AdopterSchema, type Order, OrderEventSchema, OrderSchema, OrderStatusSchema } from './order-schemas.ts';

/** Serializes an order for a response. The same text is stored for retries. */
export const orderJson: (order: Order) => string = fastJsonStringify(jsonSchema(OrderSchema), {
  schema: { OrderStatus: jsonSchema(OrderStatusSchema), Adopter: jsonSchema(AdopterSchema) },
});

/** Serializes an order for an event. The schema has no field for the adopter, so that no adopter's data can leak into events. */
export const orderEventJson: (order: Order) => string = fastJsonStringify(jsonSchema(OrderEventSchema), {
  schema: { OrderStatus: jsonSchema(OrderStatusSchema) },
});
