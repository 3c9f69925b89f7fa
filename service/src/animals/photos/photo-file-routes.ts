import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { type FileName, type PhotoStore, pictureName, type StoredFile } from '../../images/photo-store.ts';
import { requestSubject } from '../../platform/caller-addresses.ts';
import { isUnmodified } from '../../platform/http/protocol/representations.ts';
import { AddressBudget } from './upload-allowance.ts';

/** The name is the hash of the content, so the content never changes. */
const pictureHeaders = {
  'cache-control': 'public, max-age=31536000, immutable',
  'access-control-allow-origin': '*',
  'cross-origin-resource-policy': 'cross-origin',
};

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
  const etag = `"${hash}"`;
  const held = request.headers['if-none-match'];
  // Who has the ETag has the content, which never changes: the store is not asked. `*` says nothing of what the caller has.
  if (held?.trim() !== '*' && isUnmodified(held, etag)) return reply.headers(pictureHeaders).header('etag', etag).status(304).send();
  const find = request.method === 'HEAD' ? findSize : findFile;
  const file = await find(store, pictureName(hash)).catch((error: unknown) => {
    request.log.warn({ err: error }, 'could not read a photo');
    return null;
  });
  if (file === null) return sendText(reply.status(503).header('retry-after', 1), "The photo can't be read at the moment. Retry in 1 s.\n");
  if (!file) return sendText(reply.status(404), 'There is no such photo.\n');
  reply.headers({ ...pictureHeaders, etag, 'content-length': file.bytes }).type('image/webp');
  return reply.send(file.stream);
}

const findFile = (store: PhotoStore, name: FileName): Promise<Partial<StoredFile> | undefined> => store.get(name);

async function findSize(store: PhotoStore, name: FileName): Promise<Partial<StoredFile> | undefined> {
  const bytes = await store.sizeOf(name);
  return bytes === undefined ? undefined : { bytes };
}

const sendText = (reply: FastifyReply, text: string) =>
  reply.header('cache-control', 'no-store').type('text/plain; charset=utf-8').send(text);
