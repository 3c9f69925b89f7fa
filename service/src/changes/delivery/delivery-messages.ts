import { testType } from '../../domain/event-types.ts';
import { type EventRow, eventId, eventJson } from '../events/events.ts';
import { isSecret, signedHeaders } from '../webhooks/target-urls.ts';
import type { Item } from './endpoint.ts';
import type { WebhookMessage } from './safe-sender.ts';
import type { DeliveryVerdict } from './sending-queries.ts';

/** Never sent: a malformed secret is a key that anyone can guess. */
const damaged = 'not sent: the secret of this endpoint is damaged; replace it by rotate-secret';

/** The signed request of a delivery. A previous secret that is malformed is left out: replacing a damaged one repairs the endpoint. */
export function messageOf(
  item: Item,
  { url, secret, previousSecret }: DeliveryVerdict,
  at: Date,
): WebhookMessage | { readonly fault: string } {
  if (url === null || secret === null || !isSecret(secret)) return { fault: damaged };
  const { id, body } = payloadOf(item);
  const secrets = previousSecret !== null && isSecret(previousSecret) ? [secret, previousSecret] : [secret];
  return { url, headers: signedHeaders(id, Math.floor(at.getTime() / 1_000), body, secrets), body };
}

/** An event has the same bytes as in the feed. A test has its own id and no position. */
function payloadOf({ deliveryId, event, row }: Item): { id: string; body: string } {
  if (event) return { id: eventId(event.position), body: bodyOf(event) };
  const id = `test_${deliveryId}`;
  return { id, body: `{"id":"${id}","type":"${testType}","createdAt":"${row?.createdAt.toISOString() ?? ''}","data":{}}` };
}

const bodies = new WeakMap<EventRow, string>();

/** Serialized once for all endpoints. */
function bodyOf(event: EventRow): string {
  const known = bodies.get(event);
  if (known !== undefined) return known;
  const body = eventJson(event);
  bodies.set(event, body);
  return body;
}
