import type { FastifyInstance } from 'fastify';
import { withoutKeys } from '../clients/api-key.ts';

/** One line for each request, when it is answered. Nothing of its headers or body, and no key that stands in its URL. */
export function logRequests(app: FastifyInstance): void {
  app.addHook('onResponse', async (request, reply) => {
    request.log.info(
      {
        method: request.method,
        url: withoutKeys(withPlainLetters(request.url)).slice(0, 500),
        route: request.routeOptions.url,
        status: reply.statusCode,
        ms: Math.round(reply.elapsedTime * 10) / 10,
        client: request.caller ? String(request.caller.clientId) : undefined,
        key: request.caller ? String(request.caller.keyId) : undefined,
      },
      'request',
    );
  });
}

/** A letter means the same written as %41 (RFC 3986), so a key must be found in either spelling. */
function withPlainLetters(url: string): string {
  return url.replace(/%[3-7][0-9a-f]/gi, (escaped) => {
    const letter = decodeURIComponent(escaped);
    return /\w/.test(letter) ? letter : escaped;
  });
}
