import type { FastifyReply } from 'fastify';
import { Type } from 'typebox';
import { whoMay } from '../../access/admission/access.ts';
import { callerOf, idReader, noContent, operation, read, sendJson, updated } from '../../access/admission/admission-hook.ts';
import { scopesThat } from '../../domain/scopes.ts';
import { imageTypes } from '../../images/image-types.ts';
import type { PhotoStore } from '../../images/photo-store.ts';
import type { Config } from '../../platform/config.ts';
import type { Transactor } from '../../platform/db/handles.ts';
import { type Api, jsonResponse, locationHeader, Ref } from '../../platform/http/schemas.ts';
import type { Catalogue } from '../list-cache/catalogue.ts';
import { petNotFound } from '../pets/pet-locks.ts';
import { photoJson, photosJson } from './photo-json.ts';
import { requireHere } from './photo-mark.ts';
import type { PhotoRow } from './photo-queries.ts';
import { PhotoChangesSchema, PhotoPath, PhotoSchema, PhotosPath } from './photo-schemas.ts';
import {
  addPhoto,
  changePhoto,
  getPhoto,
  listPhotos,
  photoErrors,
  photoNotFound,
  photosOff,
  removePhoto,
  requireWriter,
} from './photos.ts';
import { requireAllowance, UploadSlots } from './upload-allowance.ts';
import { receivePhoto, requirePhotoHeaders, requireRoom } from './upload-listener.ts';

interface Parts {
  readonly db: Transactor;
  readonly catalogue: Catalogue;
  /** Undefined: photos are off. */
  readonly store: PhotoStore | undefined;
  readonly config: Pick<Config, 'photosUrl'>;
}

const common = { tags: ['Photos'], 'x-stability': 'experimental' } as const;
const readPetId = idReader(petNotFound);
const whoWrites = `Needs ${whoMay('describePets')}.`;
/** Every POST accepts the header; here it does nothing. */
const photoIdempotency = Type.Object({
  'idempotency-key': Type.Optional(Type.String({ description: 'Not needed: the same bytes for the same animal are the same photo.' })),
});
/** How long uploads have to end when the process stops. */
const stopMs = 8_000;

export async function photoRoutes(api: Api, { db, catalogue, store, config: { photosUrl } }: Parts): Promise<void> {
  const send = (reply: FastifyReply, photo: PhotoRow) => sendJson(reply, photoJson(photo, photosUrl));
  const slots = new UploadSlots();
  const stopping = new AbortController();
  api.addHook('preClose', async () => void setTimeout(() => stopping.abort(), stopMs).unref());

  api.get(
    '/pets/:petId/photos',
    operation({
      scope: 'pets:read',
      ...common,
      operationId: 'listPhotos',
      summary: 'List the photos of an animal',
      description: 'In the order in which they are shown, also those that are being processed or have failed.',
      params: PhotosPath,
      response: read('The photos, at most 12.', Type.Array(Ref(PhotoSchema))),
      errors: photoErrors.list,
    }),
    async ({ params }, reply) => sendJson(reply, photosJson(await listPhotos(db, readPetId(params.petId)), photosUrl)),
  );

  api.get(
    '/pets/:petId/photos/:photoId',
    operation({
      scope: 'pets:read',
      ...common,
      operationId: 'getPhoto',
      summary: 'Get a photo',
      params: PhotoPath,
      response: read('The photo.', PhotoSchema),
      errors: photoErrors.get,
    }),
    async ({ params }, reply) => {
      const { petId, photoId } = readIds(params);
      return send(reply, await getPhoto(db, petId, photoId));
    },
  );

  // The bytes are not parsed, whatever their type is: the handler reads them from the connection.
  await api.register(async (uploads: Api) => {
    uploads.removeAllContentTypeParsers();
    uploads.addContentTypeParser('*', (_request, _payload, done) => done(null));
    uploads.post(
      '/pets/:petId/photos',
      operation({
        scope: scopesThat('describePets'),
        ...common,
        operationId: 'addPhoto',
        summary: 'Add a photo',
        description: `The body is the image as it is in its file: JPEG, PNG or WebP, at most 20 MB and 50 megapixels. The photo is processed afterwards: it is ready when \`status\` says so, within seconds. Metadata, such as the place where it was taken, is removed, and the original is deleted. The same bytes for the same animal are the same photo, so a retry is safe with any Idempotency-Key or none. Send at least 16 kB a second, and 2 photos at once at most. ${whoWrites}`,
        params: PhotosPath,
        headers: photoIdempotency,
        body: { content: Object.fromEntries(imageTypes.map((type) => [type, { schema: {} }])) },
        response: {
          202: jsonResponse('The photo, which is being processed, or is ready if it was sent before.', Ref(PhotoSchema), locationHeader),
        },
        errors: photoErrors.add,
      }),
      async (request, reply) => {
        const caller = callerOf(request);
        const petId = readPetId((request.params as { petId: string }).petId);
        await requireWriter(db, petId, caller);
        if (!store) throw photosOff();
        requirePhotoHeaders(request.raw);
        await requireAllowance(db, caller, Number(request.headers['content-length'] ?? 1));
        await requireRoom(store);
        using _slot = slots.take(caller);
        await requireHere(db, store);
        const original = await receivePhoto(store, request.raw, stopping.signal);
        const { photo } = await addPhoto({ db, store }, petId, original, caller);
        return await send(reply.status(202).header('location', `/v1/pets/${petId}/photos/${photo.id}`), photo);
      },
    );
  });

  api.patch(
    '/pets/:petId/photos/:photoId',
    {
      // Before the body is parsed, like the scopes of other operations.
      onRequest: (request) => requireWriter(db, readPetId((request.params as { petId: string }).petId), callerOf(request)),
      ...operation({
        ...common,
        scope: scopesThat('describePets'),
        operationId: 'updatePhoto',
        summary: 'Describe or move a photo',
        description: `Sets the alternative text, or moves the photo among the photos of the animal. ${whoWrites}`,
        params: PhotoPath,
        body: Ref(PhotoChangesSchema),
        response: updated('The changed photo.', PhotoSchema),
        errors: photoErrors.change,
      }),
    },
    async (request, reply) => {
      const { petId, photoId } = readIds(request.params);
      return send(reply, await changePhoto(catalogue, petId, photoId, request.body, callerOf(request)));
    },
  );

  api.delete(
    '/pets/:petId/photos/:photoId',
    operation({
      scope: scopesThat('describePets'),
      ...common,
      operationId: 'removePhoto',
      summary: 'Remove a photo',
      description: `Its pictures are deleted after a day; caches may keep them longer. ${whoWrites}`,
      params: PhotoPath,
      response: noContent('The photo was removed.'),
      errors: photoErrors.change,
    }),
    async (request, reply) => {
      const { petId, photoId } = readIds(request.params);
      await removePhoto(catalogue, petId, photoId, callerOf(request));
      return reply.status(204).send();
    },
  );
}

function readIds({ petId, photoId }: { petId: string; photoId: string }): { petId: bigint; photoId: bigint } {
  const ofPet = readPetId(petId);
  return { petId: ofPet, photoId: idReader((text) => photoNotFound(ofPet, text))(photoId) };
}
