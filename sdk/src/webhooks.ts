import type { ApplicationEvent, OrderEvent, PetEvent } from './api-types.gen.ts';
import { parseJson } from './json.ts';

/** What `POST /webhooks/{webhookId}/test` sends. */
interface TestEvent {
  readonly id: string;
  readonly type: 'webhook.test';
  readonly createdAt: string;
  readonly data: Readonly<Record<string, unknown>>;
}

export type WebhookEvent = PetEvent | OrderEvent | ApplicationEvent | TestEvent;

/** The request was not sent by the store, or its timestamp is too old or too new. Respond with 401, and do nothing else. */
export class WebhookError extends Error {
  override readonly name = 'WebhookError';
}

type GivenHeaders = Headers | Readonly<Record<string, string | readonly string[] | undefined>>;
type Bytes = Uint8Array<ArrayBuffer>;

const toleranceSeconds = 300;
/** As Standard Webhooks specifies. */
const [keyBytesMin, keyBytesMax] = [24, 64];

/**
 * Verifies the signature of a webhook request (Standard Webhooks) and returns the event in it. Pass the `body` exactly as received:
 * a body that was parsed and serialised again doesn't match its signature. While you rotate a secret, pass both secrets. Throws a
 * `WebhookError` for a request that can't be trusted, and a `TypeError` for a malformed secret, whatever the request.
 */
export async function verifyWebhook(
  body: string | Uint8Array | ArrayBuffer,
  headers: GivenHeaders,
  secret: string | readonly string[],
): Promise<WebhookEvent> {
  const keys = keysOf([secret].flat());
  const bytes = bytesOf(body);
  const [id, timestamp, signatures] = ['webhook-id', 'webhook-timestamp', 'webhook-signature'].map((name) => headerOf(headers, name));
  if (!id || !timestamp || !signatures) {
    throw new WebhookError('webhook-id, webhook-timestamp and webhook-signature are required, each exactly once.');
  }
  const ageSeconds = /^\d+$/.test(timestamp) ? Date.now() / 1_000 - Number(timestamp) : Number.NaN;
  if (!(Math.abs(ageSeconds) <= toleranceSeconds)) {
    throw new WebhookError('webhook-timestamp is outside the 5-minute tolerance; check your clock.');
  }
  const head = new TextEncoder().encode(`${id}.${timestamp}.`);
  const signed = joined(head, bytes);
  for (const key of keys) if (hasSignature(signatures, await sign(key, signed))) return read(signed.subarray(head.length));
  throw new WebhookError('No signature matches: wrong secret, or the body was modified.');
}

/** Decodes all secrets before any is used: the remains of a malformed secret would be a key that an attacker can guess. */
function keysOf(secrets: readonly unknown[]): Bytes[] {
  if (secrets.length === 0) throw new TypeError('No webhook secret was given. Pass at least one.');
  return secrets.map((secret, i) => {
    const key = typeof secret === 'string' && decode(secret.replace(/^whsec_/, ''));
    if (key && key.length >= keyBytesMin && key.length <= keyBytesMax) return key;
    throw new TypeError(
      `Secret ${i + 1} of ${secrets.length} is not a webhook secret: expected "whsec_" and the base64 of ${keyBytesMin} to ${keyBytesMax} bytes. Check that it is set, complete, and without quotes or spaces around it.`,
    );
  });
}

function decode(base64: string): Bytes | undefined {
  try {
    const text = atob(base64);
    // atob ignores whitespace, missing padding and surplus bits.
    return btoa(text) === base64 ? Uint8Array.from(text, (char) => char.charCodeAt(0)) : undefined;
  } catch {
    return undefined;
  }
}

function bytesOf(body: unknown): Bytes {
  if (typeof body === 'string') return new TextEncoder().encode(body);
  if (ArrayBuffer.isView(body)) return new Uint8Array(body.buffer as ArrayBuffer, body.byteOffset, body.byteLength);
  if (body instanceof ArrayBuffer) return new Uint8Array(body);
  throw new TypeError('The body must be the raw text or bytes of the request, before any parsing.');
}

/** A copy: the verified bytes are the ones that get parsed, even if the caller changes its buffer meanwhile. */
function joined(start: Bytes, end: Bytes): Bytes {
  const all = new Uint8Array(start.length + end.length);
  all.set(start);
  all.set(end, start.length);
  return all;
}

/** Runs once for each secret, however many signatures the request has. */
async function sign(key: Bytes, signed: Bytes): Promise<string> {
  const hmac = await crypto.subtle.importKey('raw', key, { name: 'HMAC', hash: 'SHA-256' }, false, ['sign']);
  return `v1,${btoa(String.fromCharCode(...new Uint8Array(await crypto.subtle.sign('HMAC', hmac, signed))))}`;
}

const hasSignature = (signatures: string, expected: string): boolean => signatures.split(' ').some((one) => isEqual(one, expected));

/** Constant-time comparison. */
function isEqual(one: string, other: string): boolean {
  if (one.length !== other.length) return false;
  let difference = 0;
  for (let i = 0; i < one.length; i += 1) difference |= one.charCodeAt(i) ^ other.charCodeAt(i);
  return difference === 0;
}

function read(bytes: Bytes): WebhookEvent {
  try {
    return parseJson(new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)) as WebhookEvent;
  } catch {
    throw new WebhookError('The signature is valid, but the body is not JSON.');
  }
}

function headerOf(headers: GivenHeaders, name: string): string | undefined {
  const value = headers instanceof Headers ? headers.get(name) : headers[name];
  const [first, ...more] = [value].flat();
  return typeof first === 'string' && more.length === 0 ? first : undefined;
}
