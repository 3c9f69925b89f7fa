import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { SlowReader } from '../../../testkit/slow-reader.ts';
import { DirectoryStore } from '../../src/images/directory-store.ts';
import { pictureName } from '../../src/images/photo-store.ts';
import { addDescribed } from '../listing-steps.ts';
import { openTestStore } from '../test-store.ts';

const hash = 'a'.repeat(64);
const folder = mkdtempSync(path.join(tmpdir(), 'homeward-photos-'));

afterAll(() => rmSync(folder, { recursive: true }));
const progressBounds = { stalledMs: 300, sweepMs: 50 };
const store = await openTestStore({ env: { HOMEWARD_PHOTOS: folder }, progressBounds });
const key = await store.createKey();
await new DirectoryStore(folder).put(pictureName(hash), randomBytes(2_000_000));
const description = 'A good dog. '.repeat(660);
for (let i = 0; i < 20; i += 1) await addDescribed(store, key, { name: `Rex ${i}` }, { description });

const request = (line: string, count: number, header = '') =>
  `${line} HTTP/1.1\r\nhost: a\r\nauthorization: Bearer ${key.key}\r\n${header}\r\n`.repeat(count);

/** More than the kernel buffers for a reader that does not read. */
const photos = () => request(`GET /photos/${hash}.webp`, 3);

describe('A client that reads nothing holds memory', () => {
  test.concurrent.each([
    ['photos', photos],
    ['pages of listings behind photos', () => photos() + request('GET /v1/listings', 40)],
    ['animals behind photos', () => photos() + request('GET /v1/pets', 40)],
    ['errors behind photos', () => photos() + request('GET /v1/pets/none', 40)],
    ['a static file behind photos', () => photos() + request('GET /openapi.json', 40)],
    ['headers alone behind photos', () => photos() + request('HEAD /openapi.json', 40)],
    ['304 behind photos', () => photos() + request('GET /openapi.json', 40, 'if-none-match: *\r\n')],
  ])('%s: it is disconnected', async (_, requests) => {
    using reader = await SlowReader.open(Number(new URL(store.url).port), requests());
    await reader.closed;
    expect(reader.readBytes).toBe(0);
    const { status } = await store.call('GET', '/v1/pets', { key: key.key });
    expect(status).toBe(200);
  });
});
