import { hash } from 'node:crypto';
import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import sharp from 'sharp';
import { describe, expect, test, vi } from 'vitest';
import { sweepNow } from '../../../../../testkit/photo-sweep.ts';
import { addPet, createManager } from '../../../adoption-steps.ts';
import { disposeAfterAll } from '../../../dispose-after-all.ts';
import { errorResponse } from '../../../error-response.ts';
import {
  createPhotoStore,
  createShelterKey,
  filesIn,
  makeImage,
  type PhotoBody,
  processAll,
  readPhotos,
  sendPhoto,
} from '../../../photo-steps.ts';
import { moveToShelter } from '../../../shelter-steps.ts';
import { createTestStore, type TestKey } from '../../../test-store.ts';

const photos = disposeAfterAll(await createPhotoStore());
const { store } = photos;
const manager = await createManager(store);

const newPet = async () => (await addPet(store, manager)).id;

describe('POST /v1/pets/{petId}/photos', () => {
  test('is 202 with a photo that is being processed, and soon ready with pictures of three widths', async () => {
    const petId = await newPet();
    const sent = await sendPhoto(store, manager, petId, await makeImage('tan', { width: 2_000, height: 1_000 }));
    expect({ status: sent.status, json: sent.json }).toEqual({
      status: 202,
      json: { id: sent.json.id, status: 'processing', alt: '', width: null, height: null, placeholder: null, urls: [] },
    });
    expect(sent.headers.location).toBe(`/v1/pets/${petId}/photos/${sent.json.id}`);
    await processAll(photos);
    const { json } = await store.call<PhotoBody>('GET', sent.headers.location ?? '', { key: manager.key });
    expect(json).toMatchObject({ status: 'ready', width: 1_600, height: 800, placeholder: expect.stringMatching(/^[\w+/=]{10,100}$/) });
    expect(json.urls.map(({ width, height }) => [width, height])).toEqual([
      [320, 160],
      [800, 400],
      [1_600, 800],
    ]);
    expect(json.urls.every(({ url }) => /^\/photos\/[0-9a-f]{64}\.webp$/.test(url))).toBe(true);
    expect(await filesIn(photos.folder, 'originals')).toEqual([]);
  });

  test.each([
    ['png', 1_000, [320, 800]],
    ['webp', 320, [320]],
    ['jpeg', 64, [64]],
  ] as const)('of a %s of %i pixels makes the widths %j, none enlarged', async (type, width, widths) => {
    const petId = await newPet();
    await sendPhoto(store, manager, petId, await makeImage('teal', { width, height: width, type }), { 'content-type': `image/${type}` });
    await processAll(photos);
    expect((await readPhotos(store, manager, petId))[0]?.urls.map((one) => one.width)).toEqual(widths);
  });

  test('of the same bytes again is the same photo, while it is processed and when it is ready', async () => {
    const petId = await newPet();
    const image = await makeImage('gold');
    const first = await sendPhoto(store, manager, petId, image);
    const again = await sendPhoto(store, manager, petId, image, { 'idempotency-key': 'another' });
    expect([again.status, again.json.id]).toEqual([202, first.json.id]);
    expect(await filesIn(photos.folder, 'originals')).toHaveLength(1);
    await processAll(photos);
    expect((await sendPhoto(store, manager, petId, image)).json).toMatchObject({ id: first.json.id, status: 'ready' });
    expect(await readPhotos(store, manager, petId)).toHaveLength(1);
    expect(await filesIn(photos.folder, 'originals')).toEqual([]);
    const other = await newPet();
    expect((await sendPhoto(store, manager, other, image)).json.id).not.toBe(first.json.id);
    await processAll(photos);
  });

  test('of 13 photos accepts 12, also if they arrive at once', async () => {
    const petId = await newPet();
    const senders: TestKey[] = [];
    for (let i = 0; i < 13; i += 1) senders.push(await createManager(store));
    const images = await Promise.all(senders.map((_, i) => makeImage(`rgb(${i * 10}, 0, 0)`)));
    const responses = await Promise.all(senders.map((sender, i) => sendPhoto(store, sender, petId, images[i] ?? '')));
    expect(responses.filter(({ status }) => status === 202)).toHaveLength(12);
    expect(responses.find(({ status }) => status !== 202)).toMatchObject(
      errorResponse(409, 'photo_limit_reached', `Animal ${petId} has 12 photos; 12 are allowed. Remove one first.`),
    );
    expect(await filesIn(photos.folder, 'originals')).toHaveLength(12);
    await store.call('DELETE', `/v1/pets/${petId}`, { key: manager.key });
    await sweepNow(store.dependencies.db, photos.files);
  });

  test('of an animal that does not exist or was removed is 404, and a removed animal has no photos', async () => {
    const petId = await newPet();
    await sendPhoto(store, manager, petId, await makeImage('navy'));
    await store.call('DELETE', `/v1/pets/${petId}`, { key: manager.key });
    for (const id of [petId, 4_711]) expect((await sendPhoto(store, manager, id, 'bytes')).status).toBe(404);
    const rows = await store.read('select from photos where pet_id = $1', petId);
    expect(rows).toEqual([]);
    await sweepNow(store.dependencies.db, photos.files);
    expect(await filesIn(photos.folder, 'originals')).toEqual([]);
  });

  test('in a store without HOMEWARD_PHOTOS is 409 photos_off, and there are no photos', async () => {
    await using off = await createTestStore();
    const staff = await createManager(off);
    const { id } = await addPet(off, staff);
    expect(await sendPhoto(off, staff, id, await makeImage('red'))).toMatchObject(errorResponse(409, 'photos_off', "This store doesn't"));
    expect(await readPhotos(off, staff, id)).toEqual([]);
  });
});

