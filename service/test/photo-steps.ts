// Setup steps for tests about photos.
import { hash } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import sharp from 'sharp';
import { processPhoto } from '../src/animals/photos/photo-processing.ts';
import { DirectoryStore } from '../src/images/directory-store.ts';
import type { DecodingOutcome } from '../src/images/image-reply.ts';
import type { PhotoStore } from '../src/images/photo-store.ts';
import { makePictures, type PictureMaker } from '../src/images/picture-maker.ts';
import { addPet } from './adoption-steps.ts';
import { createTestStore, type KeyOptions, type TestKey, type TestResponse, type TestStore } from './test-store.ts';

export interface PhotoBody {
  readonly id: number;
  readonly status: string;
  readonly alt: string;
  readonly width: number | null;
  readonly height: number | null;
  readonly placeholder: string | null;
  readonly urls: ReadonlyArray<{ readonly width: number; readonly height: number; readonly url: string }>;
  readonly failure?: { readonly code: string; readonly message: string };
}

export interface PhotoTestStore extends AsyncDisposable {
  readonly store: TestStore;
  readonly folder: string;
  readonly files: DirectoryStore;
}

/** A store with photos in a directory that is removed with it. */
export async function createPhotoStore(): Promise<PhotoTestStore> {
  const folder = mkdtempSync(path.join(tmpdir(), 'homeward-photos-'));
  const store = await createTestStore({ env: { HOMEWARD_PHOTOS: folder } });
  return {
    store,
    folder,
    files: new DirectoryStore(folder),
    [Symbol.asyncDispose]: async () => {
      await store[Symbol.asyncDispose]();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** An image of one colour; another colour is another image. */
export const makeImage = (color: string, { width = 400, height = 300, type = 'jpeg' as 'jpeg' | 'png' | 'webp' } = {}): Promise<Buffer> =>
  sharp({ create: { width, height, channels: 3, background: color } })
    .toFormat(type)
    .toBuffer();

export const sendPhoto = (
  store: TestStore,
  { key }: TestKey,
  petId: number,
  raw: Buffer | string,
  headers: Record<string, string> = {},
): Promise<TestResponse<PhotoBody>> =>
  store.call('POST', `/v1/pets/${petId}/photos`, { key, raw, headers: { 'content-type': 'image/jpeg', ...headers } });

export const readPhotos = async (store: TestStore, { key }: TestKey, petId: number): Promise<readonly PhotoBody[]> =>
  (await store.call<PhotoBody[]>('GET', `/v1/pets/${petId}/photos`, { key })).json;

/** Adds an animal with a photo that waits to be processed. */
export async function addPetWithPhoto(store: TestStore, key: TestKey, image: Buffer): Promise<number> {
  const { id } = await addPet(store, key);
  const { status, text } = await sendPhoto(store, key, id, image);
  if (status !== 202) throw new Error(`a photo was not accepted: ${text}`);
  return id;
}

/** As if the workers that had claimed photos were killed long ago. */
export const expireClaims = (store: TestStore) =>
  store.write("update photos set claimed_until = now() - interval '1 s' where claimed_until is not null");

/** The real pictures of the images that tests have in common: each is decoded once, since that takes a process. */
const made = new Map<string, DecodingOutcome>();
const makeOnce: PictureMaker = async ({ bytes, stream }, signal) => {
  const image = await buffer(stream);
  const digest = hash('sha256', image);
  const outcome = made.get(digest) ?? (await makePictures({ bytes, stream: Readable.from([image]) }, signal));
  if ('pictures' in outcome) made.set(digest, outcome);
  return outcome;
};

/** Processes all photos that wait, like a worker. Returns how many. */
export async function processAll(
  { store, files }: { readonly store: TestStore; readonly files: PhotoStore },
  make: PictureMaker = makeOnce,
): Promise<number> {
  const { signal } = new AbortController();
  const turn = { clientId: 0n };
  let count = 0;
  while ((await processPhoto({ ...store.dependencies, store: files, makePictures: make, signal, turn })) > 0) count += 1;
  return count;
}

/** The names of the files in one of the folders of the store. */
export const filesIn = async (folder: string, part: 'originals' | 'photos'): Promise<string[]> =>
  (await readdir(path.join(folder, part), { recursive: true, withFileTypes: true }).catch(() => []))
    .filter((entry) => entry.isFile())
    .map(({ name }) => name);

/** A key that is bound to a shelter, which is created if it is new. */
export async function createShelterKey(
  store: TestStore,
  shelter: string,
  options: KeyOptions = {},
): Promise<TestKey & { shelterId: bigint }> {
  const { db } = store.dependencies;
  const found = await db.query<{ id: bigint }>({ text: 'select id from shelters where name = $1', values: [shelter] });
  const inserted =
    found.rows[0] ??
    (await db.write<{ id: bigint }>({ text: 'insert into shelters (name) values ($1) returning id', values: [shelter] })).rows[0];
  if (!inserted) throw new Error('a shelter was not inserted');
  const { scopes = [], ...others } = options;
  // Bound before it gets scopes: shelter:manage needs a shelter.
  const key = await store.createKey({ ...others, scopes: [] });
  await db.write({ text: 'update api_keys set shelter_id = $2, scopes = $3 where id = $1', values: [key.id, inserted.id, scopes] });
  return { ...key, shelterId: inserted.id };
}
