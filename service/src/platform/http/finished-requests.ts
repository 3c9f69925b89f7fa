import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { ErrorCode } from '../errors.ts';
import { routeOf } from './methods.ts';

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
