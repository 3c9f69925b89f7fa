// Once a week one worker looks at all files, for those that no row names.

import { existsSync, mkdirSync, renameSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import { beforeEach, describe, expect, test } from 'vitest';
import { claimDeletion, claimScan, selectUnusedHashes } from '../../../src/animals/photos/deletion-queries.ts';
import { type ScanPace, scanFiles } from '../../../src/animals/photos/photo-scan.ts';
import { openDependencies } from '../../../src/dependencies.ts';
import { theService } from '../../../src/domain/actor.ts';
import { type FileName, type PhotoStore, pictureName } from '../../../src/images/photo-store.ts';
import { S3Store } from '../../../src/images/s3-store.ts';
import { addPet, createManager } from '../../adoption-steps.ts';
import { disposeAfterAll } from '../../dispose-after-all.ts';
import { createPhotoStore, filesIn } from '../../photo-steps.ts';

const photos = disposeAfterAll(await createPhotoStore());
const { store, files, folder } = photos;
const { db } = store.dependencies;
const manager = await createManager(store);
const day = 86_400_000;
const { signal } = new AbortController();

/** Pictures in two folders, 700 in each, and a photo that refers to every one of them but the last: more than a page. */
const hashes = Array.from({ length: 1_400 }, (_, i) => (i < 700 ? '0a1b' : 'f0e1') + i.toString(16).padStart(60, '0'));
const lost = hashes.at(-1) ?? '';
const { id: petId } = await addPet(store, manager);
await files.put(
  'homeward-store-id',
  Buffer.from((await store.read<{ id: string }>('select photos_id as id from deployment'))[0]?.id ?? ''),
);
await store.write('update deployment set photos_marked_at = now()');
const addPhotos = (named: readonly string[]) =>
  store.write(
    `insert into photos (pet_id, client_id, position, status, original_hash, original_name, width, height, placeholder, files, pictures_bytes)
    select $1, $2, 0, 'ready', hash, 'originals/' || hash, 1, 1, '', jsonb_build_array(jsonb_build_object('width', 1, 'height', 1, 'hash', hash)), 1
    from unnest($3::text[]) as hash`,
    petId,
    manager.clientId,
    named,
  );
await addPhotos(hashes.slice(0, -1));

const pathOf = (hash: string) => path.join(folder, 'photos', hash.slice(0, 2), hash.slice(2, 4), `${hash}.webp`);
const makeOld = (file: string, ms = 2 * day) => utimesSync(file, new Date(Date.now() - ms), new Date(Date.now() - ms));

beforeEach(async () => {
  await store.write('update photo_scan set due_at = now(), started_at = null, scanned_to = null, claimed_until = null');
  for (const hash of hashes) {
    mkdirSync(path.dirname(pathOf(hash)), { recursive: true });
    writeFileSync(pathOf(hash), 'x');
    makeOld(pathOf(hash));
  }
});

/** Without pauses, which are recorded. */
function quick(onPause = () => {}): ScanPace & { pausesMs: number[] } {
  const pausesMs: number[] = [];
  const pause = async (ms: number) => {
    pausesMs.push(ms);
    onPause();
  };
  return { ageMs: day, pausesMs, pause };
}

/** The names that were listed. */
function listing(): { place: PhotoStore; listed: FileName[]; lists: number } {
  const found = { listed: [] as FileName[], lists: 0 };
  const place = new Proxy(files, {
    get: (target, name) => {
      if (name !== 'list') return Reflect.get(target, name).bind(target);
      return async function* (...args: Parameters<PhotoStore['list']>) {
        found.lists += 1;
        for await (const page of files.list(...args)) {
          found.listed.push(...page);
          yield page;
        }
      };
    },
  });
  return Object.assign(found, { place });
}

const countPictures = async () => (await filesIn(folder, 'photos')).length;
const state = async () =>
  (
    await store.read<{ days: number; isFree: boolean; to: string | null }>(
      `select round(extract(epoch from due_at - now()) / 86400)::int as days, claimed_until is null as "isFree", scanned_to as to from photo_scan`,
    )
  )[0];

describe('The weekly scan', () => {
  test('deletes what no photo refers to and no removal has recorded, in both folders, after a day, and nothing else', async () => {
    // A copy for a backup that is made within a day after a removal has its files.
    const removed = hashes[3] ?? '';
    await store.write('delete from photos where original_hash = $1', removed);
    const [young, original] = ['9'.repeat(64), 'originals/crashed' as const];
    await files.put(pictureName(young), Buffer.from('x'));
    await files.put(original, Buffer.from('x'));
    await files.put('originals/sending', Buffer.from('x'));
    makeOld(path.join(folder, original));
    writeFileSync(path.join(folder, 'photos/notes.txt'), 'of somebody else');
    makeOld(path.join(folder, 'photos/notes.txt'));
    expect(await scanFiles({ db, store: files, signal }, quick())).toBe(2);
    expect([await files.sizeOf(pictureName(lost)), await countPictures()]).toEqual([undefined, 1_399 + 2]);
    expect(await filesIn(folder, 'originals')).toEqual(['sending']);
    expect(await files.sizeOf(pictureName(removed))).toBe(1);
    await addPhotos([removed]);
    await store.write('delete from removed_photo_bytes');
    await store.write('update photo_storage set bytes = bytes - 1');
    await files.delete(pictureName(young));
    await files.delete('originals/sending');
    rmSync(path.join(folder, 'photos/notes.txt'));
  });

  test('is made by one of several workers, and again after a week', async () => {
    const places = [listing(), listing(), listing()];
    const deleted = await Promise.all(places.map(({ place }) => scanFiles({ db, store: place, signal }, quick())));
    expect(deleted.toSorted()).toEqual([0, 0, 1]);
    expect(places.map(({ listed }) => listed.length).toSorted((a, b) => a - b)).toEqual([0, 0, 1_400]);
    expect(await state()).toEqual({ days: 7, isFree: true, to: null });
    const later = listing();
    expect([await scanFiles({ db, store: later.place, signal }, quick()), later.lists]).toEqual([0, 0]);
  });

  test('pauses nineteen times as long as it has worked, so that it takes a twentieth of a core', async () => {
    const { user, system } = process.cpuUsage();
    const pace = quick();
    await scanFiles({ db, store: files, signal }, pace);
    const used = process.cpuUsage();
    const cpuMs = (used.user - user + used.system - system) / 1_000;
    expect(pace.pausesMs).toHaveLength(2);
    const pausedMs = pace.pausesMs.reduce((sum, ms) => sum + ms);
    expect(cpuMs / (cpuMs + pausedMs)).toBeLessThan(0.055);
  });

  test('stops at once when its worker does, and another one goes on where it was', async () => {
    const stopping = new AbortController();
    const [first, second] = [listing(), listing()];
    await scanFiles({ db, store: first.place, signal: stopping.signal }, { ageMs: day, pause: async () => stopping.abort() });
    expect(first.listed).toHaveLength(1_000);
    expect(await state()).toMatchObject({ days: 0, isFree: true, to: first.listed.at(-1) });
    expect(await scanFiles({ db, store: second.place, signal }, quick())).toBe(1);
    // The second folder, in which the first page has ended, and none of the first.
    expect(second.listed).toHaveLength(700);
    expect(new Set([...first.listed, ...second.listed]).size).toBe(1_400);
    expect(await state()).toMatchObject({ days: 7, to: null });
  });

  test('of a worker that was killed is taken over when its claim ends, and the first changes nothing any more', async () => {
    const { place, listed } = listing();
    expect(await claimScan(db, 60)).toMatchObject({ scannedTo: null });
    expect([await scanFiles({ db, store: place, signal }, quick()), listed.length]).toEqual([0, 0]);
    await store.write("update photo_scan set claimed_until = now() - interval '1 s'");
    const takeOver = async () => {
      await store.write("update photo_scan set claimed_until = now() - interval '1 s'");
      expect(await claimScan(db, 60)).toBeDefined();
    };
    await scanFiles({ db, store: place, signal }, { ageMs: day, pause: takeOver });
    expect(await state()).toMatchObject({ days: 0, isFree: false });
    // It has seen after its second page that the scan is another's.
    expect(listed).toHaveLength(1_400);
  });

  test('does not end on a disk that goes away meanwhile, and deletes nothing there', async () => {
    const away = `${folder}-away`;
    const unmount = () => {
      if (existsSync(away)) return;
      renameSync(folder, away);
      mkdirSync(folder);
    };
    await expect(scanFiles({ db, store: files, signal }, quick(unmount))).rejects.toThrow('are not where HOMEWARD_PHOTOS says');
    rmSync(folder, { recursive: true });
    renameSync(away, folder);
    expect(await state()).toMatchObject({ days: 0, isFree: true });
    expect(await countPictures()).toBe(1_400);
  });
});

test('With the settings of a worker, a look for a file reads the index, and not all photos', async () => {
  await using worker = await openDependencies(store.dependencies.config, { byIndex: true });
  const scans = await worker.db.transaction(async (tx) => {
    expect(await selectUnusedHashes({ transaction: (work) => work(tx) }, [lost, hashes[0] ?? ''])).toEqual([lost]);
    expect((await claimDeletion(tx, [lost, hashes[0] ?? ''], 60))?.hashes).toEqual([lost]);
    const text = `select seq_scan::int as all, idx_scan::int as by_index from pg_stat_xact_user_tables where relname = 'photos'`;
    return (await tx.query({ text })).rows;
  }, theService);
  expect(scans).toEqual([{ all: 0, by_index: 4 }]);
  await store.write('delete from photo_deletions');
});

describe('A bucket', () => {
  test('is listed page by page, and from a name on', async () => {
    const names = Array.from({ length: 2_500 }, (_, i): FileName => `photos/${i.toString(16).padStart(64, '0')}.webp`);
    const queries: URLSearchParams[] = [];
    await using server = createServer(({ url }, response) => {
      const query = new URL(url ?? '', 'http://bucket').searchParams;
      queries.push(query);
      const from = query.get('continuation-token') ?? query.get('start-after') ?? '';
      const page = names.filter((name) => name > from).slice(0, 1_000);
      const isLast = page.at(-1) === names.at(-1);
      const contents = page.map((name) => `<Contents><Key>${name}</Key><LastModified>2026-01-01T00:00:00Z</LastModified></Contents>`);
      response.end(
        `<ListBucketResult>${contents.join('')}${isLast ? '' : `<NextContinuationToken>${page.at(-1)}</NextContinuationToken>`}</ListBucketResult>`,
      );
    }).listen(0, '127.0.0.1');
    await new Promise((resolve) => server.once('listening', resolve));
    const endpoint = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const bucket = new S3Store({ bucket: 'photos', region: 'us-east-1', endpoint, accessKeyId: 'a', secretAccessKey: 'b' });
    const sizes = [];
    for await (const page of bucket.list('photos')) {
      // Not before this page was looked at.
      expect(queries).toHaveLength(sizes.push(page.length));
    }
    expect(sizes).toEqual([1_000, 1_000, 500]);
    const rest = [];
    for await (const page of bucket.list('photos', names[1_999])) rest.push(...page);
    expect([rest, queries.length]).toEqual([names.slice(2_000), 4]);
    expect(queries.at(-1)?.get('start-after')).toBe(names[1_999]);
  });
});
