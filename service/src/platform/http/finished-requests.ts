import { randomBytes } from 'node:crypto';
import type { RequestListener } from 'node:http';
import type { FastifyBaseLogger, FastifyInstance, FastifyRequest } from 'fastify';
import { withoutKeys, withoutPageTokens } from '../../domain/token-formats.ts';
import type { ErrorCode } from '../errors.ts';
import type { Tracing } from '../tracing/tracing.ts';
import { routeOf } from './routing.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** The code of the error that was sent; null: none. */
    errorCode: ErrorCode | null;
    /** The response is a stream of events. */
    isStream: boolean;
  }
}

/** What is known of a request once its response is sent. The log, the metrics and the usage are made of it. */
export interface FinishedRequest {
  readonly id: string;
  readonly method: string;
  readonly url: string;
  /** Its template; undefined: no route matched. */
  readonly route: string | undefined;
  readonly status: number;
  /** Null: no error. */
  readonly code: ErrorCode | null;
  readonly ms: number;
  /** A stream of events, which lasts as long as its reader likes. */
  readonly isStream?: boolean;
  readonly isDeprecated: boolean;
  /** Null: the request had no valid key. */
  readonly caller: { readonly clientId: bigint; readonly keyId: bigint } | null;
  /** Undefined: it was not sent to the console. */
  readonly visit?: ConsoleVisit | undefined;
}

/** What is known besides of a request to the console. */
export interface ConsoleVisit {
  /** Undefined: nobody is signed in. */
  readonly personId: bigint | undefined;
  /** Of the address. */
  readonly network: string;
  /** The response shows data of an adopter. */
  readonly showsAdopter: boolean;
}

export type ObserveRequest = (finished: FinishedRequest) => void;

/** Reports each request, except those that the fast path serves: it reports them itself. */
export function observeRequests(app: FastifyInstance, observe: ObserveRequest, visitOf?: (request: FastifyRequest) => ConsoleVisit): void {
  app.decorateRequest('errorCode', null);
  app.decorateRequest('isStream', false);
  app.addHook('onResponse', (request, reply, done) => {
    const { id, method, url, errorCode, isStream, caller } = request;
    const route = routeOf(request);
    const isDeprecated = route?.config.deprecation !== undefined;
    const { statusCode: status, elapsedTime: ms } = reply;
    const visit = visitOf?.(request);
    observe({ id, method, url, route: route?.url, status, code: errorCode, ms, isStream, isDeprecated, caller: caller ?? null, visit });
    done();
  });
}

/** One function that calls all of them, or undefined if there are none. */
export function allOf(observers: ReadonlyArray<ObserveRequest | undefined>): ObserveRequest | undefined {
  const [first, ...others] = observers.filter((one) => one !== undefined);
  if (!first || others.length === 0) return first;
  return (finished) => {
    first(finished);
    for (const observe of others) observe(finished);
  };
}

const processId = randomBytes(6).toString('base64url');
let requests = 0;

/** The process's random id and a counter: a random id for each request would cost more than hashing its key. */
export const newRequestId = () => `req_${processId}${(requests++).toString(36).padStart(8, '0')}`;

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

/** A listener that begins the span of a request. */
export const traceRequests =
  (tracing: Tracing, next: RequestListener): RequestListener =>
  (request, response) =>
    tracing.handle(request, response, () => next(request, response));

/** Describes the span of each request, except those that the fast path serves: it describes them itself. */
export function describeRequests(app: FastifyInstance, tracing: Tracing): void {
  app.addHook('onResponse', (request, { statusCode: status }, done) => {
    const { raw, id, errorCode } = request;
    tracing.describe(raw, { id, route: routeOf(request)?.url, status, code: errorCode ?? null });
    done();
  });
}
