import { utimes } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { sweepNow } from '../../../../testkit/photo-sweep.ts';
import { claimDeletion, endDeletion } from '../../../src/animals/photos/deletion-queries.ts';
import { processPhoto } from '../../../src/animals/photos/photo-processing.ts';
import { claimPhoto, markReady } from '../../../src/animals/photos/processing-queries.ts';
import { theService } from '../../../src/domain/actor.ts';
import type { FileName, PhotoStore } from '../../../src/images/photo-store.ts';
import { makePictures } from '../../../src/images/picture-maker.ts';
import { addPet, createManager } from '../../adoption-steps.ts';
import { disposeAfterAll } from '../../dispose-after-all.ts';
import {
  addPetWithPhoto,
  createPhotoStore,
  expireClaims,
  filesIn,
  makeImage,
  processAll,
  readPhotos,
  sendPhoto,
} from '../../photo-steps.ts';

const photos = disposeAfterAll(await createPhotoStore());
const { store } = photos;
const manager = await createManager(store);

const { signal } = new AbortController();

const petWithPhoto = (image: Buffer) => addPetWithPhoto(store, manager, image);

const photoOf = async (petId: number) => (await readPhotos(store, manager, petId))[0];

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
    const lost = await claimPhoto(db, 20, 0n);
    expect(await processAll(photos)).toBe(0);
    await expireClaims(store);
    expect(await processAll(photos)).toBe(1);
    expect(await photoOf(petId)).toMatchObject({ status: 'ready', width: 320 });
    const late =
      lost &&
      (await store.dependencies.catalogue.transaction((tx) => markReady(tx, lost, { width: 1, height: 1, placeholder: 'x' }), theService));
    expect(late).toBe(false);
  });

  test('that five workers did not finish has failed with a code, and is processed again when it is sent again', async () => {
    const image = await makeImage('green');
    const petId = await petWithPhoto(image);
    for (let attempt = 1; attempt <= 5; attempt += 1) {
      expect((await claimPhoto(store.dependencies.db, 20, 0n))?.attempts).toBe(attempt);
      await expireClaims(store);
    }
    await processAll(photos);
    expect(await photoOf(petId)).toMatchObject({
      status: 'failed',
      failure: { code: 'not_processed', message: expect.stringContaining('in 5 attempts') },
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
      await expect(
        processPhoto({ ...store.dependencies, store: broken(operation), makePictures, signal, turn: { clientId: 0n } }),
      ).rejects.toThrow(`no ${operation}`);
      await expireClaims(store);
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
    expect(await processPhoto({ ...store.dependencies, store: removing, makePictures, signal, turn: { clientId: 0n } })).toBe(1);
    expect(await readPhotos(store, manager, petId)).toEqual([]);
  });
});

describe('Photos of several clients', () => {
  test('are processed in turns: twenty of one client delay a photo of another by one', async () => {
    const { db } = store.dependencies;
    const busy = await createManager(store);
    const other = await createManager(store);
    for (let i = 0; i < 4; i += 1) {
      const { id } = await addPet(store, busy);
      for (let j = 0; j < 5; j += 1)
        expect((await sendPhoto(store, busy, id, await makeImage(`rgb(${i * 60}, ${j * 50}, 9)`))).status).toBe(202);
    }
    const { rowCount } = await db.query({ text: "select from photos where status = 'processing'" });
    expect(rowCount).toBe(20);
    const { id } = await addPet(store, other);
    expect((await sendPhoto(store, other, id, await makeImage('ivory'))).status).toBe(202);
    const turn = { clientId: 0n };
    const ready = async () => (await photoOf(id))?.status === 'ready';
    let processed = 0;
    while (!(await ready())) processed += await processPhoto({ ...store.dependencies, store: photos.files, makePictures, signal, turn });
    expect(processed).toBeLessThanOrEqual(2);
    await db.write({ text: "delete from photos where status = 'processing'" });
  });
});

