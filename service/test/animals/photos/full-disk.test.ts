import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { canMount, SmallDisk } from '../../../../testkit/small-disk.ts';
import { processPhoto } from '../../../src/animals/photos/photo-processing.ts';
import { receivePhoto } from '../../../src/animals/photos/upload-listener.ts';
import { DirectoryStore } from '../../../src/images/directory-store.ts';
import { StoreFull } from '../../../src/images/photo-store.ts';
import { makePictures } from '../../../src/images/picture-maker.ts';
import { S3Store } from '../../../src/images/s3-store.ts';
import type { AppError } from '../../../src/platform/errors.ts';
import { addPet, createManager, placeOrder } from '../../adoption-steps.ts';
import { errorResponse } from '../../error-response.ts';
import { filesIn, makeImage, readPhotos, sendPhoto } from '../../photo-steps.ts';
import { createTestStore, type TestKey, type TestStore } from '../../test-store.ts';

const mayMount = await canMount();
if (!mayMount) console.warn('This user may not mount a disk: a full disk is not tested here. It takes root.');

/** With 2 GB free, photos are stored; below 1 GB they are not; below half of that no pictures either. It takes no memory for what is free. */
const roomyMegabytes = 2_000;
const tightMegabytes = 900;
const fullMegabytes = 400;
const { signal } = new AbortController();

describe.skipIf(!mayMount)('When the disk of photos has less than 1 GB free', () => {
  let disk: SmallDisk;
  let store: TestStore;
  let manager: TestKey;
  beforeAll(async () => {
    disk = await SmallDisk.mount(roomyMegabytes);
    store = await createTestStore({ env: { HOMEWARD_PHOTOS: disk.folder } });
    manager = await createManager(store);
  });
  afterAll(async () => {
    await store[Symbol.asyncDispose]();
    await disk[Symbol.asyncDispose]();
  });

  /** How much room there is, is looked at once a second. */
  const soon = (check: () => Promise<void>) => vi.waitFor(check);

  test('uploads are 409 photo_storage_full, waiting photos wait without an attempt, and everything else works', async () => {
    const { id } = await addPet(store, manager);
    const image = await makeImage('tan');
    expect((await sendPhoto(store, manager, id, image)).status).toBe(202);
    await disk.resize(tightMegabytes);
    const other = await makeImage('teal');
    const full = errorResponse(
      409,
      'photo_storage_full',
      'The store has no room for photos at the moment. Retry later; if it persists, tell the store.',
    );
    // Until then, this is the same photo.
    await soon(async () => expect(await sendPhoto(store, manager, id, image)).toMatchObject(full));
    expect(await sendPhoto(store, manager, id, other)).toMatchObject(full);
    expect(await filesIn(disk.folder, 'originals')).toHaveLength(1);

    const work = () =>
      processPhoto({ ...store.dependencies, store: new DirectoryStore(disk.folder), makePictures, signal, turn: { clientId: 0n } });
    await disk.resize(fullMegabytes);
    expect(await work()).toBe(0);
    const rows = await store.read('select status, attempts, claimed_until from photos');
    expect(rows).toEqual([{ status: 'processing', attempts: 0, claimed_until: null }]);
    expect((await store.call('GET', '/v1/pets', { key: manager.key })).status).toBe(200);
    expect((await store.call('GET', '/v1/listings', { key: manager.key })).status).toBe(200);
    expect((await placeOrder(store, manager, id)).status).toBe('placed');

    // Its original is deleted then, which makes room.
    await disk.resize(tightMegabytes);
    expect(await work()).toBe(1);
    expect((await readPhotos(store, manager, id))[0]?.status).toBe('ready');
    await disk.resize(roomyMegabytes);
    await soon(async () => expect((await sendPhoto(store, manager, id, other)).status).toBe(202));
  });
});

describe.skipIf(!mayMount)('A photo that meets the end of the disk', () => {
  test('while it arrives is 409 photo_storage_full, and nothing of it remains', async () => {
    await using disk = await SmallDisk.mount(1);
    const store = new DirectoryStore(disk.folder);
    const rejected = Promise.withResolvers<AppError>();
    const server = createServer((request, response) => {
      receivePhoto(store, request, signal).then(
        () => rejected.reject(new Error('it was stored')),
        (error) => rejected.resolve(error as AppError),
      );
      void rejected.promise.finally(() => response.writeHead(409, { connection: 'close' }).end());
    });
    await once(server.listen(0, '127.0.0.1'), 'listening');
    const { port } = server.address() as AddressInfo;
    const body = Buffer.concat([await makeImage('tan'), Buffer.alloc(3_000_000)]);
    await fetch(`http://127.0.0.1:${port}/`, { method: 'POST', body }).catch(() => {});
    expect(await rejected.promise).toMatchObject({ code: 'photo_storage_full', status: 409, headers: { connection: 'close' } });
    expect(await filesIn(disk.folder, 'originals')).toEqual([]);
    server.close();
  });

  test('while its pictures are written waits for another attempt, and none is lost', async () => {
    await using disk = await SmallDisk.mount(1);
    await using store = await createTestStore({ env: { HOMEWARD_PHOTOS: disk.folder } });
    const manager = await createManager(store);
    const { id } = await addPet(store, manager);
    const files = new DirectoryStore(disk.folder);
    await files.put('originals/one', await makeImage('tan'));
    await store.write(
      `insert into photos (pet_id, client_id, position, original_hash, original_name) values ($1, $2, 0, repeat('a', 64), 'originals/one')`,
      id,
      manager.clientId,
    );
    // Between its look at the disk and its writing, others have filled it.
    disk.fill();
    const answers = [true, false, true];
    const late = new Proxy(files, {
      get: (target, name) => (name === 'hasRoom' ? async () => answers.shift() : Reflect.get(target, name).bind(target)),
    });
    const work = () => processPhoto({ ...store.dependencies, store: late, makePictures, signal, turn: { clientId: 0n } });
    expect(await work()).toBe(0);
    const rows = await store.read('select status, attempts from photos');
    expect(rows).toEqual([{ status: 'processing', attempts: 0 }]);
    disk.empty();
    await store.write('update photos set claimed_until = null');
    expect(await work()).toBe(1);
    expect((await readPhotos(store, manager, id))[0]?.status).toBe('ready');
  });
});

test("A bucket whose quota is used up is a full store, by the reply of Ceph's gateway", async () => {
  const server = createServer((request, response) => {
    request.resume();
    response.writeHead(403, { 'content-type': 'application/xml' });
    response.end('<?xml version="1.0" encoding="UTF-8"?><Error><Code>QuotaExceeded</Code><BucketName>photos</BucketName></Error>');
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const { port } = server.address() as AddressInfo;
  const config = { bucket: 'photos', region: 'us-east-1', endpoint: `http://127.0.0.1:${port}`, accessKeyId: 'a', secretAccessKey: 'b' };
  await expect(new S3Store(config).put('originals/one', Buffer.from('x'))).rejects.toThrow(StoreFull);
  server.close();
});
