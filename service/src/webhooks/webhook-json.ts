import fastJsonStringify from 'fast-json-stringify';
import { eventId, eventJson } from '../events/event-json.ts';
import type { EventRow } from '../events/events.ts';
import { jsonSchema } from '../http/schemas.ts';
import type { Claimed } from './delivery-queries.ts';
import { type Delivery, DeliverySchema, type Webhook, WebhookWithSecretSchema } from './webhook-schemas.ts';

/** Serializes an endpoint for a response, with its secret if it is given. */
export const webhookJson: (webhook: Webhook & { secret?: string }) => string = fastJsonStringify(jsonSchema(WebhookWithSecretSchema));

export const deliveryJson: (delivery: Delivery) => string = fastJsonStringify(jsonSchema(DeliverySchema));

/** The id and the body of a delivery. An event has the same bytes as in the feed; a test delivery has its own id and no position. */
export function payloadOf({ id, position, type, at, data }: Claimed): { id: string; body: string } {
  if (position !== null) return { id: eventId(position), body: eventJson({ position, type, at, data } as EventRow) };
  const testId = `test_${id}`;
  return { id: testId, body: `{"id":"${testId}","type":"${type}","createdAt":"${at.toISOString()}","data":${data}}` };
}
