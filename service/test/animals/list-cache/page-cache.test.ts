import { randomBytes } from 'node:crypto';
import { brotliDecompressSync } from 'node:zlib';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { PageCache, type PetPage } from '../../../src/animals/list-cache/page-cache.ts';
import type { Footprint } from '../../../src/animals/list-cache/shown-changes.ts';
import { AppError } from '../../../src/platform/errors.ts';
import { compress } from '../../../src/platform/http/protocol/representations.ts';

const url = '/v1/pets?limit=1';
const footprint: Footprint = { categoryId: undefined, status: undefined, ids: undefined, after: 0n, last: 9n };
const pageOf = (body: string): PetPage => ({ body, bytes: body.length, etag: `"${body.length}"`, link: undefined, footprint });
const page = pageOf('[]');
const long = pageOf('[{"name":"Biscuit"}]'.repeat(100));

let pages: PageCache;
let reads: number;
/** The version whose change touched every page. */
let touchedAt: number;
const changes = { version: 1, hasTouched: (_: Footprint, since: number) => since < touchedAt };
beforeEach(() => {
  vi.useFakeTimers({ toFake: ['performance'] });
  touchedAt = 0;
  changes.version = 1;
  pages = new PageCache(changes);
  reads = 0;
});
afterEach(() => void vi.useRealTimers());

const fetch = async () => {
  reads += 1;
  return page;
};

const compressed = (path: string, read: PetPage, coding: 'br' | 'gzip') =>
  pages.readCompressed(path, read, coding, () => compress(read.body, coding, 'fast'));

