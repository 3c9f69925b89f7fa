import type { OrderEvent, PetEvent } from './api-types.gen.ts';
import { parseJson } from './json.ts';

/** What `POST /webhooks/{webhookId}/test` sends. */
interface TestEvent {
  readonly id: string;
  readonly type: 'webhook.test';
  readonly createdAt: string;
  readonly data: Readonly<Record<string, unknown>>;
}

export type WebhookEvent = PetEvent | OrderEvent | TestEvent;

/** The request was not sent by the store, or not now. Answer 401, and do nothing. */
export class WebhookError extends Error {
  override readonly name = 'WebhookError';
}

type GivenHeaders = Headers | Readonly<Record<string, string | readonly string[] | undefined>>;

const toleranceSeconds = 300;

/**
 * The event in a request that a store sent to your endpoint, once its signature is found to be right (Standard Webhooks).
 * `body` is what was received, unchanged: a parsed and rewritten one has another signature. While a secret is being replaced,
 * give both.
 */
export async function verifyWebhook(
  body: string | Uint8Array,
  headers: GivenHeaders,
  secret: string | readonly string[],
): Promise<WebhookEvent> {
  const [id, timestamp, signatures] = ['webhook-id', 'webhook-timestamp', 'webhook-signature'].map((name) => headerOf(headers, name));
  if (!id || !timestamp || !signatures) {
    throw new WebhookError('The headers webhook-id, webhook-timestamp and webhook-signature are not all there.');
  }
  const ageSeconds = Date.now() / 1_000 - Number(timestamp);
  if (!(Math.abs(ageSeconds) <= toleranceSeconds)) {
    throw new WebhookError(`The request is of another time: webhook-timestamp is ${timestamp}. Is this machine's clock right?`);
  }
  const text = typeof body === 'string' ? body : new TextDecoder().decode(body);
  const signed = new TextEncoder().encode(`${id}.${timestamp}.${text}`);
  for (const one of [secret].flat()) if (await isSignedBy(one, signed, signatures)) return parseJson(text) as WebhookEvent;
  throw new WebhookError('No signature holds: the secret is of another endpoint, or the body is not what was sent.');
}

async function isSignedBy(secret: string, signed: Uint8Array<ArrayBuffer>, signatures: string): Promise<boolean> {
  const key = await crypto.subtle.importKey('raw', bytesOf(secret.replace(/^whsec_/, '')), { name: 'HMAC', hash: 'SHA-256' }, false, [
    'verify',
  ]);
  for (const signature of signatures.split(' ')) {
    const [version, value = ''] = signature.split(',');
    // Takes the same time whichever byte differs.
    if (version === 'v1' && (await crypto.subtle.verify('HMAC', key, bytesOf(value), signed))) return true;
  }
  return false;
}

/** Of base64; what is none has no bytes, and so signs nothing. */
function bytesOf(base64: string): Uint8Array<ArrayBuffer> {
  try {
    return Uint8Array.from(atob(base64), (char) => char.charCodeAt(0));
  } catch {
    return new Uint8Array(1);
  }
}

function headerOf(headers: GivenHeaders, name: string): string | undefined {
  if (headers instanceof Headers) return headers.get(name) ?? undefined;
  const value = headers[name];
  return typeof value === 'string' ? value : value?.[0];
}
