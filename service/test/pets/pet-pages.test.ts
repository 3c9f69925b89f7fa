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

describe('PetPages', () => {
  test('has a page under the token that was read before it, and under no other', async () => {
    await pages.read(url, 'a', fetch);
    expect([pages.find(url, 'a'), pages.find(url, 'b'), pages.find(url, undefined), pages.find('/v1/pets', 'a')]).toEqual([
      page,
      undefined,
      undefined,
      undefined,
    ]);
  });

  test('reads a page that it has no second time', async () => {
    await pages.read(url, 'a', fetch);
    await pages.read(url, 'a', fetch);
    expect(reads).toBe(1);
  });

  test('keeps nothing without a token', async () => {
    await pages.read(url, undefined, fetch);
    expect(pages.has(url)).toBe(false);
  });

  test('has a page for two seconds from the start of its reading', async () => {
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

  test('reads once for all who ask under the same token at once', async () => {
    const responses = await Promise.all([pages.read(url, 'a', fetch), pages.read(url, 'a', fetch), pages.read(url, 'a', fetch)]);
    expect([reads, ...responses]).toEqual([1, page, page, page]);
  });

  test('reads anew for who asks under another token meanwhile', async () => {
    await Promise.all([pages.read(url, 'a', fetch), pages.read(url, 'b', fetch)]);
    expect(reads).toBe(2);
  });

  test('keeps nothing of a reading that failed, and lets the next try', async () => {
    const fail = () => Promise.reject(new Error('lost'));
    await expect(Promise.all([pages.read(url, 'a', fail), pages.read(url, 'a', fetch)])).rejects.toThrow('lost');
    expect(await pages.read(url, 'a', fetch)).toBe(page);
  });

  test('keeps nothing that was being read when it was told to forget', async () => {
    const reading = pages.read(url, 'a', fetch);
    pages.invalidateAll();
    expect(await reading).toBe(page);
    expect(pages.has(url)).toBe(false);
  });

  test('keeps 64 MB at most, and drops the oldest first', async () => {
    const megabyte = pageOf('x'.repeat(1_048_576));
    for (let i = 0; i < 70; i += 1) await pages.read(`/${i}`, 'a', async () => megabyte);
    const kept = Array.from({ length: 70 }, (_, i) => pages.has(`/${i}`));
    expect(kept.lastIndexOf(false)).toBe(kept.indexOf(true) - 1);
    expect(kept.filter(Boolean)).toHaveLength(63);
  });

  test('keeps 10,000 pages at most', async () => {
    for (let i = 0; i <= 10_000; i += 1) await pages.read(`/${i}`, 'a', fetch);
    expect([pages.has('/0'), pages.has('/1'), pages.has('/10000')]).toEqual([false, true, true]);
  });
});
