import type { FastifyInstance } from 'fastify';

/** On every response, wherever it is written: a browser takes the declared type, and guesses no other. */
export const securityHeaders = { 'x-content-type-options': 'nosniff' };

/** For all that is routed, also outside /v1. Before every other hook: a response that a stream takes over has them by then. */
export function addSecurityHeaders(app: FastifyInstance): void {
  app.addHook('onRequest', (_, reply, done) => {
    reply.headers(securityHeaders);
    done();
  });
}
