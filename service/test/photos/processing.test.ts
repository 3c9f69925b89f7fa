import { utimes } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { processPhoto } from '../../src/photos/photo-processing.ts';
import type { PhotoStore } from '../../src/photos/photo-store.ts';
import { sweepFiles } from '../../src/photos/photo-sweep.ts';
import { claimPhoto, lockOutWorkers, markReady } from '../../src/photos/processing-queries.ts';
import { addPet, createManager } from '../adoption-steps.ts';
import { countLockWaits } from '../lock-waits.ts';
import { createPhotoStore, filesIn, makeImage, type PhotoTestStore, processAll, readPhotos, sendPhoto } from '../photo-steps.ts';
import type { TestKey, TestStore } from '../test-store.ts';

vi.setConfig({ testTimeout: 30_000 });

let photos: PhotoTestStore;
let store: TestStore;
let manager: TestKey;
beforeAll(async () => {
  photos = await createPhotoStore();
  store = photos.store;
  manager = await createManager(store);
});
afterAll(() => photos[Symbol.asyncDispose]());

const { signal } = new AbortController();

async function petWithPhoto(image: Buffer): Promise<number> {
  const { id } = await addPet(store, manager);
  expect((await sendPhoto(store, manager, id, image)).status).toBe(202);
  return id;
}

const photoOf = async (petId: number) => (await readPhotos(store, manager, petId))[0];
const expireClaims = () =>
  store.dependencies.db.query({ text: "update photos set claimed_until = now() - interval '1 s' where claimed_until is not null" });

/** A store in which an operation fails. */
const broken = (operation: keyof PhotoStore): PhotoStore =>
  new Proxy(photos.files, {
    get: (target, name) =>
      name === operation
        ? async () => {
            throw new Error(`no ${operation}`);
          }
        : Reflect.get(target, name).bind(target),
  });

describe('A photo', () => {
  test('that a killed worker had claimed is processed by another one, and the first can change nothing any more', async () => {
    const { db } = store.dependencies;
    const petId = await petWithPhoto(await makeImage('red'));
    const lost = await claimPhoto(db, 20);
    expect(await processAll(photos)).toBe(0);
    await expireClaims();
    expect(await processAll(photos)).toBe(1);
    expect(await photoOf(petId)).toMatchObject({ status: 'ready', width: 320 });
    const late = lost && (await db.transaction((tx) => markReady(tx, lost, { width: 1, height: 1, placeholder: 'x' })));
    expect(late).toBe(false);
  });

  test('that three workers did not finish has failed with a code, and is processed again when it is sent again', async () => {
    const image = await makeImage('green');
    const petId = await petWithPhoto(image);
    for (let attempt = 1; attempt <= 3; attempt += 1) {
      expect((await claimPhoto(store.dependencies.db, 20))?.attempts).toBe(attempt);
      await expireClaims();
    }
    await processAll(photos);
    expect(await photoOf(petId)).toMatchObject({
      status: 'failed',
      failure: { code: 'not_processed', message: expect.stringContaining('in 3 attempts') },
    });
    expect(await filesIn(photos.folder, 'originals')).toEqual([]);
    expect((await sendPhoto(store, manager, petId, image)).json.status).toBe('processing');
    await processAll(photos);
    expect(await photoOf(petId)).toMatchObject({ status: 'ready' });
  });

  test('that is no image has failed with a code and in words', async () => {
    const petId = await petWithPhoto(Buffer.concat([Buffer.from([0xff, 0xd8, 0xff]), Buffer.alloc(100)]));
    await processAll(photos);
    expect(await photoOf(petId)).toMatchObject({ status: 'failed', urls: [], failure: { code: 'unreadable' } });
    expect(await filesIn(photos.folder, 'originals')).toEqual([]);
  });

  test.each(['get', 'put'] as const)('is not given up while the store is broken: no %s', async (operation) => {
    const petId = await petWithPhoto(await makeImage(operation === 'get' ? 'aqua' : 'gray'));
    for (let i = 0; i < 5; i += 1) {
      await expect(processPhoto({ ...store.dependencies, store: broken(operation), signal })).rejects.toThrow(`no ${operation}`);
      await expireClaims();
    }
    await processAll(photos);
    expect(await photoOf(petId)).toMatchObject({ status: 'ready' });
  });

  test('that is removed while it is processed stays removed', async () => {
    const petId = await petWithPhoto(await makeImage('black'));
    const removing: PhotoStore = new Proxy(photos.files, {
      get: (target, name) => {
        const method = Reflect.get(target, name).bind(target);
        if (name !== 'put') return method;
        return async (...args: unknown[]) => {
          const photo = await photoOf(petId);
          if (photo) await store.call('DELETE', `/v1/pets/${petId}/photos/${photo.id}`, { key: manager.key });
          return method(...args);
        };
      },
    });
    expect(await processPhoto({ ...store.dependencies, store: removing, signal })).toBe(1);
    expect(await readPhotos(store, manager, petId)).toEqual([]);
  });
});

describe('The sweep', () => {
  const day = 86_400_000;
  const age = async (ms: number) => {
    const at = new Date(Date.now() - ms);
    for (const part of ['originals', 'photos'] as const) {
      for (const name of await filesIn(photos.folder, part)) {
        const levels = part === 'photos' ? [name.slice(0, 2), name.slice(2, 4)] : [];
        await utimes(path.join(photos.folder, part, ...levels, name), at, at);
      }
    }
  };

  test('deletes after a day what no photo refers to, and nothing else', async () => {
    await processAll(photos);
    await age(2 * day);
    await sweepFiles(store.dependencies.db, photos.files);
    const kept = await petWithPhoto(await makeImage('maroon'));
    const removed = await petWithPhoto(await makeImage('teal'));
    const twin = await petWithPhoto(await makeImage('maroon'));
    await processAll(photos);
    const waiting = await petWithPhoto(await makeImage('silver'));
    await photos.files.put('originals/left', Buffer.from('left by a killed process'));
    const before = (await filesIn(photos.folder, 'photos')).length;
    const photo = await photoOf(removed);
    await store.call('DELETE', `/v1/pets/${removed}/photos/${photo?.id}`, { key: manager.key });
    await store.call('DELETE', `/v1/pets/${twin}`, { key: manager.key });
    await age(day - 60_000);
    expect(await sweepFiles(store.dependencies.db, photos.files)).toBe(0);
    await age(day + 60_000);
    expect(await sweepFiles(store.dependencies.db, photos.files)).toBe(2);
    expect(await filesIn(photos.folder, 'photos')).toHaveLength(before - 1);
    for (const { url } of (await photoOf(kept))?.urls ?? []) expect((await store.call('GET', url)).status).toBe(200);
    await processAll(photos);
    expect(await photoOf(waiting)).toMatchObject({ status: 'ready' });
  });

  test('lets no worker name a file while it deletes, so that the worker writes it afterwards', async () => {
    const { db } = store.dependencies;
    const petId = await petWithPhoto(await makeImage('orchid'));
    let processing: Promise<number> | undefined;
    await db.transaction(async (tx) => {
      await lockOutWorkers(tx);
      processing = processAll(photos);
      await vi.waitUntil(async () => (await countLockWaits(store)) === 1n, { timeout: 10_000, interval: 20 });
      expect(await photoOf(petId)).toMatchObject({ status: 'processing' });
    });
    await processing;
    expect(await photoOf(petId)).toMatchObject({ status: 'ready' });
  });
});