describe('What deletes files', () => {
  const day = 86_400_000;
  const processed = async (petId: number) => {
    await processAll(photos);
    return petId;
  };
  const removePhotoOf = async (petId: number) => {
    const photo = await photoOf(petId);
    expect(photo?.status).toBe('ready');
    await store.call('DELETE', `/v1/pets/${petId}/photos/${photo?.id}`, { key: manager.key });
  };
  const countOpenTransactions = async () => {
    const text = `select count(*) from pg_stat_activity where datname = current_database() and state like 'idle in transaction%'`;
    return (await store.read<{ count: bigint }>(text))[0]?.count;
  };
  const age = async (ms: number) => {
    const at = new Date(Date.now() - ms);
    await store.write(
      `with old as (delete from removed_photo_bytes returning client_id, bytes, files)
        insert into removed_photo_bytes (client_id, bytes, files, removed_at) select client_id, bytes, files, $1 from old`,
      at,
    );
    for (const part of ['originals', 'photos'] as const) {
      for (const name of await filesIn(photos.folder, part)) {
        const levels = part === 'photos' ? [name.slice(0, 2), name.slice(2, 4)] : [];
        await utimes(path.join(photos.folder, part, ...levels, name), at, at);
      }
    }
  };

  const sweep = (files: PhotoStore = photos.files) => sweepNow(store.dependencies.db, files, day);
  const countFiles = async (part: 'originals' | 'photos') => (await filesIn(photos.folder, part)).length;

  test('deletes after a day what no photo refers to, and nothing else', async () => {
    await processAll(photos);
    await age(2 * day);
    await sweep();
    const kept = await petWithPhoto(await makeImage('maroon'));
    const removed = await petWithPhoto(await makeImage('teal'));
    const twin = await petWithPhoto(await makeImage('maroon'));
    await processAll(photos);
    const waiting = await petWithPhoto(await makeImage('silver'));
    await photos.files.put('originals/left', Buffer.from('left by a killed process'));
    const before = await countFiles('photos');
    const photo = await photoOf(removed);
    await store.call('DELETE', `/v1/pets/${removed}/photos/${photo?.id}`, { key: manager.key });
    await store.call('DELETE', `/v1/pets/${twin}`, { key: manager.key });
    await age(day - 60_000);
    await sweep();
    expect([await countFiles('photos'), await countFiles('originals')]).toEqual([before, 2]);
    await age(day + 60_000);
    await sweep();
    expect([await countFiles('photos'), await countFiles('originals')]).toEqual([before - 1, 1]);
    for (const { url } of (await photoOf(kept))?.urls ?? []) expect((await store.call('GET', url)).status).toBe(200);
    await processAll(photos);
    expect(await photoOf(waiting)).toMatchObject({ status: 'ready' });
  });

  test('with a slow store has no transaction open, delays no other photo, and takes no picture from one that is made again', async () => {
    const image = await makeImage('orchid');
    await removePhotoOf(await petWithPhoto(image).then(processed));
    await age(day + 60_000);
    const deleting = Promise.withResolvers<void>();
    const mayDelete = Promise.withResolvers<void>();
    const slow: PhotoStore = new Proxy(photos.files, {
      get: (target, name) => {
        const method = Reflect.get(target, name).bind(target);
        if (name !== 'delete') return method;
        return async (file: FileName) => {
          if (file.startsWith('photos/')) {
            deleting.resolve();
            await mayDelete.promise;
          }
          return method(file);
        };
      },
    });
    const sweeping = sweep(slow);
    await deleting.promise;
    expect(await countOpenTransactions()).toBe(0n);
    const [twin, other] = [await petWithPhoto(image), await petWithPhoto(await makeImage('salmon'))];
    await processAll(photos);
    expect([(await photoOf(twin))?.status, (await photoOf(other))?.status]).toEqual(['processing', 'ready']);
    mayDelete.resolve();
    await sweeping;
    await expireClaims(store);
    await processAll(photos);
    const shown = await photoOf(twin);
    expect(shown).toMatchObject({ status: 'ready' });
    for (const { url } of shown?.urls ?? []) expect((await store.call('GET', url)).status).toBe(200);
  });

  test('leaves a picture that a photo has got since the sweep looked, and one that another sweep deletes', async () => {
    const { db } = store.dependencies;
    const petId = await petWithPhoto(await makeImage('indigo')).then(processed);
    const used = (await photoOf(petId))?.urls[0]?.url.slice('/photos/'.length, -'.webp'.length) ?? '';
    const unused = '0'.repeat(64);
    const claim = () => db.transaction((tx) => claimDeletion(tx, [used, unused], 60), theService);
    const first = await claim();
    expect(first?.hashes).toEqual([unused]);
    expect(await claim()).toBeUndefined();
    await db.write({ text: "update photo_deletions set until = now() - interval '1 s'" });
    const second = await claim();
    expect(second?.hashes).toEqual([unused]);
    // The first sweep was late, and must not end what the second has claimed.
    if (first) await endDeletion(db, first);
    expect(await claim()).toBeUndefined();
    if (second) await endDeletion(db, second);
    expect((await db.query({ text: 'select from photo_deletions' })).rowCount).toBe(0);
  });

  test('is done again after an error, when the claims have ended', async () => {
    await removePhotoOf(await petWithPhoto(await makeImage('khaki')).then(processed));
    await age(day + 60_000);
    const before = await countFiles('photos');
    await expect(sweep(broken('delete'))).rejects.toThrow('could not be deleted');
    await sweep();
    expect(await countFiles('photos')).toBe(before);
    await store.write("update photo_deletions set until = now() - interval '1 s'");
    await store.write("update removed_photo_bytes set claimed_until = now() - interval '1 s'");
    await sweep();
    expect(await countFiles('photos')).toBe(before - 1);
    expect(await store.read('select from removed_photo_bytes')).toEqual([]);
  });

  test('forgets the claim of a worker that was killed after it had deleted the picture', async () => {
    const { db } = store.dependencies;
    await db.write({
      text: `insert into photo_deletions (hash, until) values ('ended', now() - interval '1 s'), ('held', now() + interval '1 min')`,
    });
    await photos.files.put('originals/any', Buffer.from('left'));
    await sweepNow(db, photos.files);
    const { rows } = await db.write({ text: `delete from photo_deletions where hash in ('ended', 'held') returning hash` });
    expect(rows).toEqual([{ hash: 'held' }]);
  });
});
