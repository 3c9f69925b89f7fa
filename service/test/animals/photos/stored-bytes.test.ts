// What the files of a client's photos take is counted, exactly, and bounded.

import { stat } from 'node:fs/promises';
import path from 'node:path';
import sharp from 'sharp';
import { describe, expect, test } from 'vitest';
import { sweepNow } from '../../../../testkit/photo-sweep.ts';
import { processPhoto } from '../../../src/animals/photos/photo-processing.ts';
import { claimPhoto } from '../../../src/animals/photos/processing-queries.ts';
import { makePictures } from '../../../src/images/picture-maker.ts';
import { addPet, createManager } from '../../adoption-steps.ts';
import { disposeAfterAll } from '../../dispose-after-all.ts';
import { errorResponse } from '../../error-response.ts';
import {
  createPhotoStore,
  createShelterKey,
  expireClaims,
  filesIn,
  makeImage,
  processAll,
  readPhotos,
  sendPhoto,
} from '../../photo-steps.ts';
import { moveToShelter } from '../../shelter-steps.ts';
import type { TestKey } from '../../test-store.ts';

const gigabyte = 1_000_000_000;
const photos = disposeAfterAll(await createPhotoStore());
const { store } = photos;
const manager = await createManager(store);

/** A partner on Free, and an animal that it may describe. */
async function partner(name: string): Promise<{ key: TestKey; petId: number }> {
  const key = await createShelterKey(store, name, { plan: 'free', scopes: ['pets:write', 'pets:read'] });
  const { id } = await addPet(store, manager);
  await moveToShelter(store, id, key.shelterId);
  return { key, petId: id };
}

const one = async <T>(text: string, ...values: unknown[]) => (await store.write<{ value: T }>(text, ...values))[0]?.value;
const countedFor = async ({ clientId }: TestKey) =>
  Number((await one<bigint>('select bytes as value from photo_storage where client_id = $1', clientId)) ?? 0n);
const setCounted = (bytes: number, { clientId }: TestKey) =>
  store.write(
    'insert into photo_storage as s values ($1, $2) on conflict (client_id) do update set bytes = excluded.bytes',
    clientId,
    bytes,
  );
const usageOf = async ({ key }: TestKey) =>
  (await store.call<{ photoStorage: { usedBytes: number; limitBytes: number } }>('GET', '/v1/usage', { key })).json.photoStorage;

/** Of all files, as the disk has them. */
async function bytesOnDisk(): Promise<number> {
  let sum = 0;
  for (const part of ['originals', 'photos'] as const) {
    for (const name of await filesIn(photos.folder, part)) {
      const levels = part === 'photos' ? [name.slice(0, 2), name.slice(2, 4)] : [];
      sum += (await stat(path.join(photos.folder, part, ...levels, name))).size;
    }
  }
  return sum;
}

/** The sums that the counters must be equal to, by client: of its photos, and of removed ones. */
const drift = () =>
  store.read(`select client_id, sum(counted), sum(actual) from (
        select client_id, bytes as counted, 0 as actual from photo_storage
        union all select client_id, 0, case when status = 'processing' then coalesce(original_bytes, 0) else 0 end + coalesce(pictures_bytes, 0) from photos
        union all select client_id, 0, bytes from removed_photo_bytes) as parts
      group by client_id having sum(counted) <> sum(actual)`);

const removePhotos = async (key: TestKey, petId: number) => {
  for (const { id } of await readPhotos(store, key, petId))
    expect((await store.call('DELETE', `/v1/pets/${petId}/photos/${id}`, { key: key.key })).status).toBe(204);
};

/** A tile of noise, repeated: few bytes in a lossless WebP, which says only that it repeats, and many in pictures of quality 80. */
async function swellingImage(): Promise<Buffer> {
  const noise = { type: 'gaussian', mean: 128, sigma: 80 } as const;
  const tile = await sharp({ create: { width: 64, height: 64, channels: 3, background: 'gray', noise } })
    .png()
    .toBuffer();
  return sharp({ create: { width: 1_600, height: 1_600, channels: 3, background: 'gray' } })
    .composite([{ input: tile, tile: true }])
    .webp({ lossless: true })
    .toBuffer();
}

