import type { RequestListener } from 'node:http';
import type { FastifyInstance } from 'fastify';
import type { Tracing } from '../tracing/tracing.ts';
import { routeOf } from './methods.ts';

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
