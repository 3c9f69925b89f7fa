import type { FastifyReply, FastifyRequest } from 'fastify';
import { type Coding, codedEtag, codingFor, compress, etagOf, isUnmodified } from '../protocol/representations.ts';

/** Content that doesn't change while the process runs. It is hashed when its ETag is first needed, and compressed at the first request for a coding. */
export interface StaticContent {
  readonly type: string;
  readonly bytes: Buffer;
  readonly etag: string;
  readonly compressed: Map<Coding, Promise<Buffer>>;
}

export const staticHeaders = {
  'cache-control': 'public, max-age=300',
  vary: 'accept-encoding',
};

export function makeStatic(type: string, content: string | Buffer): StaticContent {
  const bytes = Buffer.from(content);
  let etag: string | undefined;
  return {
    type,
    bytes,
    get etag() {
      etag ??= etagOf(bytes.toString('base64'));
      return etag;
    },
    compressed: new Map(),
  };
}

/** For content whose name has its hash. */
export const immutableHeaders = { ...staticHeaders, 'cache-control': 'public, max-age=31536000, immutable' };

/** Compressed if the caller accepts that; 304 if it already has the content. A 404 page is never 304. */
export async function sendStatic(
  { headers }: FastifyRequest,
  reply: FastifyReply,
  content: StaticContent,
  caching: Readonly<Record<string, string>> = staticHeaders,
): Promise<FastifyReply> {
  const { type, bytes, etag } = content;
  const coding = isText(type) ? codingFor(headers['accept-encoding'], bytes.length) : undefined;
  reply.headers(caching);
  if (reply.statusCode === 200) {
    reply.header('etag', codedEtag(etag, coding));
    if (isUnmodified(headers['if-none-match'], etag)) return reply.status(304).send();
  }
  reply.type(type);
  return coding ? reply.header('content-encoding', coding).send(await compressOnce(content, coding)) : reply.send(bytes);
}

/** Other types, such as images, fonts and archives, are already compressed. */
const isText = (type: string) => /^text\/|json\b|\bxml\b/.test(type);

/**
 * Thorough compression takes up to 30 ms for a file. Doing it for every file at startup would cost each process half a second, for
 * files that most processes never send.
 */
function compressOnce({ bytes, compressed }: StaticContent, coding: Coding): Promise<Buffer> {
  const known = compressed.get(coding);
  if (known) return known;
  const compressing = compress(bytes, coding, 'best');
  compressed.set(coding, compressing);
  compressing.catch(() => compressed.delete(coding));
  return compressing;
}