describe('The bytes of a photo', () => {
  const heic = Buffer.concat([Buffer.from([0, 0, 0, 24]), Buffer.from('ftypheic'), Buffer.alloc(100)]);
  test.each([
    ['HEIC by its type', 'image/heic', heic, "HEIC and AVIF photos can't be read. Convert the photo to JPEG, and send that."],
    ['HEIC by its bytes', 'image/jpeg', heic, "HEIC and AVIF photos can't be read. Convert the photo to JPEG, and send that."],
    [
      'a GIF',
      'image/gif',
      'GIF89a and so on',
      'Send the bytes of the photo with Content-Type image/jpeg, image/png or image/webp. Got "image/gif".',
    ],
    [
      'JSON',
      'application/json',
      '{}',
      'Send the bytes of the photo with Content-Type image/jpeg, image/png or image/webp. Got "application/json".',
    ],
    ['an SVG called PNG', 'image/png', '<svg xmlns="http://www.w3.org/2000/svg"/>', 'The bytes are not a JPEG, PNG or WebP image.'],
    ['too few', 'image/jpeg', Buffer.from([0xff, 0xd8, 0xff]), 'The bytes are not a JPEG, PNG or WebP image.'],
    ['none', 'image/jpeg', '', 'The body is empty.'],
  ])('that are %s are 415 in words, and nothing is stored', async (_, type, bytes, message) => {
    const petId = await newPet();
    expect(await sendPhoto(store, manager, petId, bytes, { 'content-type': type })).toMatchObject(
      errorResponse(415, 'unsupported_image', message),
    );
    expect(await readPhotos(store, manager, petId)).toEqual([]);
    expect(await filesIn(photos.folder, 'originals')).toEqual([]);
  });

  test('that are more than 20 MB are 413, by Content-Length and while they arrive', async () => {
    const petId = await newPet();
    const large = Buffer.concat([await makeImage('red'), Buffer.alloc(20_000_000)]);
    const expected = errorResponse(413, 'photo_too_large', 'The photo is larger than 20 MB (20,000,000 bytes).');
    expect(await sendPhoto(store, manager, petId, large)).toMatchObject(expected);
    const chunked = await fetch(`${store.url}/v1/pets/${petId}/photos`, {
      method: 'POST',
      headers: { authorization: `Bearer ${manager.key}`, 'content-type': 'image/jpeg' },
      body: new Blob([large]).stream(),
      duplex: 'half',
    } as RequestInit);
    expect({ status: chunked.status, json: await chunked.json() }).toMatchObject({ status: 413, json: { code: 'photo_too_large' } });
    expect(await filesIn(photos.folder, 'originals')).toEqual([]);
  });

  test('keep nothing of their metadata: neither the place nor the owner', async () => {
    const petId = await newPet();
    const original = await sharp({ create: { width: 900, height: 600, channels: 3, background: 'olive' } })
      .withExif({ IFD0: { Copyright: 'foster at home' }, IFD3: { GPSLatitudeRef: 'N', GPSLatitude: '51/1 30/1 3230/100' } })
      .withXmp('<x:xmpmeta xmlns:x="adobe:ns:meta/"><place>foster at home</place></x:xmpmeta>')
      .jpeg()
      .toBuffer();
    expect(original.includes('foster at home')).toBe(true);
    await sendPhoto(store, manager, petId, original);
    await processAll(photos);
    const [photo] = await readPhotos(store, manager, petId);
    expect(photo?.urls).toHaveLength(2);
    for (const { url } of photo?.urls ?? []) {
      const bytes = Buffer.from(await (await fetch(store.url + url)).arrayBuffer());
      const { exif, xmp, icc, iptc } = await sharp(bytes).metadata();
      expect({ exif, xmp, icc, iptc, found: bytes.includes('foster at home') }).toEqual({ found: false });
      expect(url).toContain(hash('sha256', bytes, 'hex'));
    }
  });
});

