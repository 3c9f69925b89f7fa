import { hash } from 'node:crypto';
import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { corsHeaders, securityHeaders } from './browsers.ts';

/** The content codings, the preferred one first. */
export const codings = ['br', 'gzip'] as const;
export type Coding = (typeof codings)[number];

/** Less than this fits into one packet anyway. */
const bytesMin = 1_024;

/** The coding for a response to a caller that sent this Accept-Encoding. Undefined: the plain bytes. */
export const codingFor = (acceptEncoding: string | undefined, bytes: number): Coding | undefined =>
  acceptEncoding === undefined || bytes < bytesMin ? undefined : chooseCoding(acceptEncoding);

/**
 * The coding with the highest weight in an Accept-Encoding header (RFC 9110, section 12.5.3). Parts of it that are malformed are
 * ignored. If the caller accepts nothing that we have, not even plain bytes, it gets plain bytes: better than an error.
 */
export function chooseCoding(acceptEncoding: string): Coding | undefined {
  const weights = new Map<string, number>();
  for (const part of acceptEncoding.toLowerCase().split(',')) {
    const [, name, weight = '1'] = preference.exec(part) ?? [];
    // If a coding is given twice, the lower weight counts.
    if (name !== undefined) weights.set(name, Math.min(Number(weight), weights.get(name) ?? 1));
  }
  const weightOf = (name: string) => weights.get(name) ?? weights.get('*') ?? 0;
  const [first, second] = codings;
  const best = weightOf(second) > weightOf(first) ? second : first;
  return weightOf(best) > 0 && weightOf(best) >= (weights.get('identity') ?? 0) ? best : undefined;
}

/** One part of Accept-Encoding, in lower case: a coding or `*`, and its weight. Linear time: no two parts match the same character. */
const preference = /^[ \t]*([\w!#$%&'*+.^`|~-]+)[ \t]*(?:;[ \t]*q=(0(?:\.\d{0,3})?|1(?:\.0{0,3})?)[ \t]*)?$/;

/** How thorough to be: for one response, or for content that is compressed once and sent many times. */
type Effort = 'fast' | 'best';

// Quality 11 takes three times as long as 10, and saves 3 %.
const brotliQualities = { fast: 5, best: 10 };
const gzipLevels = { fast: 6, best: constants.Z_BEST_COMPRESSION };

/** Compresses on a thread of the pool, not in the event loop. */
export function compress(content: string | Buffer, coding: Coding, effort: Effort): Promise<Buffer> {
  const bytes = typeof content === 'string' ? Buffer.from(content) : content;
  if (coding === 'gzip') return gzipAsync(bytes, { level: gzipLevels[effort] });
  return brotliAsync(bytes, {
    params: {
      [constants.BROTLI_PARAM_QUALITY]: brotliQualities[effort],
      [constants.BROTLI_PARAM_MODE]: constants.BROTLI_MODE_TEXT,
      [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length,
    },
  });
}

const gzipAsync = promisify(gzip);
const brotliAsync = promisify(brotliCompress);

/** A hash of the body, and of its Link header if it has one. */
export const etagOf = (payload: string, links = ''): string => `"${hash('sha256', payload + links, 'base64url').slice(0, 22)}"`;

/** A strong ETag identifies the bytes that are sent, so each coding has its own: `"hash"`, `"hash-gzip"` and `"hash-br"`. */
export const codedEtag = (etag: string, coding: Coding | undefined): string => (coding ? `${etag.slice(0, -1)}-${coding}"` : etag);

/** True if an If-Match header contains the ETag, with any coding. A strong comparison: a weak tag never matches. */
export function matchesEtag(field: string, etag: string): boolean {
  const accepted = ['*', etag, ...codings.map((coding) => codedEtag(etag, coding))];
  return field.split(',').some((one) => accepted.includes(one.trim()));
}

/** True if If-None-Match contains the ETag, with any coding. A weak comparison, as RFC 9110 requires. */
export const isUnmodified = (ifNoneMatch: string | undefined, etag: string): boolean =>
  ifNoneMatch !== undefined && matchesEtag(ifNoneMatch.replaceAll('W/', ''), etag);

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
