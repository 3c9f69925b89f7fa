import { gzipSync } from 'node:zlib';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { etagOf, matchesEtag } from './etags.ts';

/** Content that doesn't change while the process runs. It is compressed and hashed once, not for each request. */
export interface StaticContent {
  readonly type: string;
  readonly bytes: Buffer;
  /** Undefined: compression would not make it smaller. */
  readonly gzipped: Buffer | undefined;
  readonly hash: string;
}

export const staticHeaders = {
  'cache-control': 'public, max-age=300',
  vary: 'accept-encoding',
};

export function makeStatic(type: string, content: string | Buffer): StaticContent {
  const bytes = Buffer.from(content);
  const gzipped = gzipSync(bytes, { level: 9 });
  return { type, bytes, gzipped: gzipped.length < bytes.length ? gzipped : undefined, hash: etagOf(bytes.toString('base64')) };
}

/** Compressed if the caller accepts gzip; 304 if it already has the content. A 404 page is never 304. */
export function sendStatic({ headers }: FastifyRequest, reply: FastifyReply, { type, bytes, gzipped, hash }: StaticContent): FastifyReply {
  reply.headers(staticHeaders);
  if (reply.statusCode === 200) {
    // Weak, since the compressed bytes have the same ETag.
    reply.header('etag', `W/${hash}`);
    const ifNoneMatch = headers['if-none-match'];
    if (ifNoneMatch !== undefined && matchesEtag(ifNoneMatch.replaceAll('W/', ''), hash)) return reply.status(304).send();
  }
  reply.type(type);
  return gzipped && acceptsGzip(headers['accept-encoding'] ?? '')
    ? reply.header('content-encoding', 'gzip').send(gzipped)
    : reply.send(bytes);
}

/** `gzip;q=0` means that the caller does not accept it. */
const acceptsGzip = (accepted: string) => /\bgzip\b(?!\s*;\s*q=0(\.0*)?\s*(,|$))/i.test(accepted);
