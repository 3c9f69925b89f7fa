import { describe, expect, test, vi } from 'vitest';
import { createManager } from '../../adoption-steps.ts';
import { addDescribed, type ListingBody } from '../../listing-steps.ts';
import { nextPage, walk } from '../../page-walk.ts';
import { openTestStore } from '../../test-store.ts';

const animalsCount = 50;
const bytesMax = 1_000_000;
const path = '/v1/listings?status=available&limit=100';

/** The newest first, as they are listed. */
const store = await openTestStore();
const [key, manager] = [await store.createKey(), await createManager(store)];
const ids: number[] = [];
// 8,000 characters, of 3 bytes each.
const description = '€'.repeat(8_000);
for (let i = 0; i < animalsCount; i += 1) {
  ids.unshift((await addDescribed(store, key, { name: `Rex ${i}` }, { description })).id);
}

const read = async () => {
  const response = await store.call<ListingBody[]>('GET', path, { key: key.key });
  return { ...response, ids: response.json.map(({ pet }) => pet.id) };
};
let renamed = 0;
const rename = async (id: number | undefined) => {
  renamed += 1;
  const { status } = await store.call('PATCH', `/v1/pets/${id}`, { key: manager.key, body: { name: `Rex the ${renamed}th` } });
  expect(status).toBe(200);
};

describe('A page of listings', () => {
  test('has at most 1 MB, and ends before the animal that would exceed it', async () => {
    const first = await read();
    const bytes = Buffer.byteLength(first.text);
    expect(bytes).toBeLessThanOrEqual(bytesMax);
    expect(bytes + bytes / first.ids.length).toBeGreaterThan(bytesMax);
    expect(first.ids).toEqual(ids.slice(0, first.ids.length));
    expect(nextPage(first)).toContain('limit=100&');
  });

  test('is followed by pages with all other animals, each once', async () => {
    const pages = (await walk(store, key, path)) as ListingBody[][];
    expect(pages.length).toBeGreaterThan(1);
    expect(pages.flat().map(({ pet }) => pet.id)).toEqual(ids);
  });

  test('stays cached while animals behind the first one left out change, and no longer', async () => {
    const { ids: shown } = await read();
    const searches = vi.spyOn(store.dependencies.db, 'search');
    const searchesAfterRenaming = async (id: number | undefined) => {
      await read();
      await rename(id);
      searches.mockClear();
      await read();
      return searches.mock.calls.length;
    };
    // On a busy machine Redis may be late, and then nothing cached is used: that is no proof, so it is tried again.
    await vi.waitUntil(async () => (await searchesAfterRenaming(ids[shown.length + 1])) === 0);
    expect(await searchesAfterRenaming(ids[shown.length])).toBe(1);
    searches.mockRestore();
  });
});
