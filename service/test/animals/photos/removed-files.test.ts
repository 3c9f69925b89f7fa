// What a photo leaves behind is a row, and a worker deletes its files a day later.

import { access } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { claimRemoved } from '../../../src/animals/photos/deletion-queries.ts';
import { deleteRemoved } from '../../../src/animals/photos/removed-files.ts';
import type { FileName, PhotoStore } from '../../../src/images/photo-store.ts';
import type { ServiceDb } from '../../../src/platform/db/handles.ts';
import { createManager } from '../../adoption-steps.ts';
import { disposeAfterAll } from '../../dispose-after-all.ts';
import { addPetWithPhoto, createPhotoStore, filesIn, makeImage, processAll, readPhotos } from '../../photo-steps.ts';

const photos = disposeAfterAll(await createPhotoStore());
const { store, files } = photos;
const { db } = store.dependencies;
const manager = await createManager(store);
/** As after a day. */
const tomorrow = -60;

const readyPhoto = async (color: string) => {
  const petId = await addPetWithPhoto(store, manager, await makeImage(color, { width: 1_000, height: 800 }));
  await processAll(photos);
  return petId;
};
const removePet = async (petId: number) => expect((await store.call('DELETE', `/v1/pets/${petId}`, { key: manager.key })).status).toBe(204);
const deleteAll = async (worker: ServiceDb = db, place: PhotoStore = files) => {
  let sum = 0;
  for (let count = 1; count > 0; sum += count) count = await deleteRemoved(worker, place, tomorrow);
  return sum;
};
const queued = () => store.read<{ files: FileName[]; bytes: bigint }>('select files, bytes from removed_photo_bytes order by id');
const counted = async () =>
  Number((await store.read<{ bytes: bigint }>('select coalesce(sum(bytes), 0)::bigint as bytes from photo_storage'))[0]?.bytes);
const countPictures = async () => (await filesIn(photos.folder, 'photos')).length;
const endClaims = async () => {
  await store.write("update removed_photo_bytes set claimed_until = now() - interval '1 s'");
  await store.write("update photo_deletions set until = now() - interval '1 s'");
};

/** Counts the calls of a store, by method. */
function counting(): { place: PhotoStore; calls: Record<string, number> } {
  const calls: Record<string, number> = {};
  const place = new Proxy(files, {
    get: (target, name) => {
      calls[String(name)] = (calls[String(name)] ?? 0) + 1;
      return Reflect.get(target, name).bind(target);
    },
  });
  return { place, calls };
}

