import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { requestSubject } from '../../caller-addresses.ts';
import { routeNotFound } from '../error-handler.ts';
import { allowedMethods } from '../routing.ts';

export const exposedHeaders = [
  'X-RateLimit-Limit, X-RateLimit-Remaining, X-RateLimit-Reset, X-RateLimit-Strikes-Remaining, RateLimit-Policy, RateLimit',
  'Retry-After, Link, ETag, Location, Content-Location, Search-Notes, Idempotent-Replayed, Deprecation, Sunset, X-Request-Id',
].join(', ');

export const corsHeaders = { 'access-control-allow-origin': '*', 'access-control-expose-headers': exposedHeaders };

const allowedHeaders = ['Authorization', 'Content-Type', 'Idempotency-Key', 'If-Match', 'If-None-Match', 'Last-Event-ID'];

interface CorsParts {
  /** The rate-limit headers for an address, since a preflight has no key. */
  readRateHeaders(address: string): Promise<Record<string, string>>;
  /** Further request headers that a browser may send. */
  readonly moreHeaders: readonly string[];
}

/** Lets browsers of any origin call the API. Responds to preflights and to plain OPTIONS, before authentication. */
export function addCors(api: FastifyInstance, parts: CorsParts): void {
  api.addHook('onRequest', async (request, reply) => {
    reply.headers(corsHeaders);
    reply.header('x-request-id', request.id);
    return request.method === 'OPTIONS' ? respondToOptions(request, reply, parts) : undefined;
  });
}

const isPreflight = ({ headers }: FastifyRequest) => headers.origin !== undefined && headers['access-control-request-method'] !== undefined;

/** Neither is counted: a browser sends a preflight by itself. */
async function respondToOptions(request: FastifyRequest, reply: FastifyReply, { readRateHeaders, moreHeaders }: CorsParts) {
  reply.headers(await readRateHeaders(requestSubject(request)));
  if (isPreflight(request)) return reply.status(204).headers(preflightHeaders('GET, HEAD, POST, PUT, PATCH, DELETE', moreHeaders)).send();
  const allow = allowedMethods(request);
  if (!allow) throw routeNotFound(request);
  return reply.status(204).header('allow', allow).send();
}

export const preflightHeaders = (methods: string, moreHeaders: readonly string[] = []) => ({
  'access-control-allow-methods': methods,
  'access-control-allow-headers': [...allowedHeaders, ...moreHeaders].join(', '),
  'access-control-max-age': '86400',
});

/** For every response, on every path: a browser uses the declared type and doesn't guess another. */
export const securityHeaders = { 'x-content-type-options': 'nosniff' };

/** For all routes, also outside /v1. Must be the first hook: a stream takes over the headers that are set before it. */
export function addSecurityHeaders(app: FastifyInstance): void {
  app.addHook('onRequest', (_, reply, done) => {
    reply.headers(securityHeaders);
    done();
  });
}

/**
 * Whether a browser says that another site sent a request. A program says nothing. From a page with `no-referrer` a browser sends the
 * origin `null`, which then says nothing either; today's browsers send Sec-Fetch-Site, too.
 */
export function isFromElsewhere({ headers }: Pick<FastifyRequest, 'headers'>, publicUrl: string): boolean {
  const site = headers['sec-fetch-site'];
  if (site !== undefined) return site !== 'same-origin' && site !== 'none';
  const { origin, host } = headers;
  if (origin === undefined || origin === 'null') return false;
  return URL.parse(origin)?.host !== host && origin !== URL.parse(publicUrl)?.origin;
}
