import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { requestSubject } from './addresses.ts';

export const exposedHeaders = [
  'X-RateLimit-Limit, X-RateLimit-Remaining, X-RateLimit-Reset, X-RateLimit-Strikes-Remaining, RateLimit-Policy, RateLimit',
  'Retry-After, Link, ETag, Location, Idempotent-Replayed, Deprecation, Sunset, X-Request-Id',
].join(', ');

export const corsHeaders = { 'access-control-allow-origin': '*', 'access-control-expose-headers': exposedHeaders };

const allowedHeaders = ['Authorization', 'Content-Type', 'Idempotency-Key', 'If-Match', 'If-None-Match', 'Last-Event-ID'];

interface Parts {
  /** The rate-limit headers for an address, since a preflight has no key. */
  readRateHeaders(address: string): Promise<Record<string, string>>;
  /** Further request headers that a browser may send. */
  readonly moreHeaders: readonly string[];
}

/** Lets browsers of any origin call the API. Responds to preflights, before authentication. */
export function addCors(api: FastifyInstance, parts: Parts): void {
  api.addHook('onRequest', async (request, reply) => {
    reply.headers(corsHeaders);
    reply.header('x-request-id', request.id);
    return isPreflight(request) ? respondToPreflight(request, reply, parts) : undefined;
  });
}

const isPreflight = ({ method, headers }: FastifyRequest) =>
  method === 'OPTIONS' && headers.origin !== undefined && headers['access-control-request-method'] !== undefined;

async function respondToPreflight(request: FastifyRequest, reply: FastifyReply, { readRateHeaders, moreHeaders }: Parts) {
  return reply
    .status(204)
    .headers(await readRateHeaders(requestSubject(request)))
    .headers({
      'access-control-allow-methods': 'GET, HEAD, POST, PUT, PATCH, DELETE',
      'access-control-allow-headers': [...allowedHeaders, ...moreHeaders].join(', '),
      'access-control-max-age': '86400',
    })
    .send();
}
