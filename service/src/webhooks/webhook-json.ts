import fastJsonStringify from 'fast-json-stringify';
import { eventId, eventJson } from '../events/event-json.ts';
import type { EventRow } from '../events/events.ts';
import { jsonSchema } from '../http/schemas.ts';
import type { Claimed } from './delivery-queries.ts';
import { type Delivery, DeliverySchema, type Webhook, WebhookWithSecretSchema } from './webhook-schemas.ts';

/** An endpoint as the bytes of an answer, without its secret where none is given. */
export const webhookJson: (webhook: Webhook & { secret?: string }) => string = fastJsonStringify(jsonSchema(WebhookWithSecretSchema));

export const deliveryJson: (delivery: Delivery) => string = fastJsonStringify(jsonSchema(DeliverySchema));

/** What is sent: its id, and the event byte for byte as the feed has it. */
export function payloadOf({ id, position, type, at, data }: Claimed): { id: string; body: string } {
  if (position !== null) return { id: eventId(position), body: eventJson({ position, type, at, data } as EventRow) };
  const testId = `test_${id}`;
  return { id: testId, body: `{"id":"${testId}","type":"${type}","createdAt":"${at.toISOString()}","data":${data}}` };
}
