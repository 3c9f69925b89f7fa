import type { FastifyBaseLogger, FastifyInstance } from 'fastify';
import { withoutKeys } from '../clients/api-key.ts';

interface LoggedRequest {
  readonly method: string;
  readonly url: string;
  /** Undefined: there is none. */
  readonly route: string | undefined;
  readonly status: number;
  readonly ms: number;
  readonly caller: { readonly clientId: bigint; readonly keyId: bigint } | null;
}

/** Whether a line would be written: where not, nothing is gathered for it. */
export const isRequestLogged = ({ level }: FastifyBaseLogger): boolean => level === 'info' || level === 'debug' || level === 'trace';

export function logRequests(app: FastifyInstance): void {
  if (!isRequestLogged(app.log)) return;
  app.addHook('onResponse', (request, reply, done) => {
    const { method, url, routeOptions, caller } = request;
    logRequest(request.log, { method, url, route: routeOptions.url, status: reply.statusCode, ms: reply.elapsedTime, caller });
    done();
  });
}

/** One line for each request, when it is answered. Nothing of its headers or body, and no key that stands in its URL. */
export function logRequest(log: FastifyBaseLogger, { method, url, route, status, ms, caller }: LoggedRequest): void {
  log.info(
    {
      method,
      url: withoutKeys(withPlainLetters(url)).slice(0, 500),
      route,
      status,
      ms: Math.round(ms * 10) / 10,
      client: caller ? String(caller.clientId) : undefined,
      key: caller ? String(caller.keyId) : undefined,
    },
    'request',
  );
}

/** A letter means the same written as %41 (RFC 3986), so a key must be found in either spelling. */
function withPlainLetters(url: string): string {
  return url.replace(/%[3-7][0-9a-f]/gi, (escaped) => {
    const letter = decodeURIComponent(escaped);
    return /\w/.test(letter) ? letter : escaped;
  });
}
