import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { PageCache, type PetPage } from '../../src/pets/page-cache.ts';

const url = '/v1/pets?limit=1';
const pageOf = (body: string): PetPage => ({ body, etag: `"${body.length}"`, link: undefined });
const page = pageOf('[]');

let pages: PageCache;
let reads: number;
beforeEach(() => {
  vi.useFakeTimers({ toFake: ['performance'] });
  pages = new PageCache();
  reads = 0;
});
afterEach(() => void vi.useRealTimers());

const fetch = async () => {
  reads += 1;
  return page;
};

describe('PageCache', () => {
  test('finds a page with the token that was read before it, and with no other', async () => {
    await pages.read(url, 'a', fetch);
    expect([pages.find(url, 'a'), pages.find(url, 'b'), pages.find(url, undefined), pages.find('/v1/pets', 'a')]).toEqual([
      page,
      undefined,
      undefined,
      undefined,
    ]);
  });

  test('does not read a cached page again', async () => {
    await pages.read(url, 'a', fetch);
    await pages.read(url, 'a', fetch);
    expect(reads).toBe(1);
  });

  test('caches nothing without a token', async () => {
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

  test('reads once for concurrent callers with the same token', async () => {
    const responses = await Promise.all([pages.read(url, 'a', fetch), pages.read(url, 'a', fetch), pages.read(url, 'a', fetch)]);
    expect([reads, ...responses]).toEqual([1, page, page, page]);
  });

  test('reads again for a concurrent caller with another token', async () => {
    await Promise.all([pages.read(url, 'a', fetch), pages.read(url, 'b', fetch)]);
    expect(reads).toBe(2);
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
});
