// A store recognises its own photos: on a disk that is not mounted, or that is another store's, nothing is given up, swept or accepted.

import { mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { readFile, utimes } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { scanNow, sweepNow } from '../../../../testkit/photo-sweep.ts';
import { readMark, writeMark } from '../../../src/animals/photos/photo-mark.ts';
import { DirectoryStore } from '../../../src/images/directory-store.ts';
import { createManager } from '../../adoption-steps.ts';
import { homeward } from '../../cli/homeward-command.ts';
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

const markFile = 'homeward-store-id';

const photos = disposeAfterAll(await createPhotoStore());
const { store } = photos;
const manager = await createManager(store);

const photoOf = async (petId: number) => (await readPhotos(store, manager, petId))[0];
const run = (...args: string[]) =>
  homeward(args, {
    env: {
      DATABASE_URL: store.databaseUrl,
      REDIS_URL: store.dependencies.config.redisUrl,
      HOMEWARD_PHOTOS: photos.folder,
    },
  });

/** While it lasts, an empty directory is where the photos were. */
function unmounted(): Disposable {
  const away = `${photos.folder}-away`;
  renameSync(photos.folder, away);
  mkdirSync(photos.folder);
  return {
    [Symbol.dispose]: () => {
      rmSync(photos.folder, { recursive: true });
      renameSync(away, photos.folder);
    },
  };
}

describe('The mark of photos', () => {
  test('is written by the first worker, before anything else is changed', async () => {
    expect(await readMark(store.dependencies.db, photos.files)).toBe('none yet');
    const petId = await addPetWithPhoto(store, manager, await makeImage('red'));
    await processAll(photos);
    expect(await photoOf(petId)).toMatchObject({ status: 'ready' });
    const rows = await store.read<{ id: string }>('select photos_id as id from deployment');
    expect(await readFile(path.join(photos.folder, markFile), 'utf8')).toBe(`${rows[0]?.id}\n`);
    expect(await readMark(store.dependencies.db, photos.files)).toBe('own');
  });

  test('is missing on a disk that is not mounted: no photo fails, uploads are 503, and all is well when it is back', async () => {
    const petId = await addPetWithPhoto(store, manager, await makeImage('green'));
    {
      using _ = unmounted();
      for (let i = 0; i < 6; i += 1) {
        await expect(processAll(photos)).rejects.toThrow('are not where HOMEWARD_PHOTOS says');
        await expireClaims(store);
      }
      await expect(sweepNow(store.dependencies.db, photos.files)).rejects.toThrow(markFile);
      const sent = await sendPhoto(store, manager, petId, await makeImage('blue'));
      expect(sent).toMatchObject({ status: 503, json: { code: 'unavailable' } });
      expect(sent.text).toContain('does not find those that it has');
      expect(sent.headers['retry-after']).toBe('60');
      expect(await filesIn(photos.folder, 'originals')).toEqual([]);
      expect(await photoOf(petId)).toMatchObject({ status: 'processing' });
    }
    await processAll(photos);
    expect(await photoOf(petId)).toMatchObject({ status: 'ready' });
  });

  test("is not written where a store's pictures should be and are not, also before the first worker of this release", async () => {
    const { db } = store.dependencies;
    await db.write({ text: 'update deployment set photos_marked_at = null' });
    using _ = unmounted();
    expect(await readMark(db, photos.files)).toBe('missing');
  });

  test('of another store is never overwritten, and nothing of that store is swept', async () => {
    const folder = mkdtempSync(path.join(tmpdir(), 'homeward-other-photos-'));
    const files = new DirectoryStore(folder);
    await files.put(`photos/${'a'.repeat(64)}.webp`, Buffer.from('of another store'));
    writeFileSync(path.join(folder, markFile), '5f0c6f5e-0000-4000-8000-000000000000\n');
    await utimes(path.join(folder, 'photos/aa/aa', `${'a'.repeat(64)}.webp`), 0, 0);
    expect(await readMark(store.dependencies.db, files)).toBe('other');
    await expect(scanNow(store.dependencies.db, files)).rejects.toThrow('of another store');
    expect(await filesIn(folder, 'photos')).toHaveLength(1);
    rmSync(folder, { recursive: true });
  });

  test('is not written by a new store where there are pictures already', async () => {
    await using fresh = await createPhotoStore();
    await fresh.files.put(`photos/${'b'.repeat(64)}.webp`, Buffer.from('of a store of the release before'));
    expect(await readMark(fresh.store.dependencies.db, fresh.files)).toBe('other');
    await expect(scanNow(fresh.store.dependencies.db, fresh.files)).rejects.toThrow('of another store');
    expect(await filesIn(fresh.folder, 'photos')).toHaveLength(1);
  });

  test('is a new one after each move, so that a copy of the database is not taken for the original', async () => {
    await using fresh = await createPhotoStore();
    const { db } = fresh.store.dependencies;
    await writeMark(db, fresh.files);
    const first = await readFile(path.join(fresh.folder, markFile), 'utf8');
    await writeMark(db, fresh.files);
    expect(await readFile(path.join(fresh.folder, markFile), 'utf8')).not.toBe(first);
    expect(await readMark(db, fresh.files)).toBe('own');
  });

  test('that is no id is that of another store', async () => {
    const before = await readFile(path.join(photos.folder, markFile));
    writeFileSync(path.join(photos.folder, markFile), 'x'.repeat(10_000_000));
    expect(await readMark(store.dependencies.db, photos.files)).toBe('other');
    writeFileSync(path.join(photos.folder, markFile), before);
  });
});

describe('A missing original', () => {
  test('is looked for less and less often, never given up, and sent again by its partner', async () => {
    const { db } = store.dependencies;
    const image = await makeImage('yellow');
    const petId = await addPetWithPhoto(store, manager, image);
    rmSync(path.join(photos.folder, 'originals'), { recursive: true });
    const waits: number[] = [];
    for (const ageSeconds of [0, 0, 60, 3_000, 90_000]) {
      await db.write({
        text: "update photos set claimed_until = now() - interval '1 s', original_missing_since = original_missing_since - make_interval(secs => $1) where status = 'processing'",
        values: [ageSeconds],
      });
      expect(await processAll(photos)).toBe(1);
      const { rows } = await db.query<{ seconds: number }>({
        text: "select extract(epoch from claimed_until - now())::float8 as seconds from photos where status = 'processing'",
      });
      waits.push(Math.round(rows[0]?.seconds ?? Number.NaN));
    }
    expect(waits[0]).toBe(5);
    expect(waits[1]).toBeLessThanOrEqual(6);
    expect(waits[2]).toBeGreaterThanOrEqual(55);
    expect(waits[3]).toBeGreaterThan(3_000);
    expect(waits[4]).toBe(3_600);
    expect((await run('photos', 'check')).stdout).toContain('Originals that are not found and looked for again: 1.');
    expect((await sendPhoto(store, manager, petId, image)).json).toMatchObject({ status: 'processing' });
    await processAll(photos);
    expect(await photoOf(petId)).toMatchObject({ status: 'ready' });
  });
});

describe('homeward photos', () => {
  test('check finds no fault in a store that has all its files', async () => {
    const { status, stdout } = await run('photos', 'check');
    expect({ status, stdout }).toEqual({
      status: 0,
      stdout: `${photos.folder}: It is that of this store.\nPhotos: ready 3, processing 0, failed 0.\nPhotos without a file: 0 of 3.\n`,
    });
  });

  test('check names photos whose files are missing, and removes them only if it is told to, and only where the photos are', async () => {
    const petId = await addPetWithPhoto(store, manager, await makeImage('purple'));
    await processAll(photos);
    const photo = await photoOf(petId);
    const hash = /([0-9a-f]{64})/.exec(photo?.urls[0]?.url ?? '')?.[1] ?? '';
    rmSync(path.join(photos.folder, 'photos', hash.slice(0, 2), hash.slice(2, 4), `${hash}.webp`));
    const found = await run('photos', 'check');
    expect(found).toMatchObject({ status: 1, stdout: expect.stringContaining(`  photo ${photo?.id} of animal ${petId}\n`) });
    {
      using _ = unmounted();
      expect(await run('photos', 'check')).toMatchObject({ status: 1, stdout: expect.stringContaining('without a file: 4 of 4') });
      expect(await run('photos', 'check', '--remove-lost')).toMatchObject({
        status: 2,
        stderr: expect.stringContaining('Nothing is removed'),
      });
    }
    expect(await run('photos', 'check', '--remove-lost')).toMatchObject({
      status: 0,
      stdout: expect.stringContaining('Removed 1 of them'),
    });
    expect(await readPhotos(store, manager, petId)).toEqual([]);
  });

  test('mark makes an empty directory the place of photos, and uploads work again', async () => {
    const petId = await addPetWithPhoto(store, manager, await makeImage('white'));
    using _ = unmounted();
    expect(JSON.parse((await run('photos', 'mark', '--json')).stdout)).toEqual({ place: photos.folder, before: 'missing', mark: 'own' });
    expect((await sendPhoto(store, manager, petId, await makeImage('olive'))).status).toBe(202);
    expect(await run('photos', 'mark')).toMatchObject({ status: 0, stdout: `${photos.folder} is that of this store already.\n` });
  });

  test('needs to know where the photos are', async () => {
    const { DATABASE_URL, REDIS_URL } = {
      DATABASE_URL: store.databaseUrl,
      REDIS_URL: store.dependencies.config.redisUrl,
    };
    expect(await homeward(['photos', 'check'], { env: { DATABASE_URL, REDIS_URL } })).toMatchObject({
      status: 2,
      stderr: expect.stringContaining('HOMEWARD_PHOTOS is not set here'),
    });
  });
});
