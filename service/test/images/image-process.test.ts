// What an image can do that has taken over the process that decodes it.
import { execFile } from 'node:child_process';
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, describe, expect, test } from 'vitest';
import { attemptNames, plantHostileDecoder, succeededAttempts } from '../../../testkit/hostile-decoder.ts';
import type { Targets } from '../../../testkit/image-attempts.ts';

const secret = 'postgres://homeward_api:sesame@127.0.0.1/homeward';
const testkit = (file: string) => fileURLToPath(new URL(`../../../testkit/${file}`, import.meta.url));
const [attempts, decoder] = [testkit('image-attempts.ts'), testkit('hostile-decoder.ts')];

const opened = new AsyncDisposableStack();
const folder = mkdtempSync(path.join(tmpdir(), 'homeward-attempts-'));
opened.defer(() => rmSync(folder, { recursive: true }));
const write = (name: string) => {
  mkdirSync(path.dirname(path.join(folder, name)), { recursive: true });
  writeFileSync(path.join(folder, name), secret);
  return path.join(folder, name);
};
const listen = async (where: string | number): Promise<string> => {
  const server = opened.adopt(createServer(), (one) => void one.close());
  await new Promise<void>((resolve) => server.listen(where, () => resolve()));
  return `127.0.0.1:${(server.address() as AddressInfo).port}`;
};
const socket = path.join(folder, 'postgres.sock');
await listen(socket);
const targets: Targets = {
  secret,
  photos: path.dirname(write('photos/1.webp')),
  journal: write('journal.log'),
  secretFiles: [write('database-url')],
  settingsFiles: [write('homeward.env')],
  postgres: await listen(0),
  redis: await listen(0),
  outside: await listen(0),
  nameServer: await listenForNames(),
  name: 'shelter.example',
  sockets: [socket],
};
afterAll(() => opened.disposeAsync());

/** A name server that responds to everything. */
async function listenForNames(): Promise<string> {
  const server = opened.adopt(createSocket('udp4'), (one) => void one.close());
  server.on('message', (query, { port }) => server.send(query, port, '127.0.0.1'));
  server.bind(0, '127.0.0.1');
  await once(server, 'listening');
  return `127.0.0.1:${server.address().port}`;
}

/** Runs a script in a process that has a secret in its environment, as a worker has. Returns the JSON that it prints. */
async function runWithSecret<T>(script: string): Promise<T> {
  const options = ['--disable-warning=ExperimentalWarning', '--input-type=module', '-e', script];
  const { stdout } = await promisify(execFile)(process.execPath, options, { env: { PATH: process.env['PATH'], DATABASE_URL: secret } });
  return JSON.parse(stdout) as T;
}

/** What succeeds in the place of the decoder, if a worker starts it. */
async function attemptInChild(options: { readonly confines: boolean }): Promise<string[]> {
  using hostile = plantHostileDecoder(targets, options);
  const maker = path.join(hostile.root, 'service/src/images/picture-maker.ts');
  const script = `import { makePictures } from ${JSON.stringify(maker)}; import { hostileImage } from ${JSON.stringify(decoder)};
    console.log(JSON.stringify(await makePictures(hostileImage())));`;
  return succeededAttempts(await runWithSecret<object>(script));
}

describe('The process that decodes an image', () => {
  test("the image process can't read DATABASE_URL from its parent, nor anything else, by 12 attempts", async () => {
    expect(await attemptInChild({ confines: true })).toEqual([]);
  });

  test('makes attempts that succeed if nothing confines it, but for its own environment, which is empty', async () => {
    expect(await attemptInChild({ confines: false })).toEqual(attemptNames.filter((name) => !name.includes('its own environment')));
  });

  test('makes attempts that a worker, which has everything, succeeds with', async () => {
    const script = `import { attemptAll } from ${JSON.stringify(attempts)}; console.log(JSON.stringify(attemptAll(${JSON.stringify(targets)})));`;
    // Its parent has no secret: that is this test.
    expect(await runWithSecret<number[]>(script)).toEqual([1, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12]);
  });
});
