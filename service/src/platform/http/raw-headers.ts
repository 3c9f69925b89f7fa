import type { IncomingMessage } from 'node:http';
import { AppError } from '../errors.ts';

/**
 * Counts how often a header was sent. `request.headers` doesn't show it: Node drops duplicates of some headers, such as
 * Authorization. `name` must be in lower case.
 */
export function countOfHeader({ rawHeaders }: IncomingMessage, name: string): number {
  let count = 0;
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const header = rawHeaders[i] ?? '';
    if (header.length === name.length && header.toLowerCase() === name) count += 1;
  }
  return count;
}

/** HTTP/1.1 requires exactly one Host header (RFC 9112, section 3.2). Earlier versions don't. */
export function requireOneHost(request: IncomingMessage): void {
  const hosts = countOfHeader(request, 'host');
  if (hosts === 1 || (hosts === 0 && request.httpVersion !== '1.1')) return;
  throw new AppError('malformed_request', `The Host header was sent ${hosts} times; send it once.`);
}
