import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { type Coding, codingFor, compress } from './content-coding.ts';
import { corsHeaders } from './cors.ts';
import { codedEtag, etagOf, isUnmodified } from './etags.ts';
import { securityHeaders } from './security-headers.ts';

declare module 'fastify' {
  interface FastifyReply {
    /** Returns the compressed body, for a route that caches it; null: it is compressed for each response. */
    compressBody: ((coding: Coding) => Promise<Buffer>) | null;
  }
}

const cacheControl = 'private, no-cache';
const vary = 'accept-encoding';

/** The headers of every successful read, in addition to its own and those of the rate limit. */
export const readHeaders = { ...securityHeaders, ...corsHeaders, 'cache-control': cacheControl, vary };

/**
 * Adds an ETag to each successful read, and responds with 304 if the caller already has the same content. Otherwise compresses the
 * body if the caller accepts that. Only reads are compressed: errors are small, and some responses to a POST contain a secret.
 */
export function addConditionalResponses(api: FastifyInstance): void {
  api.decorateReply('compressBody', null);
  api.addHook('onSend', async (request, reply, payload) => {
    reply.header('cache-control', reply.statusCode < 400 ? cacheControl : 'no-store');
    const isRead = reply.statusCode === 200 && (request.method === 'GET' || request.method === 'HEAD');
    return isRead && (typeof payload === 'string' || Buffer.isBuffer(payload)) ? prepareRead(request, reply, payload) : payload;
  });
}

async function prepareRead(
  { method, headers }: FastifyRequest,
  reply: FastifyReply,
  body: string | Buffer,
): Promise<string | Buffer | null> {
  const coding = codingFor(headers['accept-encoding'], Buffer.byteLength(body));
  // A hash of the body and links, unless the route has set one.
  const etag = String(reply.getHeader('etag') ?? etagOf(String(body), String(reply.getHeader('link') ?? '')));
  reply.headers({ etag: codedEtag(etag, coding), vary });
  const unmodified = isUnmodified(headers['if-none-match'], etag);
  if (unmodified) {
    reply.status(304).removeHeader('content-type').removeHeader('content-length');
    // Fastify computes the Content-Length of a HEAD from its payload. A 304 to a GET must not have the length of an empty body.
    if (method === 'GET') return null;
  }
  if (!coding) return body;
  const compressed = await (reply.compressBody ? reply.compressBody(coding) : compress(body, coding, 'fast'));
  if (!unmodified) reply.header('content-encoding', coding);
  return compressed;
}
