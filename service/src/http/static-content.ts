import { gzipSync } from 'node:zlib';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { etagOf, matchesEtag } from './etags.ts';

/** What stays the same while the process runs: packed and hashed once, so that a request costs no more than its bytes. */
export interface StaticContent {
  readonly type: string;
  readonly bytes: Buffer;
  /** Undefined: packing would not make it smaller. */
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

/** Packed where the caller takes that; 304 where it has the content already. A page that says 404 is never 304. */
export function sendStatic({ headers }: FastifyRequest, reply: FastifyReply, { type, bytes, gzipped, hash }: StaticContent): FastifyReply {
  reply.headers(staticHeaders);
  if (reply.statusCode === 200) {
    // Weak, since the packed bytes have the same.
    reply.header('etag', `W/${hash}`);
    const ifNoneMatch = headers['if-none-match'];
    if (ifNoneMatch !== undefined && matchesEtag(ifNoneMatch.replaceAll('W/', ''), hash)) return reply.status(304).send();
  }
  reply.type(type);
  return gzipped && acceptsGzip(headers['accept-encoding'] ?? '')
    ? reply.header('content-encoding', 'gzip').send(gzipped)
    : reply.send(bytes);
}

/** `gzip;q=0` says that the caller does not take it. */
const acceptsGzip = (accepted: string) => /\bgzip\b(?!\s*;\s*q=0(\.0*)?\s*(,|$))/i.test(accepted);
