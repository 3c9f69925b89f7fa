import type { FastifyBaseLogger } from 'fastify';
import { withoutKeys } from '../../domain/key-format.ts';
import { withoutPageTokens } from '../../domain/page-links.ts';
import type { FinishedRequest, ObserveRequest } from './finished-requests.ts';

/** Undefined if the log level hides the lines. */
export function requestLogger(log: FastifyBaseLogger): ObserveRequest | undefined {
  const isLogged = log.level === 'info' || log.level === 'debug' || log.level === 'trace';
  return isLogged ? (finished) => !healthChecks.has(finished.route) && logRequest(log, finished) : undefined;
}

/** Load balancers ask several times a second. */
const healthChecks = new Set<string | undefined>(['/livez', '/readyz']);

/** Writes one line per request, when its response is sent. No headers, no body; keys and tokens in the URL are redacted. */
function logRequest(log: FastifyBaseLogger, { id, method, url, route, status, code, ms, caller, visit }: FinishedRequest): void {
  log.info(
    {
      reqId: id,
      method,
      url: withoutPageTokens(withoutKeys(withPlainLetters(url))).slice(0, 500),
      route,
      status,
      code: code ?? undefined,
      ms: Math.round(ms * 10) / 10,
      client: caller ? String(caller.clientId) : undefined,
      key: caller ? String(caller.keyId) : undefined,
      ...(visit && { person: visit.personId?.toString(), network: visit.network, showsAdopter: visit.showsAdopter }),
    },
    'request',
  );
}

/** Decodes percent-encoded letters and digits, so that a key or token with %41 in place of A is found too. */
function withPlainLetters(url: string): string {
  return url.replace(/%[3-7][0-9a-f]/gi, (escaped) => {
    const letter = decodeURIComponent(escaped);
    return /\w/.test(letter) ? letter : escaped;
  });
}
