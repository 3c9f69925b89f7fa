import type { FastifyInstance } from 'fastify';

/** For every response, on every path: a browser uses the declared type and doesn't guess another. */
export const securityHeaders = { 'x-content-type-options': 'nosniff' };

/** For all routes, also outside /v1. Must be the first hook: a stream takes over the headers that are set before it. */
export function addSecurityHeaders(app: FastifyInstance): void {
  app.addHook('onRequest', (_, reply, done) => {
    reply.headers(securityHeaders);
    done();
  });
}
