// `homeward images` and the worker: what each does when the other is absent, slow or hostile.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { connect, createServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { Readable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { afterAll, describe, expect, test, vi } from 'vitest';
import { stillRunning, treeOf } from '../../../testkit/running-processes.ts';
import { processPhoto } from '../../src/animals/photos/photo-processing.ts';
import { readReply } from '../../src/images/image-reply.ts';
import { unavailableLine } from '../../src/images/image-types.ts';
import { askForPictures, ImagesUnavailable } from '../../src/images/images-client.ts';
import { listenForImages, replyTo } from '../../src/images/images-server.ts';
import { openPictureMaker, type PictureMaker, probe } from '../../src/images/picture-maker.ts';
import { createManager } from '../adoption-steps.ts';
import { homeward } from '../cli/homeward-command.ts';
import { disposeAfterAll } from '../dispose-after-all.ts';
import { addPetWithPhoto, createPhotoStore, expireClaims, filesIn, makeImage, processAll, readPhotos } from '../photo-steps.ts';

const launcher = fileURLToPath(new URL('../../bin/homeward.mjs', import.meta.url));
const silent = { info: () => {}, warn: () => {} };
const file = (image: Buffer) => ({ bytes: image.length, stream: Readable.from([image]) });

afterAll(() => rmSync(folder, { recursive: true }));
const folder = mkdtempSync(path.join(tmpdir(), 'homeward-images-'));
const photos = disposeAfterAll(await createPhotoStore());
const manager = await createManager(photos.store);

let sockets = 0;
function newSocket(): string {
  sockets += 1;
  return path.join(folder, `${sockets}.sock`);
}

const petWithPhoto = async (color: string) => addPetWithPhoto(photos.store, manager, await makeImage(color));
const photoOf = async (petId: number) => (await readPhotos(photos.store, manager, petId))[0];
const processOne = (makePictures: PictureMaker) =>
  processPhoto({
    ...photos.store.dependencies,
    store: photos.files,
    makePictures,
    signal: new AbortController().signal,
    turn: { clientId: 0n },
  });
const attemptsOf = async (petId: number) => {
  const rows = await photos.store.read<{ attempts: number }>('select attempts from photos where pet_id = $1', petId);
  return rows[0]?.attempts;
};

