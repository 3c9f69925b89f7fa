import { randomUUID } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { text } from 'node:stream/consumers';

const bodyBytesMax = 8_192;

/** The `attempt` of a form, which is generated with it: 36 characters. */
const attempt = /^[\w-]{36}$/;

export class BadForm extends Error {}

export class FormTooLarge extends BadForm {}

/** Prevents CSRF: a form on another site must not adopt in a visitor's name. A request that doesn't state its origin is rejected. */
export function isFromThisSite({ headers }: IncomingMessage): boolean {
  if (headers['sec-fetch-site'] !== undefined) return headers['sec-fetch-site'] === 'same-origin';
  return headers.host !== undefined && URL.parse(headers.origin ?? '')?.host === headers.host;
}

/** Browsers send a Content-Length with a form. A body that is too long, or has no length, is not read at all. */
export async function readForm(request: IncomingMessage, bytesMax = bodyBytesMax): Promise<URLSearchParams> {
  const { 'content-type': type, 'content-length': length } = request.headers;
  const bytes = Number(length ?? Number.NaN);
  if (!type?.startsWith('application/x-www-form-urlencoded') || Number.isNaN(bytes)) throw new BadForm('a form was expected');
  if (bytes > bytesMax) throw new FormTooLarge(`a form of at most ${bytesMax} bytes was expected; got ${bytes}`);
  return new URLSearchParams(await text(request));
}

/** What a visitor has typed into a field of one line. */
export const typedIn = (form: URLSearchParams, field: string): string => (form.get(field) ?? '').trim();

/** The idempotency key that was generated with the form. */
export const attemptOf = (form: URLSearchParams): string => attempt.exec(form.get('attempt') ?? '')?.[0] ?? randomUUID();