describe('The bytes that a client sends in a day', () => {
  const setSent = (clientId: bigint, bytes: number, day = "(now() at time zone 'utc')::date") =>
    store.write(
      `insert into photo_uploads (client_id, day, bytes) values ($1, ${day}, $2) on conflict (client_id) do update set day = ${day}, bytes = $2`,
      clientId,
      bytes,
    );
  const sentBy = async (clientId: bigint) => {
    const rows = await store.read<{ bytes: bigint }>('select bytes from photo_uploads where client_id = $1', clientId);
    return rows[0]?.bytes;
  };
  const shelterKey = async (name: string) => {
    const key = await createShelterKey(store, name, { plan: 'free', scopes: ['pets:read', 'pets:write'] });
    const { id } = await addPet(store, manager);
    await moveToShelter(store, id, key.shelterId);
    return { key, petId: id };
  };

  test('are limited by plan: beyond that 409, and nothing is stored or counted; the next day begins at 0', async () => {
    const { key, petId } = await shelterKey('Greedy');
    const [image, other] = [await makeImage('crimson'), await makeImage('chocolate')];
    expect((await sendPhoto(store, key, petId, image)).status).toBe(202);
    expect(await sentBy(key.clientId)).toBe(BigInt(image.length));
    // The same photo again is no upload.
    expect((await sendPhoto(store, key, petId, image)).status).toBe(202);
    expect(await sentBy(key.clientId)).toBe(BigInt(image.length));
    await processAll(photos);
    await setSent(key.clientId, 1_000_000_000 - other.length + 1);
    expect(await sendPhoto(store, key, petId, other)).toMatchObject(
      errorResponse(
        409,
        'photo_bytes_limit',
        'This client has sent 999 of 1,000 MB of photos today (UTC), and this one has 1 MB. Send it after midnight UTC, or make it smaller.',
      ),
    );
    expect(await sentBy(key.clientId)).toBe(BigInt(1_000_000_000 - other.length + 1));
    expect(await filesIn(photos.folder, 'originals')).toEqual([]);
    await setSent(key.clientId, 1_000_000_000, "(now() at time zone 'utc')::date - 1");
    expect((await sendPhoto(store, key, petId, other)).status).toBe(202);
    expect(await sentBy(key.clientId)).toBe(BigInt(other.length));
    await processAll(photos);
  });

  test('are exact for uploads that arrive at once, without a Content-Length', async () => {
    const { key, petId } = await shelterKey('Hasty');
    const images = [await makeImage('coral'), await makeImage('cyan')];
    await setSent(key.clientId, 1_000_000_000 - Math.max(...images.map(({ length }) => length)));
    const chunked = (image: Buffer) =>
      fetch(`${store.url}/v1/pets/${petId}/photos`, {
        method: 'POST',
        headers: { authorization: `Bearer ${key.key}`, 'content-type': 'image/jpeg' },
        body: new Blob([new Uint8Array(image)]).stream(),
        duplex: 'half',
      } as RequestInit);
    const statuses = (await Promise.all(images.map(chunked))).map(({ status }) => status);
    expect(statuses.toSorted()).toEqual([202, 409]);
    expect(await filesIn(photos.folder, 'originals')).toHaveLength(1);
    await processAll(photos);
  });

  test('are not limited for staff', async () => {
    await setSent(manager.clientId, 1_000_000_000_000);
    expect((await sendPhoto(store, manager, await newPet(), await makeImage('darkblue'))).status).toBe(202);
    await processAll(photos);
  });
});

describe('Who may write photos', () => {
  test('are the keys of staff, and keys bound to the shelter of the animal that may add or manage animals', async () => {
    const petId = await newPet();
    const north = await createShelterKey(store, 'North', { scopes: ['pets:write'] });
    await moveToShelter(store, petId, north.shelterId);
    const image = await makeImage('lime');
    const statusFor = async (key: TestKey) => (await sendPhoto(store, key, petId, image)).status;
    expect(await statusFor(north)).toBe(202);
    expect(await statusFor(await createShelterKey(store, 'North', { scopes: ['shelter:manage'] }))).toBe(202);
    expect(await statusFor(manager)).toBe(202);
    expect(await statusFor(await createShelterKey(store, 'North', { scopes: ['pets:read'] }))).toBe(403);
    expect(await statusFor(await createShelterKey(store, 'South', { scopes: ['pets:write', 'shelter:manage'] }))).toBe(403);
    const unbound = await store.createKey();
    expect(await sendPhoto(store, unbound, petId, image)).toMatchObject(
      errorResponse(403, 'insufficient_scope', `Animal ${petId} belongs to shelter ${north.shelterId}.`),
    );
    const [photo] = await readPhotos(store, manager, petId);
    for (const [method, body] of [
      ['PATCH', { alt: 'x' }],
      ['DELETE', undefined],
    ] as const) {
      const path = `/v1/pets/${petId}/photos/${photo?.id}`;
      expect((await store.call(method, path, { key: unbound.key, ...(body && { body }) })).status).toBe(403);
    }
    await processAll(photos);
  });
});

