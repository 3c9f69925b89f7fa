import type { IncomingMessage } from 'node:http';
import { text } from 'node:stream/consumers';

const bodyBytesMax = 8_192;

export class BadForm extends Error {}

/** Prevents CSRF: a form on another site must not adopt in a visitor's name. A request that doesn't state its origin is rejected. */
export function isFromThisSite({ headers }: IncomingMessage): boolean {
  if (headers['sec-fetch-site'] !== undefined) return headers['sec-fetch-site'] === 'same-origin';
  return headers.host !== undefined && URL.parse(headers.origin ?? '')?.host === headers.host;
}

/** Browsers send a Content-Length with a form. A body that is too long, or has no length, is not read at all. */
export async function readForm(request: IncomingMessage): Promise<URLSearchParams> {
  const { 'content-type': type, 'content-length': bytes } = request.headers;
  const isSmallForm = type?.startsWith('application/x-www-form-urlencoded') && Number(bytes ?? Number.NaN) <= bodyBytesMax;
  if (!isSmallForm) throw new BadForm(`a form of at most ${bodyBytesMax} bytes was expected`);
  return new URLSearchParams(await text(request));
}