describe('The bytes that photos take', () => {
  test('count as they are stored: an image that swells counts with all its pictures, and is shown in GET /v1/usage', async () => {
    const { key, petId } = await partner('Swelling');
    const image = await swellingImage();
    expect((await sendPhoto(store, key, petId, image)).status).toBe(202);
    expect(await countedFor(key)).toBe(image.length);
    await processAll(photos);
    expect((await readPhotos(store, key, petId))[0]).toMatchObject({ status: 'ready', width: 1_600 });
    const counted = await countedFor(key);
    expect(counted).toBe(await bytesOnDisk());
    expect(counted).toBeGreaterThan(20 * image.length);
    expect(await usageOf(key)).toEqual({ usedBytes: counted, limitBytes: 2 * gigabyte });
  });

  test('of removed photos and animals count until a worker deletes their files, a day later', async () => {
    const { key, petId } = await partner('Leaving');
    const before = await bytesOnDisk();
    await sendPhoto(store, key, petId, await makeImage('olive'));
    await processAll(photos);
    await sendPhoto(store, key, petId, await makeImage('navy'));
    const counted = await countedFor(key);
    expect(counted).toBe((await bytesOnDisk()) - before);
    await removePhotos(key, petId);
    await sweepNow(store.dependencies.db, photos.files, 86_400_000);
    expect(await countedFor(key)).toBe(counted);
    await sweepNow(store.dependencies.db, photos.files);
    expect(await countedFor(key)).toBe(0);
    expect(await bytesOnDisk()).toBe(before);
    const other = await partner('Removed');
    await sendPhoto(store, other.key, other.petId, await makeImage('maroon'));
    await processAll(photos);
    expect((await store.call('DELETE', `/v1/pets/${other.petId}`, { key: manager.key })).status).toBe(204);
    expect(await countedFor(other.key)).toBeGreaterThan(0);
    await sweepNow(store.dependencies.db, photos.files);
    expect([await countedFor(other.key), await bytesOnDisk()]).toEqual([0, before]);
  });

  test('are what the rows say after killed workers, failures, restarts, removals and sweeps', async () => {
    const { key, petId } = await partner('Unlucky');
    const { db } = store.dependencies;
    const lost = await makeImage('plum');
    await sendPhoto(store, key, petId, lost);
    // A worker is killed when it has claimed a photo, and another when it has named its files.
    await claimPhoto(db, 20, 0n);
    await expireClaims(store);
    const killed = new Proxy(photos.files, {
      get: (target, name) => {
        if (name === 'put') throw new Error('killed');
        const value = Reflect.get(target, name);
        return typeof value === 'function' ? value.bind(target) : value;
      },
    });
    const { signal } = new AbortController();
    await expect(processPhoto({ ...store.dependencies, store: killed, makePictures, signal, turn: { clientId: 0n } })).rejects.toThrow(
      'killed',
    );
    expect(await drift()).toEqual([]);
    await expireClaims(store);
    await db.write({ text: 'update photos set attempts = 5 where pet_id = $1 and files is not null', values: [petId] });
    await sendPhoto(store, key, petId, Buffer.concat([Buffer.from([0xff, 0xd8, 0xff]), Buffer.alloc(100)]));
    await sendPhoto(store, key, petId, await makeImage('pink'));
    await processAll(photos);
    expect((await readPhotos(store, key, petId)).map(({ status }) => status)).toEqual(['failed', 'failed', 'ready']);
    expect(await drift()).toEqual([]);
    await sendPhoto(store, key, petId, lost);
    await processAll(photos);
    await removePhotos(key, petId);
    expect(await drift()).toEqual([]);
    await sweepNow(db, photos.files);
    expect([await drift(), await countedFor(key)]).toEqual([[], 0]);
  });
});

describe('A client at its limit', () => {
  const atLimit = (used: string, has: number) =>
    errorResponse(
      409,
      'photo_storage_limit',
      `The photos of this client take ${used} of 2,000 MB, and this one has ${has} MB. Remove photos, whose files are deleted a day later, or ask the store for another plan.`,
    );

  test('gets 409 before its bytes are read, keeps what it has, and may send again when there is room', async () => {
    const { key, petId } = await partner('Full');
    const image = await makeImage('wheat');
    await setCounted(2 * gigabyte - image.length + 1, key);
    expect(await sendPhoto(store, key, petId, image)).toMatchObject(atLimit('1,999', 1));
    await setCounted(3 * gigabyte, key);
    expect(await sendPhoto(store, key, petId, image)).toMatchObject(atLimit('3,000', 1));
    expect(await filesIn(photos.folder, 'originals')).toEqual([]);
    await setCounted(gigabyte, key);
    expect((await sendPhoto(store, key, petId, image)).status).toBe(202);
    await processAll(photos);
    await setCounted(3 * gigabyte, key);
    expect((await readPhotos(store, key, petId))[0]?.status).toBe('ready');
    // Also for a photo that it has: nothing of it is read.
    expect((await sendPhoto(store, key, petId, image)).status).toBe(409);
  });

  test('does not exceed it with uploads that arrive at once, without a Content-Length', async () => {
    const { key, petId } = await partner('Hasty');
    const images = await Promise.all(['lime', 'linen'].map((color) => makeImage(color)));
    await setCounted(2 * gigabyte - Math.max(...images.map(({ length }) => length)), key);
    const send = (image: Buffer) =>
      fetch(`${store.url}/v1/pets/${petId}/photos`, {
        method: 'POST',
        headers: { authorization: `Bearer ${key.key}`, 'content-type': 'image/jpeg' },
        body: new Blob([new Uint8Array(image)]).stream(),
        duplex: 'half',
      } as RequestInit);
    const statuses = (await Promise.all(images.map(send))).map(({ status }) => status);
    expect(statuses.toSorted()).toEqual([202, 409]);
    expect(await countedFor(key)).toBeLessThanOrEqual(2 * gigabyte);
    await removePhotos(key, petId);
  });

  test('does not exceed it with a photo whose pictures are too large: it fails with a code, and none is stored', async () => {
    const { key, petId } = await partner('Swollen');
    const image = await swellingImage();
    await setCounted(2 * gigabyte - 2 * image.length, key);
    const before = await bytesOnDisk();
    expect((await sendPhoto(store, key, petId, image)).status).toBe(202);
    await processAll(photos);
    expect((await readPhotos(store, key, petId))[0]).toMatchObject({ status: 'failed', failure: { code: 'storage_limit' } });
    expect([await countedFor(key), await bytesOnDisk()]).toEqual([2 * gigabyte - 2 * image.length, before]);
  });

  test("is not the store's own staff, whose photos are counted and not limited", async () => {
    const { id } = await addPet(store, manager);
    await setCounted(3_000 * gigabyte, manager);
    expect((await sendPhoto(store, manager, id, await makeImage('peru'))).status).toBe(202);
    await processAll(photos);
    expect((await readPhotos(store, manager, id))[0]?.status).toBe('ready');
    expect(await countedFor(manager)).toBeGreaterThan(3_000 * gigabyte);
  });
});