describe('The queue of removed files', () => {
  test('costs what was removed: no file is listed, and with nothing due the store is not asked at all', async () => {
    const petIds = [await readyPhoto('red'), await readyPhoto('green'), await readyPhoto('blue')];
    await deleteAll();
    const before = await countPictures();
    const idle = counting();
    expect(await deleteRemoved(db, idle.place, tomorrow)).toBe(0);
    await removePet(petIds[1] ?? 0);
    expect(await deleteRemoved(db, idle.place)).toBe(0);
    expect(idle.calls).toEqual({});
    const { place, calls } = counting();
    expect(await deleteRemoved(db, place, tomorrow)).toBe(1);
    const [deleted, kept] = [before - (await countPictures()), await countPictures()];
    // One read of the mark.
    expect(calls).toEqual({ get: 1, delete: deleted });
    expect([deleted, kept]).toEqual([2, 4]);
  });

  test('has a row for every file that is left behind, whichever process leaves it', async () => {
    await deleteAll();
    const petId = await addPetWithPhoto(store, manager, await makeImage('navy', { width: 1_000, height: 800 }));
    const [{ original } = { original: '' }] = await store.read<{ original: string }>(
      'select original_name as original from photos where pet_id = $1',
      petId,
    );
    const picture = (letter: string): FileName => `photos/${letter.repeat(64)}.webp`;
    const plan = (letters: string, bytes: number) =>
      store.write(
        'update photos set files = $2, pictures_bytes = $3 where pet_id = $1',
        petId,
        JSON.stringify([...letters].map((letter) => ({ width: 1, height: 1, hash: letter.repeat(64) }))),
        bytes,
      );
    await plan('ab', 10);
    expect(await queued()).toEqual([]);
    // Made again, with another second picture of the same size.
    await plan('ac', 10);
    expect(await queued()).toEqual([{ files: [picture('b')], bytes: 0n }]);
    await store.write("update photos set original_name = 'originals/again', original_bytes = 5 where pet_id = $1", petId);
    await store.write(
      "update photos set status = 'failed', failure = 'not_processed', files = null, pictures_bytes = null where pet_id = $1",
      petId,
    );
    await store.write(
      "update photos set status = 'processing', failure = null, original_name = 'originals/third' where pet_id = $1",
      petId,
    );
    await plan('d', 7);
    await store.write('delete from photos where pet_id = $1', petId);
    expect((await queued()).slice(1)).toEqual([
      { files: [original], bytes: 0n },
      { files: [picture('a'), picture('c'), 'originals/again'], bytes: 10n },
      { files: [picture('d'), 'originals/third'], bytes: 12n },
    ]);
    await store.write('delete from removed_photo_bytes');
    await store.write('update photo_storage set bytes = bytes - 22');
    await files.delete(original as FileName);
  });

  test('deletes the original that a worker left that was killed as soon as its photo was ready', async () => {
    const petId = await addPetWithPhoto(store, manager, await makeImage('teal'));
    const [original = ''] = await filesIn(photos.folder, 'originals');
    await processAll(photos);
    await files.put(`originals/${original}`, Buffer.from('not deleted'));
    await deleteAll();
    expect(await filesIn(photos.folder, 'originals')).toEqual([]);
    expect((await readPhotos(store, manager, petId))[0]?.status).toBe('ready');
  });

  test('leaves a picture that another photo has too, and the row goes', async () => {
    const [one, other] = [await readyPhoto('olive'), await readyPhoto('olive')];
    await deleteAll();
    const before = await countPictures();
    await removePet(one);
    expect([await deleteAll(), await countPictures()]).toEqual([1, before]);
    await removePet(other);
    expect([await deleteAll(), await countPictures()]).toEqual([1, before - 2]);
  });

  test('is not held up by a file that can not be deleted, which is tried again', async () => {
    const petIds = [await readyPhoto('plum'), await readyPhoto('pink')];
    await deleteAll();
    for (const petId of petIds) await removePet(petId);
    const [stuck] = (await queued())[0]?.files ?? [];
    const place: PhotoStore = new Proxy(files, {
      get: (target, name) => {
        const method = Reflect.get(target, name).bind(target);
        return name === 'delete' ? async (file: FileName) => (file === stuck ? Promise.reject(new Error('stuck')) : method(file)) : method;
      },
    });
    await expect(deleteRemoved(db, place, tomorrow)).rejects.toThrow('1 files of removed photos could not be deleted');
    expect((await queued()).map((row) => row.files[0])).toEqual([stuck]);
    await endClaims();
    expect([await deleteAll(), await queued()]).toEqual([1, []]);
  });
});

