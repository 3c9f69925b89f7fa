import type { IncomingMessage } from 'node:http';
import { text } from 'node:stream/consumers';

const bodyBytesMax = 8_192;

export class BadForm extends Error {}

/** A form on another site must not adopt in a visitor's name. Browsers say where a form comes from; what does not say it is refused. */
export function isFromThisSite({ headers }: IncomingMessage): boolean {
  if (headers['sec-fetch-site'] !== undefined) return headers['sec-fetch-site'] === 'same-origin';
  return headers.host !== undefined && URL.parse(headers.origin ?? '')?.host === headers.host;
}

/** Browsers say how long a form is before they send it. What is longer, or does not say, is not read at all. */
export async function readForm(request: IncomingMessage): Promise<URLSearchParams> {
  const { 'content-type': type, 'content-length': bytes } = request.headers;
  const isSmallForm = type?.startsWith('application/x-www-form-urlencoded') && Number(bytes ?? Number.NaN) <= bodyBytesMax;
  if (!isSmallForm) throw new BadForm(`a form of at most ${bodyBytesMax} bytes was expected`);
  return new URLSearchParams(await text(request));
}
