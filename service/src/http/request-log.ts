import type { FastifyBaseLogger, FastifyInstance } from 'fastify';
import { withoutKeys } from '../clients/api-key.ts';

interface LoggedRequest {
  readonly method: string;
  readonly url: string;
  /** Undefined: no route matched. */
  readonly route: string | undefined;
  readonly status: number;
  readonly ms: number;
  readonly caller: { readonly clientId: bigint; readonly keyId: bigint } | null;
}

/** False if the log level hides the line; then its fields need not be computed. */
export const isRequestLogged = ({ level }: FastifyBaseLogger): boolean => level === 'info' || level === 'debug' || level === 'trace';

export function logRequests(app: FastifyInstance): void {
  if (!isRequestLogged(app.log)) return;
  app.addHook('onResponse', (request, reply, done) => {
    const { method, url, routeOptions, caller } = request;
    logRequest(request.log, { method, url, route: routeOptions.url, status: reply.statusCode, ms: reply.elapsedTime, caller });
    done();
  });
}

/** Writes one line per request, when its response is sent. No headers, no body, and keys in the URL are redacted. */
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

/** Decodes percent-encoded letters and digits, so that `withoutKeys` also finds a key with %41 in place of A. */
function withPlainLetters(url: string): string {
  return url.replace(/%[3-7][0-9a-f]/gi, (escaped) => {
    const letter = decodeURIComponent(escaped);
    return /\w/.test(letter) ? letter : escaped;
  });
}
