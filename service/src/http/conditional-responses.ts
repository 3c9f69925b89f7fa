import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { corsHeaders } from './cors.ts';
import { etagOf, matchesEtag } from './etags.ts';
import { securityHeaders } from './security-headers.ts';

const cacheControl = 'private, no-cache';

/** The headers of every successful read, in addition to its own and those of the rate limit. */
export const readHeaders = { ...securityHeaders, ...corsHeaders, 'cache-control': cacheControl };

/** True if If-None-Match contains the ETag. A weak comparison, as RFC 9110 requires. */
export const isUnmodified = (ifNoneMatch: string | undefined, etag: string): boolean =>
  ifNoneMatch !== undefined && matchesEtag(ifNoneMatch.replaceAll('W/', ''), etag);

/** Adds an ETag to each successful read, and responds with 304 if the caller already has the same content. */
export function addConditionalResponses(api: FastifyInstance): void {
  api.addHook('onSend', (request, reply, payload, done) => done(null, applyEtag(request, reply, payload)));
}

/** The ETag is a hash of the body and links, unless the route has set one. */
function applyEtag(request: FastifyRequest, reply: FastifyReply, payload: unknown): unknown {
  reply.header('cache-control', reply.statusCode < 400 ? cacheControl : 'no-store');
  if (reply.statusCode !== 200 || (request.method !== 'GET' && request.method !== 'HEAD')) return payload;
  if (typeof payload !== 'string') return payload;
  const etag = String(reply.getHeader('etag') ?? etagOf(payload, String(reply.getHeader('link') ?? '')));
  reply.header('etag', etag);
  if (!isUnmodified(request.headers['if-none-match'], etag)) return payload;
  reply.status(304).removeHeader('content-type').removeHeader('content-length');
  // Fastify computes the Content-Length of a HEAD from its payload. A 304 to a GET must not have the length of an empty body.
  return request.method === 'HEAD' ? payload : null;
}