describe('Workers that share the queue', () => {
  const addRows = async (count: number) => {
    const names = Array.from({ length: count }, (_, i): FileName => `photos/${i.toString(16).padStart(64, '0')}.webp`);
    for (const name of names) await files.put(name, Buffer.from('x'));
    await store.write(
      `with added as (insert into removed_photo_bytes (client_id, bytes, files) select $1, 1, array[name] from unnest($2::text[]) as name returning 1)
        insert into photo_storage as s select $1, count(*) from added on conflict (client_id) do update set bytes = s.bytes + excluded.bytes`,
      manager.clientId,
      names,
    );
    return names;
  };

  test('try what they could not delete after everything else, and those that were tried last at the end', async () => {
    await deleteAll();
    const stuck = new Set(await addRows(250));
    const tried: FileName[] = [];
    const place: PhotoStore = new Proxy(files, {
      get: (target, name) => {
        const method = Reflect.get(target, name).bind(target);
        if (name !== 'delete') return method;
        return async (file: FileName) => {
          tried.push(file);
          return stuck.has(file) ? Promise.reject(new Error('stuck')) : method(file);
        };
      },
    });
    const runThrice = async () => {
      for (let run = 0; run < 3; run += 1) await expect(deleteRemoved(db, place, tomorrow)).rejects.toThrow('could not be deleted');
    };
    await runThrice();
    expect(new Set(tried)).toEqual(stuck);
    await removePet(await readyPhoto('gold'));
    expect(await deleteRemoved(db, place, tomorrow)).toBeGreaterThan(0);
    tried.length = 0;
    await endClaims();
    await runThrice();
    expect(new Set(tried)).toEqual(stuck);
    // While all are claimed nothing can be tried, but what is late does not look done.
    expect(await deleteRemoved(db, place, tomorrow)).toBe(0);
    const anHourLater = tomorrow - 3_600;
    await expect(deleteRemoved(db, place, anHourLater)).rejects.toThrow('removed more than a day ago are left');
    stuck.clear();
    await endClaims();
    await deleteAll();
    expect(await queued()).toEqual([]);
  });

  test('never take the same row, and give back every byte once', async () => {
    await deleteAll();
    const before = await counted();
    await addRows(250);
    const claim = () => claimRemoved(db, { of: 'removed-files', ageSecondsMin: tomorrow, sizeMax: 100, seconds: 60 });
    const claims = await Promise.all([claim(), claim(), claim()]);
    expect(claims.map((rows) => rows.length).toSorted()).toEqual([100, 100, 50]);
    expect(new Set(claims.flat().map(({ id }) => id)).size).toBe(250);
    await endClaims();
    const counts = await Promise.all([deleteAll(), deleteAll(), deleteAll()]);
    expect(counts.reduce((sum, count) => sum + count)).toBe(250);
    expect([await queued(), await counted()]).toEqual([[], before]);
  });

  test('may be killed before any step: then the bytes count until the files are gone, and another worker does the rest', async () => {
    await deleteAll();
    const before = await counted();
    const exists = async (name: FileName) =>
      access(path.join(photos.folder, 'photos', name.slice(7, 9), name.slice(9, 11), name.slice(7))).then(
        () => true,
        () => false,
      );
    let step = 0;
    for (let isKilled = true; isKilled; step += 1) {
      const names = await addRows(12);
      const killed = killedBefore(step);
      isKilled = await deleteRemoved(killed.of(db), killed.of<PhotoStore>(files), tomorrow).then(
        () => false,
        () => true,
      );
      const left = (await queued()).length;
      expect(await counted()).toBe(before + left);
      const there = (await Promise.all(names.map(exists))).filter(Boolean).length;
      expect(there).toBeLessThanOrEqual(left);
      await endClaims();
      await deleteAll();
      expect([await queued(), await counted(), ...(await Promise.all(names.map(exists)))]).toEqual([[], before, ...names.map(() => false)]);
    }
    expect(step).toBeGreaterThan(15);
  });
});

/** Every call from this one on fails, of whatever was wrapped; also inside of transactions, which are then rolled back. */
function killedBefore(step: number): { of: <T extends object>(target: T) => T } {
  let calls = 0;
  const of = <T extends object>(target: T): T =>
    new Proxy(target, {
      get: (object, name) => {
        const value = Reflect.get(object, name);
        if (typeof value !== 'function') return value;
        return async (...args: unknown[]) => {
          if (calls++ >= step) throw new Error('killed');
          const [work, ...rest] = args;
          if (name !== 'transaction' || typeof work !== 'function') return value.apply(object, args);
          const wrapped = async (tx: object) => {
            const result = await work(of(tx));
            if (calls++ >= step) throw new Error('killed before the commit');
            return result;
          };
          return value.call(object, wrapped, ...rest);
        };
      },
    });
  return { of };
}
