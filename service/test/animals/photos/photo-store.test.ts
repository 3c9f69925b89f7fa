import { mkdtempSync, rmSync } from 'node:fs';
import { stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { buffer } from 'node:stream/consumers';
import { AwsClient } from 'aws4fetch';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { sweepNow } from '../../../../testkit/photo-sweep.ts';
import { hasRadosgw, type Radosgw, startRadosgw } from '../../../../testkit/radosgw.ts';
import { writeMark } from '../../../src/animals/photos/photo-mark.ts';
import { DirectoryStore } from '../../../src/images/directory-store.ts';
import { type FileName, type PhotoStore, pictureName } from '../../../src/images/photo-store.ts';
import { S3Store } from '../../../src/images/s3-store.ts';
import { checkPhotos } from '../../../src/operations/doctor/photos-check.ts';
import type { S3Config } from '../../../src/platform/config.ts';
import { addPet, createManager } from '../../adoption-steps.ts';
import { filesIn, makeImage, processAll, readPhotos, sendPhoto } from '../../photo-steps.ts';
import { createTestStore } from '../../test-store.ts';

const folder = mkdtempSync(path.join(tmpdir(), 'homeward-photo-store-'));
const isInstalled = await hasRadosgw();
if (!isInstalled) console.warn('Ceph (radosgw, ceph-mon, ceph-osd, ceph-common) is not installed: photos in a bucket are not tested here.');
const stores = ['a directory', ...(isInstalled ? ['a bucket'] : [])];
let radosgw: Radosgw | undefined;
let s3: S3Config | undefined;
let store: PhotoStore;
beforeAll(async () => {
  if (!isInstalled) return;
  radosgw = await startRadosgw();
  const { endpoint, accessKeyId, secretAccessKey } = radosgw;
  s3 = { bucket: 'photos', region: 'us-east-1', endpoint, accessKeyId, secretAccessKey };
  // The bucket is made by the operator.
  const client = new AwsClient({ accessKeyId, secretAccessKey, service: 's3', region: 'us-east-1' });
  const { status } = await client.fetch(`${endpoint}/photos`, { method: 'PUT' });
  if (status !== 200) throw new Error(`the bucket was not made: ${status}`);
});
afterAll(async () => {
  rmSync(folder, { recursive: true, force: true });
  await radosgw?.[Symbol.asyncDispose]();
});

const requireS3 = (): S3Config => {
  if (!s3) throw new Error('Ceph is not started');
  return s3;
};

const read = async (name: FileName) => {
  const file = await store.get(name);
  return file && { bytes: file.bytes, content: await buffer(file.stream) };
};

async function listed(part: 'originals' | 'photos', from: PhotoStore = store): Promise<FileName[]> {
  const found: FileName[] = [];
  for await (const page of from.list(part)) found.push(...page);
  return found;
}

async function* chunks(...parts: Array<string | Error>): AsyncIterable<Buffer> {
  for (const part of parts) {
    if (part instanceof Error) throw part;
    yield Buffer.from(part);
  }
}

const hash = 'ab12'.repeat(16);

describe.each(stores)('A store of photos in %s', (kind) => {
  beforeAll(() => {
    store = kind === 'a bucket' ? new S3Store(requireS3()) : new DirectoryStore(folder);
  });

  test('returns what was put, from a buffer and from a stream', async () => {
    await store.put(pictureName(hash), Buffer.from('picture'));
    expect(await read(pictureName(hash))).toEqual({ bytes: 7, content: Buffer.from('picture') });
    await store.put('originals/one', chunks('a', 'bc'));
    expect(await read('originals/one')).toEqual({ bytes: 3, content: Buffer.from('abc') });
  });

  test('tells the size of a file without reading it', async () => {
    expect(await store.sizeOf(pictureName(hash))).toBe(7);
    expect(await store.sizeOf(pictureName('0'.repeat(64)))).toBeUndefined();
  });

  test('replaces a file as a whole', async () => {
    await store.put('originals/two', Buffer.from('longer'));
    await store.put('originals/two', Buffer.from('new'));
    expect((await read('originals/two'))?.content.toString()).toBe('new');
  });

  test('has nothing of a file whose stream has failed', async () => {
    await expect(store.put('originals/failed', chunks('a', new Error('cut off')))).rejects.toThrow('cut off');
    expect(await store.get('originals/failed')).toBeUndefined();
    expect((await listed('originals')).toSorted()).toEqual(['originals/one', 'originals/two']);
  });

  test('lists files, tells the time of their last change, and deletes them', async () => {
    expect(await listed('photos')).toEqual([pictureName(hash)]);
    const modifiedAt = await store.modifiedAt(pictureName(hash));
    expect(Math.abs(Date.now() - (modifiedAt?.getTime() ?? 0))).toBeLessThan(60_000);
    expect(await store.modifiedAt(pictureName('0'.repeat(64)))).toBeUndefined();
    for (const name of [...(await listed('originals')), ...(await listed('photos'))]) await store.delete(name);
    expect([...(await listed('originals')), ...(await listed('photos'))]).toEqual([]);
  });

  test('has no file that was never put, and deleting it is no error', async () => {
    expect(await store.get(pictureName('0'.repeat(64)))).toBeUndefined();
    await store.delete(pictureName('0'.repeat(64)));
  });
});

describe.skipIf(!isInstalled)('A bucket of photos', () => {
  /** What each operation says. */
  const errorsOf = async (config: Partial<S3Config>) => {
    const refusing = new S3Store({ ...requireS3(), ...config });
    const list = async () => {
      for await (const _ of refusing.list('photos')) break;
    };
    const acts = [
      () => refusing.get(pictureName(hash)),
      () => refusing.put(pictureName(hash), Buffer.from('x')),
      () => refusing.delete(pictureName(hash)),
      list,
    ];
    const errors = [];
    for (const act of acts) errors.push(await act().then(() => 'no error', String));
    return errors;
  };

  test('refuses a wrong secret and an unknown key', async () => {
    expect(await errorsOf({ secretAccessKey: 'wrong' })).toEqual(Array(4).fill(expect.stringContaining('403 SignatureDoesNotMatch')));
    expect(await errorsOf({ accessKeyId: 'nobody' })).toEqual(Array(4).fill(expect.stringContaining('403 InvalidAccessKeyId')));
  });

  test('is examined by doctor, which names the setting to correct', async () => {
    expect(await checkPhotos({ s3: requireS3() })).toMatchObject({ severity: 'ok' });
    for (const [wrong, fix] of [
      [{ secretAccessKey: 'wrong' }, /^Correct HOMEWARD_PHOTOS_S3_SECRET/],
      [{ accessKeyId: 'nobody' }, /^Correct HOMEWARD_PHOTOS_S3_KEY_ID/],
      [{ bucket: 'absent' }, /^Create the bucket/],
    ] as const) {
      const finding = await checkPhotos({ s3: { ...requireS3(), ...wrong } });
      expect(finding).toMatchObject({ severity: 'broken', fix: expect.stringMatching(fix) });
    }
  });

  test('that does not exist is an error, and not a missing file', async () => {
    expect(await errorsOf({ bucket: 'absent' })).toEqual(Array(4).fill(expect.stringContaining('404 NoSuchBucket')));
  });

  test('can not be read without a key', async () => {
    await new S3Store(requireS3()).put(pictureName(hash), Buffer.from('picture'));
    expect((await fetch(`${requireS3().endpoint}/photos/${pictureName(hash)}`)).status).toBe(403);
  });

  test('lists more than a page', async () => {
    const many = new S3Store(requireS3());
    const names = Array.from({ length: 1_005 }, (_, i): FileName => `originals/${String(i).padStart(5, '0')}`);
    for (let i = 0; i < names.length; i += 67) await Promise.all(names.slice(i, i + 67).map((name) => many.put(name, Buffer.from('x'))));
    expect((await listed('originals', many)).toSorted()).toEqual(names);
  });

  test('takes a stream of 20 MB, and gives it back', async () => {
    const large = new S3Store(requireS3());
    const part = Buffer.alloc(1_000_000, 7);
    await large.put('originals/large', chunksOf(part, 20));
    const file = await large.get('originals/large');
    expect(file?.bytes).toBe(20_000_000);
    expect(file && (await buffer(file.stream)).equals(Buffer.alloc(20_000_000, 7))).toBe(true);
  });

  test('serves a whole store: a photo is sent, processed, shown and swept', async () => {
    const { endpoint, accessKeyId, secretAccessKey } = requireS3();
    const env = {
      HOMEWARD_PHOTOS: 's3://photos',
      HOMEWARD_PHOTOS_S3_ENDPOINT: endpoint,
      HOMEWARD_PHOTOS_S3_KEY_ID: accessKeyId,
      HOMEWARD_PHOTOS_S3_SECRET: secretAccessKey,
    };
    await using service = await createTestStore({ env });
    const files = new S3Store(requireS3());
    const manager = await createManager(service);
    const { id } = await addPet(service, manager);
    // The tests before have left pictures there, which a new store must not take for its own.
    expect((await sendPhoto(service, manager, id, await makeImage('tan'))).status).toBe(503);
    await writeMark(service.dependencies.db, files);
    expect((await sendPhoto(service, manager, id, await makeImage('tan'))).status).toBe(202);
    await processAll({ store: service, files });
    const [photo] = await readPhotos(service, manager, id);
    expect(photo).toMatchObject({ status: 'ready' });
    const shown = await fetch(service.url + (photo?.urls[0]?.url ?? ''));
    expect([shown.status, shown.headers.get('content-type')]).toEqual([200, 'image/webp']);
    await service.call('DELETE', `/v1/pets/${id}/photos/${photo?.id}`, { key: manager.key });
    await sweepNow(service.dependencies.db, files);
    expect((await fetch(service.url + (photo?.urls[0]?.url ?? ''))).status).toBe(404);
  });
});

async function* chunksOf(part: Buffer, times: number): AsyncIterable<Buffer> {
  for (let i = 0; i < times; i += 1) yield part;
}

describe('A directory of photos', () => {
  beforeAll(() => {
    store = new DirectoryStore(folder);
  });

  test('has two levels of folders, and files that others on the machine can not read', async () => {
    await store.put(pictureName(hash), Buffer.from('picture'));
    const { mode } = await stat(path.join(folder, 'photos/ab/12', `${hash}.webp`));
    expect(mode & 0o007).toBe(0);
    expect(await filesIn(folder, 'photos')).toEqual([`${hash}.webp`]);
  });
});