/** The command itself, as an operator runs it. Resolves once it listens. */
async function startImages(socket: string, env: Readonly<Record<string, string>> = {}) {
  const child = spawn(process.execPath, [launcher, 'images'], {
    env: { HOMEWARD_IMAGES_SOCKET: socket, ...env },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let log = '';
  const listening = Promise.withResolvers<void>();
  child.stdout.setEncoding('utf8').on('data', (text) => {
    log += text;
    if (log.includes('listening for images')) listening.resolve();
  });
  child.once('exit', () => listening.reject(new Error(`it ended: ${log}`)));
  const closed = once(child, 'close') as Promise<[number | null]>;
  await listening.promise;
  return {
    log: () => log,
    async stop(signal: NodeJS.Signals): Promise<number | null> {
      child.kill(signal);
      return (await closed)[0];
    },
    async [Symbol.asyncDispose]() {
      child.kill('SIGKILL');
      await closed;
    },
  };
}

describe('homeward images', () => {
  test('makes the pictures of a photo for a worker, confined by the kernel, on a socket for its group', async () => {
    const socket = newSocket();
    await using images = await startImages(socket);
    expect(statSync(socket).mode & 0o777).toBe(0o660);
    expect(await probe(openPictureMaker(socket))).toMatchObject({ isConfined: true, pictures: [{ width: 1, height: 1 }] });
    const petId = await petWithPhoto('tomato');
    expect(await processAll(photos, openPictureMaker(socket))).toBe(1);
    expect(await photoOf(petId)).toMatchObject({ status: 'ready', width: 320 });
    expect(await openPictureMaker(socket)(file(Buffer.from('no image')))).toEqual({ failure: 'unreadable' });
    await vi.waitFor(() => expect(images.log()).toMatch(/"failure":"unreadable","msg":"image rejected"/));
    expect(await images.stop('SIGTERM')).toBe(0);
  });

  test('replaces the socket of a process that was killed, but not of one that runs, nor a file', async () => {
    const socket = newSocket();
    const killed = await startImages(socket);
    await killed.stop('SIGKILL');
    expect(statSync(socket).isSocket()).toBe(true);
    await using _ = await startImages(socket);
    const run = (at: string) => homeward(['images'], { env: { HOMEWARD_IMAGES_SOCKET: at } });
    expect(await run(socket)).toMatchObject({ status: 2, stderr: expect.stringContaining('another process listens') });
    writeFileSync(path.join(folder, 'file'), '');
    expect(await run(path.join(folder, 'file'))).toMatchObject({ status: 2, stderr: expect.stringContaining('is not a socket') });
    expect(await probe(openPictureMaker(socket))).toHaveProperty('pictures');
  });

  test('does not start with an environment that has secrets, and names the variable', async () => {
    const { status, stderr } = await homeward(['images'], { env: { HOMEWARD_IMAGES_SOCKET: newSocket(), DATABASE_URL: 'postgres://x' } });
    expect([status, stderr]).toEqual([2, expect.stringMatching(/^homeward: DATABASE_URL is set. Unset it for homeward images/)]);
  });

  test('lets more images wait than it decodes at once, and responds to a health check meanwhile', async () => {
    const socket = newSocket();
    await using _ = await listenForImages(socket, silent);
    const outcomes = Promise.all(Array.from({ length: 5 }, () => probe(openPictureMaker(socket))));
    const check = connect(socket);
    check.write(Buffer.alloc(4));
    expect(String((await once(check, 'data'))[0])).toBe('{"ready":true}\n');
    for (const outcome of await outcomes) expect(outcome).toHaveProperty('pictures');
  });

  test('ends the decoding of an image whose worker has left', async () => {
    const socket = newSocket();
    await using _ = await listenForImages(socket, silent);
    const before = new Set(treeOf(process.pid));
    const leaving = new AbortController();
    const asked = askForPictures(socket, file(await makeImage('red', { width: 5_000, height: 5_000 })), { signal: leaving.signal });
    const children = () => treeOf(process.pid).filter((pid) => !before.has(pid) && pid !== process.pid);
    const started = await vi.waitFor(() => {
      const found = children();
      if (found.length === 0) throw new Error('nothing decodes');
      return found;
    });
    leaving.abort();
    expect(await asked).toEqual({ crashed: 'aborted' });
    await vi.waitFor(() => expect(stillRunning(started)).toEqual([]));
  });

  test('tells a connection too many to come again, and outlives one that is gone by then', async () => {
    const socket = newSocket();
    await using _ = await listenForImages(socket, silent);
    const held = Array.from({ length: 32 }, () => connect(socket));
    await Promise.all(held.map((connection) => once(connection, 'connect')));
    for (let i = 0; i < 20; i += 1)
      connect(socket, function (this: Socket) {
        this.destroy();
      });
    await expect(probe(openPictureMaker(socket))).rejects.toThrow('is busy');
    for (const connection of held) connection.destroy();
    await vi.waitFor(async () => expect(await probe(openPictureMaker(socket))).toHaveProperty('pictures'));
  });

  test('does not pass on what an image says in its place', () => {
    const forged = (line: string) => String(replyTo({ output: Buffer.from(line) }));
    expect(forged(unavailableLine('busy'))).toBe('{"crashed":"a forged reply"}\n');
    expect(forged(unavailableLine('stopping'))).toBe('{"crashed":"a forged reply"}\n');
    expect(forged('{"failure":"unreadable"}\n')).toBe('{"failure":"unreadable"}\n');
  });

  test('that is stopped gives an image back, which is no crash of it', async () => {
    const socket = newSocket();
    const server = await listenForImages(socket, silent, { drainMs: 0 });
    const asked = probe(openPictureMaker(socket)).catch((error: unknown) => error);
    const check = connect(socket);
    check.write(Buffer.alloc(4));
    // It has read from the other connection by then.
    await once(check, 'data');
    await server[Symbol.asyncDispose]();
    expect(await asked).toBeInstanceOf(ImagesUnavailable);
  });
});

describe('A worker', () => {
  test('without homeward images lets photos wait, and counts no attempt', async () => {
    const socket = newSocket();
    const petId = await petWithPhoto('olive');
    for (let i = 0; i < 6; i += 1) {
      await expect(processOne(openPictureMaker(socket))).rejects.toThrow(`homeward images can't be reached at ${socket}`);
      await expireClaims(photos.store);
    }
    expect([(await photoOf(petId))?.status, await attemptsOf(petId)]).toEqual(['processing', 0]);
    await using _ = await listenForImages(socket, silent);
    expect(await processAll(photos, openPictureMaker(socket))).toBe(1);
    expect(await photoOf(petId)).toMatchObject({ status: 'ready' });
  });

  const line = (value: unknown) => `${JSON.stringify(value)}\n`;
  const webp = Buffer.concat([Buffer.from('RIFF\x10\0\0\0WEBPVP8 ', 'latin1'), Buffer.alloc(8)]);
  const picture = { width: 320, height: 240, bytes: webp.length };
  const placeholder = 'rDlWdw4I9wiIh4hwj3CI';
  const script = Buffer.from('<script>alert(document.domain)</script>');

  test.each<[string, (connection: Socket) => void]>([
    ['garbage', (connection) => connection.end(Buffer.alloc(5_000, 0xa5))],
    ['nothing', (connection) => connection.end()],
    [
      'a reply that ends in the middle',
      (connection) => connection.end(Buffer.concat([Buffer.from(line({ placeholder, pictures: [picture] })), webp.subarray(0, 9)])),
    ],
    ['a reply that is cut off', (connection) => connection.write('{"placeholder"', () => connection.destroy())],
    ['more bytes than it may', (connection) => connection.on('error', () => {}).end(Buffer.alloc(33_000_000, '{'))],
    [
      'a script in place of a picture',
      (connection) =>
        connection.end(Buffer.concat([Buffer.from(line({ placeholder, pictures: [{ ...picture, bytes: script.length }] })), script])),
    ],
  ])('gets from a hostile peer %s: an attempt is counted, and nothing is stored', async (_, answer) => {
    const socket = newSocket();
    await using peer = await listenAs(socket, answer);
    const petId = await petWithPhoto(`rgb(${peer.number}, 7, 7)`);
    const before = await filesIn(photos.folder, 'photos');
    expect(await processOne(openPictureMaker(socket))).toBe(1);
    expect([(await photoOf(petId))?.status, await attemptsOf(petId)]).toEqual(['processing', 1]);
    expect(await filesIn(photos.folder, 'photos')).toEqual(before);
    await photos.store.write('delete from photos where pet_id = $1', petId);
  });

  test('gets no reply from a hostile peer: it gives up, and the photo waits', async () => {
    const socket = newSocket();
    await using _ = await listenAs(socket, () => {});
    const petId = await petWithPhoto('plum');
    const impatient: PictureMaker = (original, signal) => askForPictures(socket, original, { signal, timeoutMs: 100 });
    await expect(processOne(impatient)).rejects.toThrow('did not reply in 0.1 s');
    expect([(await photoOf(petId))?.status, await attemptsOf(petId)]).toEqual(['processing', 0]);
  });

  test.each<[string, unknown]>([
    ['no object', []],
    ['an unknown code', { failure: 'constructor' }],
    ['no pictures', { placeholder, pictures: [] }],
    ['four pictures', { placeholder, pictures: [1, 2, 3, 4].map((width) => ({ ...picture, width })) }],
    ['a width beyond the largest', { placeholder, pictures: [{ ...picture, width: 1_601 }] }],
    ['a height of 0', { placeholder, pictures: [{ ...picture, height: 0 }] }],
    ['a height that is no integer', { placeholder, pictures: [{ ...picture, height: 1.5 }] }],
    ['a width in text', { placeholder, pictures: [{ ...picture, width: '320' }] }],
    ['another length', { placeholder, pictures: [{ ...picture, bytes: webp.length - 1 }] }],
    ['a negative length', { placeholder, pictures: [{ ...picture, bytes: -1 }] }],
    ['pictures in another order', { placeholder, pictures: [picture, { ...picture, width: 1 }] }],
    ['a placeholder with a tag', { placeholder: '<img src=x>', pictures: [picture] }],
    ['a placeholder that is too long', { placeholder: 'A'.repeat(40), pictures: [picture] }],
  ])('rejects a reply with %s', (_, result) => {
    const reply = Buffer.concat([Buffer.from(line(result)), webp]);
    expect(readReply(reply)).toEqual({ crashed: expect.stringMatching(/^invalid reply/) });
  });

  test('accepts a reply with one picture, and rejects one in which something follows the picture', () => {
    const first = Buffer.from(line({ placeholder, pictures: [picture] }));
    expect(readReply(Buffer.concat([first, webp]))).toMatchObject({ pictures: [{ width: 320, height: 240 }] });
    const longer = Buffer.from(line({ placeholder, pictures: [{ ...picture, bytes: webp.length + script.length }] }));
    expect(readReply(Buffer.concat([longer, webp, script]))).toEqual({ crashed: 'invalid reply: a picture is no WebP' });
  });
});

/** A peer that sends this once the image has begun to arrive. */
async function listenAs(socket: string, answer: (connection: Socket) => void) {
  const connections = new Set<Socket>();
  const server = createServer((connection) => {
    connections.add(connection);
    connection.on('error', () => {});
    connection.once('data', () => answer(connection.resume()));
  });
  server.listen(socket);
  await once(server, 'listening');
  return {
    number: sockets,
    async [Symbol.asyncDispose]() {
      for (const connection of connections) connection.destroy();
      server.close();
      await once(server, 'close');
    },
  };
}