describe('PageCache', () => {
  test('finds a page with the snapshot that was read before it, and with no other', async () => {
    await pages.read(url, 'a', fetch);
    expect([pages.find(url, 'a'), pages.find(url, 'b'), pages.find(url, undefined), pages.find('/v1/pets', 'a')]).toEqual([
      page,
      undefined,
      undefined,
      undefined,
    ]);
  });

  test('finds a page with a version until a change since then touches it', async () => {
    await pages.read(url, 1, fetch);
    changes.version = 3;
    expect(pages.find(url, 3)).toBe(page);
    changes.version = 4;
    touchedAt = 4;
    expect(pages.find(url, 4)).toBeUndefined();
    await pages.read(url, 4, fetch);
    expect(pages.find(url, 4)).toBe(page);
    expect(reads).toBe(2);
  });

  test('checks each change once', async () => {
    await pages.read(url, 1, fetch);
    changes.version = 3;
    pages.find(url, 3);
    // Known to be valid at 3 by now, so this one is not looked at any more.
    touchedAt = 3;
    expect(pages.find(url, 3)).toBe(page);
  });

  test('caches a page under the version before its query, even if there is a change meanwhile', async () => {
    await pages.read(url, 1, async () => {
      changes.version = 2;
      touchedAt = 2;
      return page;
    });
    expect(pages.find(url, 2)).toBeUndefined();
  });

  test('finds a page that was read for a snapshot with the version of that time too, so that one late reply costs no page', async () => {
    await pages.read(url, 'a', fetch);
    expect(pages.find(url, 1)).toBe(page);
    changes.version = 2;
    touchedAt = 2;
    expect([pages.find(url, 'a'), pages.find(url, 2)]).toEqual([page, undefined]);
  });

  test('does not find a page that was read for a version with a snapshot', async () => {
    await pages.read(url, 1, fetch);
    expect(pages.find(url, 'a')).toBeUndefined();
  });

  test('a page is not replaced by one whose query started before', async () => {
    const old = Promise.withResolvers<PetPage>();
    const reading = pages.read(url, 1, () => old.promise);
    vi.advanceTimersByTime(1);
    changes.version = 2;
    await pages.read(url, 2, fetch);
    old.resolve(pageOf('[1]'));
    await reading;
    expect(pages.find(url, 2)).toBe(page);
  });

  test('does not read a cached page again', async () => {
    await pages.read(url, 'a', fetch);
    await pages.read(url, 'a', fetch);
    expect(reads).toBe(1);
  });

  test('caches nothing without a version', async () => {
    await pages.read(url, undefined, fetch);
    expect(pages.has(url)).toBe(false);
  });

  test('finds a page for two seconds from the start of its query', async () => {
    const slow = pages.read(url, 'a', async () => {
      vi.advanceTimersByTime(500);
      return page;
    });
    await slow;
    vi.advanceTimersByTime(1_499);
    expect(pages.find(url, 'a')).toBe(page);
    vi.advanceTimersByTime(1);
    expect(pages.find(url, 'a')).toBeUndefined();
  });

  test('does not serve a page that is older than it may get', async () => {
    await pages.read(url, 1, async () => ({ ...pageOf('[]'), ageMaxMs: 1_500 }));
    vi.advanceTimersByTime(1_499);
    expect(pages.find(url, 1)).toBeDefined();
    vi.advanceTimersByTime(1);
    expect(pages.find(url, 1)).toBeUndefined();
  });

  test('reads once for concurrent callers with the same version', async () => {
    const responses = await Promise.all([pages.read(url, 'a', fetch), pages.read(url, 'a', fetch), pages.read(url, 'a', fetch)]);
    expect([reads, ...responses]).toEqual([1, page, page, page]);
  });

  test('shares a query that waits for a turn of its client with that client alone', async () => {
    const tooMany = new AppError('too_many_searches', 'Too many.');
    const waiting = Promise.withResolvers<PetPage>();
    const first = [1n, 1n].map((clientId) => pages.read(url, 'a', () => waiting.promise, clientId));
    const others = [2n, 3n].map((clientId) =>
      pages.read(
        url,
        'a',
        (onBegun) => {
          onBegun();
          return fetch();
        },
        clientId,
      ),
    );
    expect(await Promise.all(others)).toEqual([page, page]);
    expect(reads).toBe(1);
    waiting.reject(tooMany);
    for (const reading of first) await expect(reading).rejects.toBe(tooMany);
    expect(pages.find(url, 'a')).toBe(page);
  });

  test('caches the page whose turn comes first, while queries of other clients wait, and gives them that page without a query', async () => {
    const turns: Array<() => void> = [];
    const read = (clientId: bigint) =>
      pages.read(
        url,
        1,
        async (onBegun) => {
          const { promise, resolve } = Promise.withResolvers<void>();
          turns.push(resolve);
          await promise;
          onBegun();
          return fetch();
        },
        clientId,
      );
    const readings = [1n, 2n, 3n].map(read);
    turns[0]?.();
    expect(await readings[0]).toBe(page);
    expect(pages.find(url, 1)).toBe(page);
    vi.advanceTimersByTime(1_000);
    turns[1]?.();
    turns[2]?.();
    expect(await Promise.all(readings)).toEqual([page, page, page]);
    expect(reads).toBe(1);
    // It is as old as its own query.
    vi.advanceTimersByTime(1_000);
    expect(pages.find(url, 1)).toBeUndefined();
  });

  test('shares the query whose turn has come with those who ask from then on, though others wait longer', async () => {
    const [first, second] = [Promise.withResolvers<void>(), Promise.withResolvers<PetPage>()];
    const waiting = pages.read(
      url,
      1,
      async (onBegun) => {
        await first.promise;
        onBegun();
        return fetch();
      },
      1n,
    );
    const begun = pages.read(
      url,
      1,
      (onBegun) => {
        onBegun();
        return second.promise;
      },
      2n,
    );
    const late = pages.read(url, 1, fetch, 3n);
    second.resolve(page);
    expect(await Promise.all([begun, late])).toEqual([page, page]);
    first.resolve();
    expect(await waiting).toBe(page);
    expect(reads).toBe(0);
  });

  test('shares a query that has begun with every client, also its failure', async () => {
    const lost = new AppError('unavailable', 'Lost.');
    const first = pages.read(
      url,
      'a',
      (onBegun) => {
        onBegun();
        return Promise.reject(lost);
      },
      1n,
    );
    const second = pages.read(url, 'a', fetch, 2n);
    await expect(first).rejects.toBe(lost);
    await expect(second).rejects.toBe(lost);
    expect(reads).toBe(0);
  });

  test('reads again for a concurrent caller with another version', async () => {
    await Promise.all([pages.read(url, 'a', fetch), pages.read(url, 'b', fetch)]);
    expect(reads).toBe(2);
  });

  test('reads again for a caller that came after a change, while a query from before is in flight', async () => {
    const old = Promise.withResolvers<PetPage>();
    const reading = pages.read(url, 1, () => old.promise);
    // A change that the version of the request does not count, as one of a profile.
    changes.version = 2;
    expect(await pages.read(url, 1, fetch)).toBe(page);
    old.resolve(long);
    expect(await reading).toBe(long);
  });

  test('caches nothing after a failed query, and the next caller retries', async () => {
    const fail = () => Promise.reject(new Error('lost'));
    await expect(Promise.all([pages.read(url, 'a', fail), pages.read(url, 'a', fetch)])).rejects.toThrow('lost');
    expect(await pages.read(url, 'a', fetch)).toBe(page);
  });

  test('does not cache a page that was being read when all pages were invalidated', async () => {
    const reading = pages.read(url, 'a', fetch);
    pages.invalidateAll();
    expect(await reading).toBe(page);
    expect(pages.has(url)).toBe(false);
  });

  test('caches at most 64 MB, and evicts the oldest first', async () => {
    const megabyte = pageOf('x'.repeat(1_048_576));
    for (let i = 0; i < 70; i += 1) await pages.read(`/${i}`, 'a', async () => megabyte);
    const cached = Array.from({ length: 70 }, (_, i) => pages.has(`/${i}`));
    expect(cached.lastIndexOf(false)).toBe(cached.indexOf(true) - 1);
    expect(cached.filter(Boolean)).toHaveLength(63);
  });

  test('caches at most 10,000 pages', async () => {
    for (let i = 0; i <= 10_000; i += 1) await pages.read(`/${i}`, 'a', fetch);
    expect([pages.has('/0'), pages.has('/1'), pages.has('/10000')]).toEqual([false, true, true]);
  });

  test('compresses a page once for each coding, also for concurrent callers', async () => {
    const read = await pages.read(url, 'a', async () => long);
    expect(pages.findCompressed(url, read, 'br')).toBeUndefined();
    const both = await Promise.all([compressed(url, read, 'br'), compressed(url, read, 'br')]);
    expect(both[0]).toBe(both[1]);
    expect(await compressed(url, read, 'br')).toBe(both[0]);
    expect(pages.findCompressed(url, read, 'br')).toBe(both[0]);
    expect(pages.findCompressed(url, read, 'gzip')).toBeUndefined();
    expect(brotliDecompressSync(both[0]).toString()).toBe(long.body);
  });

  test('does not find the compressed body of a page that was replaced or invalidated', async () => {
    const replaced = await pages.read(url, 'a', async () => long);
    const compressing = compressed(url, replaced, 'br');
    const current = await pages.read(url, 'b', async () => ({ ...long, etag: '"new"' }));
    await compressing;
    expect([pages.findCompressed(url, replaced, 'br'), pages.findCompressed(url, current, 'br')]).toEqual([undefined, undefined]);
    await compressed(url, current, 'br');
    expect(pages.findCompressed(url, replaced, 'br')).toBeUndefined();
    pages.invalidateAll();
    expect(pages.findCompressed(url, current, 'br')).toBeUndefined();
    expect(brotliDecompressSync(await compressed(url, current, 'br')).toString()).toBe(long.body);
  });

  test('counts the compressed bodies too, and evicts the oldest pages for them', async () => {
    const incompressible = pageOf(randomBytes(786_432).toString('base64'));
    for (let i = 0; i < 60; i += 1) await pages.read(`/${i}`, 'a', async () => incompressible);
    expect(pages.has('/0')).toBe(true);
    await compressed('/59', incompressible, 'gzip');
    for (let i = 20; i < 28; i += 1) await compressed(`/${i}`, incompressible, 'gzip');
    const cached = Array.from({ length: 60 }, (_, i) => pages.has(`/${i}`));
    const compressedMegabytes = (9 * (await compressed('/59', incompressible, 'gzip')).length) / 1_048_576;
    expect(cached.indexOf(true)).toBe(Math.ceil(60 + compressedMegabytes - 64));
    expect(cached.lastIndexOf(false)).toBe(cached.indexOf(true) - 1);
  });
});
