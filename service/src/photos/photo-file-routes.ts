import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { requestSubject } from '../http/addresses.ts';
import { isUnmodified } from '../http/etags.ts';
import { AddressBudget } from './address-budget.ts';
import { type PhotoStore, pictureName } from './photo-store.ts';

/** The name is the hash of the content, so the content never changes. */
const pictureHeaders = {
  'cache-control': 'public, max-age=31536000, immutable',
  'access-control-allow-origin': '*',
  'cross-origin-resource-policy': 'cross-origin',
};
/** A reader that takes nothing for this long is disconnected. */
const stalledMs = 30_000;

/** Serves the pictures to everyone, without a key: a visitor's browser has none. */
export function addPhotoFiles(app: FastifyInstance, store: PhotoStore | undefined): void {
  const budget = new AddressBudget();
  app.route<{ Params: { file: string } }>({
    method: ['GET', 'HEAD'],
    url: '/photos/:file',
    schema: { hide: true },
    handler: async (request, reply) => {
      const waitSeconds = budget.take(requestSubject(request), performance.now());
      if (waitSeconds > 0) {
        return sendText(reply.status(429).header('retry-after', waitSeconds), `Too many photos at once. Retry in ${waitSeconds} s.\n`);
      }
      const [, hash] = /^([0-9a-f]{64})\.webp$/.exec(request.params.file) ?? [];
      if (!hash || !store) return sendText(reply.status(404), 'There is no such photo.\n');
      return sendPicture(request, reply, store, hash);
    },
  });
}

async function sendPicture(request: FastifyRequest, reply: FastifyReply, store: PhotoStore, hash: string): Promise<FastifyReply> {
  const file = await store.get(pictureName(hash)).catch((error: unknown) => {
    request.log.warn({ err: error }, 'could not read a photo');
    return null;
  });
  if (file === null) return sendText(reply.status(503).header('retry-after', 1), "The photo can't be read at the moment. Retry in 1 s.\n");
  if (!file) return sendText(reply.status(404), 'There is no such photo.\n');
  const etag = `"${hash}"`;
  reply.headers(pictureHeaders).header('etag', etag).type('image/webp');
  if (isUnmodified(request.headers['if-none-match'], etag)) {
    file.stream.destroy();
    return reply.status(304).removeHeader('content-type').send();
  }
  reply.header('content-length', file.bytes);
  if (request.method === 'HEAD') {
    file.stream.destroy();
    return reply.send();
  }
  reply.raw.setTimeout(stalledMs, () => reply.raw.destroy());
  return reply.send(file.stream);
}

const sendText = (reply: FastifyReply, text: string) =>
  reply.header('cache-control', 'no-store').type('text/plain; charset=utf-8').send(text);
