import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { corsHeaders } from './cors.ts';
import { etagOf, matchesEtag } from './etags.ts';
import { securityHeaders } from './security-headers.ts';

const cacheControl = 'private, no-cache';

/** What every response to a successful read has, besides its own headers and those of the rate limit. */
export const readHeaders = { ...securityHeaders, ...corsHeaders, 'cache-control': cacheControl };

/** Whether If-None-Match names the ETag. Compared weakly, as RFC 9110 demands for it. */
export const isUnmodified = (ifNoneMatch: string | undefined, etag: string): boolean =>
  ifNoneMatch !== undefined && matchesEtag(ifNoneMatch.replaceAll('W/', ''), etag);

/** Gives each successful read an ETag, and answers 304 to a caller that has the same bytes already. */
export function addConditionalResponses(api: FastifyInstance): void {
  api.addHook('onSend', (request, reply, payload, done) => done(null, applyEtag(request, reply, payload)));
}

/** The ETag is a hash of the bytes and links, unless the route has set one. */
function applyEtag(request: FastifyRequest, reply: FastifyReply, payload: unknown): unknown {
  reply.header('cache-control', reply.statusCode < 400 ? cacheControl : 'no-store');
  if (reply.statusCode !== 200 || (request.method !== 'GET' && request.method !== 'HEAD')) return payload;
  if (typeof payload !== 'string') return payload;
  const etag = String(reply.getHeader('etag') ?? etagOf(payload, String(reply.getHeader('link') ?? '')));
  reply.header('etag', etag);
  if (!isUnmodified(request.headers['if-none-match'], etag)) return payload;
  reply.status(304).removeHeader('content-type').removeHeader('content-length');
  // Fastify takes the length of a HEAD from its payload; a 304 to a GET must not send the length of an empty body.
  return request.method === 'HEAD' ? payload : null;
}
