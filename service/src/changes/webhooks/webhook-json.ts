import fastJsonStringify from 'fast-json-stringify';
import { jsonSchema } from '../../platform/http/schemas.ts';
import { type Delivery, DeliverySchema, type Webhook, WebhookWithSecretSchema } from './webhook-schemas.ts';

/** Serializes an endpoint for a response, with its secret if it is given. */
export const webhookJson: (webhook: Webhook & { secret?: string }) => string = fastJsonStringify(jsonSchema(WebhookWithSecretSchema));

export const deliveryJson: (delivery: Delivery) => string = fastJsonStringify(jsonSchema(DeliverySchema));