describe('An upload', () => {
  /** Sends the head of a request, and lets the caller send the rest. */
  function begin(path: string, { length, type = 'image/jpeg', key = manager }: { length: number; type?: string; key?: TestKey }) {
    const { port, hostname } = new URL(store.url);
    const socket = connect(Number(port), hostname);
    let received = '';
    socket.setEncoding('utf8').on('data', (text: string) => (received += text));
    socket.on('error', () => {});
    const head = [
      `POST ${path} HTTP/1.1`,
      'Host: x',
      `Authorization: Bearer ${key.key}`,
      `Content-Type: ${type}`,
      `Content-Length: ${length}`,
    ];
    socket.write(`${head.join('\r\n')}\r\n\r\n`);
    return {
      socket,
      text: () => received,
      until: (text: string, timeout = 30_000) => vi.waitUntil(() => received.includes(text), { timeout, interval: 20 }),
    };
  }

  test('that is slower than the limit for other requests succeeds, and the next request on the connection has that limit again', async () => {
    const petId = await newPet();
    const image = Buffer.concat([await makeImage('plum'), Buffer.alloc(300_000)]);
    const upload = begin(`/v1/pets/${petId}/photos`, { length: image.length });
    for (let at = 0; at < image.length; at += 13_000) {
      upload.socket.write(image.subarray(at, at + 13_000));
      await sleep(500);
    }
    await upload.until('HTTP/1.1 202');
    const second = 'POST /v1/pets HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 100\r\n';
    const sentAtMs = performance.now();
    upload.socket.write(`${second}Authorization: Bearer ${manager.key}\r\n\r\n{`);
    await upload.until('request_timeout');
    expect(performance.now() - sentAtMs).toBeLessThan(12_000);
    upload.socket.destroy();
    await processAll(photos);
  });

  test('that is too slow is 408 after 10 s, is closed, and leaves nothing', async () => {
    const petId = await newPet();
    const upload = begin(`/v1/pets/${petId}/photos`, { length: 1_000_000 });
    upload.socket.write((await makeImage('pink')).subarray(0, 20));
    await upload.until('upload_too_slow', 15_000);
    expect(upload.text()).toMatch(/Only 20 bytes of the photo arrived in 1\d s\./);
    await vi.waitUntil(() => upload.socket.destroyed || upload.socket.readableEnded);
    expect(await filesIn(photos.folder, 'originals')).toEqual([]);
  });

  test('that is cut off leaves nothing', async () => {
    const petId = await newPet();
    const upload = begin(`/v1/pets/${petId}/photos`, { length: 1_000_000 });
    upload.socket.write(await makeImage('pink'));
    await vi.waitUntil(async () => (await filesIn(photos.folder, 'originals')).length === 1);
    upload.socket.destroy();
    await vi.waitUntil(async () => (await filesIn(photos.folder, 'originals')).length === 0);
    expect(await readPhotos(store, manager, petId)).toEqual([]);
  });

  test('is the third of a client at once: 409, until one of the others has ended', async () => {
    const petId = await newPet();
    const key = await createManager(store);
    const image = await makeImage('aqua');
    const uploads = [1, 2].map(() => begin(`/v1/pets/${petId}/photos`, { length: 1_000_000, key }));
    for (const { socket } of uploads) socket.write(image);
    await vi.waitUntil(async () => (await filesIn(photos.folder, 'originals')).length === 2);
    expect(await sendPhoto(store, key, petId, image)).toMatchObject(
      errorResponse(409, 'too_many_uploads', 'This client is already sending 2 photos; 2 at once are allowed. Retry in 1 s.'),
    );
    expect((await sendPhoto(store, manager, petId, image)).status).toBe(202);
    for (const { socket } of uploads) socket.destroy();
    await vi.waitUntil(async () => (await sendPhoto(store, key, petId, image)).status === 202);
    await processAll(photos);
  });
});
