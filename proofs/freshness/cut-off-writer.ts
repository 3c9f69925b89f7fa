// One process is cut off from Redis while it changes animals: the others can't learn of its changes there.
import { randomInt } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { startCuttableProxy } from '../../testkit/cuttable-proxy.ts';
import type { HttpClient } from '../../testkit/http.ts';
import type { Key, Store } from '../../testkit/store.ts';
import { none } from '../claims.ts';
import type { Claim } from '../proof.ts';
import { TrackedCategory } from './tracked-category.ts';

const changesPerCut = 4;
const categoryId = 2_000;
/** Keeps the list in the cache of every process that reads it. */
const readPauseMsMax = 10;

interface Read {
  /** The versions that the list may show: what was acknowledged when the request was sent, up to the change in flight at its response. */
  readonly from: number;
  readonly to: number;
  readonly list: string;
}

/** The store's processes read. Another one writes, with and without a connection to Redis. */
export async function cutOffWriter(store: Store, http: HttpClient, manager: Key, cuts: number): Promise<Claim> {
  const readers = [...store.processes];
  await using proxy = await startCuttableProxy(store.redis.port);
  const writer = await store.serve({ REDIS_URL: `redis://127.0.0.1:${proxy.port}` });
  const category = new TrackedCategory(categoryId);
  const reads: Read[] = [];
  const stopping = new AbortController();
  const reading = readers.map(async ({ url }) => {
    while (!stopping.signal.aborted) {
      await read(http, url, manager, category, reads);
      await sleep(randomInt(readPauseMsMax));
    }
  });
  for (let cut = 0; cut < cuts; cut += 1) {
    await category.change(http, writer.url, manager);
    proxy.cut(cut % 2 === 0 ? 'closed' : 'silent');
    for (let i = 0; i < changesPerCut; i += 1) {
      await category.change(http, writer.url, manager);
      // At once: this is when a list would still be stale.
      await Promise.all(readers.map(({ url }) => read(http, url, manager, category, reads)));
    }
    proxy.restore();
  }
  stopping.abort();
  await Promise.all(reading);
  // All changes are acknowledged by now, so the versions that lists showed before are known too.
  const stale = reads.filter(({ from, to, list }) => (category.versionOf(list, from) ?? Number.POSITIVE_INFINITY) > to);
  return none(
    `Lists from the other ${readers.length} processes that miss a change acknowledged by one that is cut off from Redis, with ${cuts * changesPerCut} changes`,
    stale.length,
    { of: reads.length, control: reads.length >= 100 },
  );
}

async function read(http: HttpClient, url: string, { key }: Key, category: TrackedCategory, reads: Read[]): Promise<void> {
  const from = category.acknowledged;
  const response = await http.send(`${url}/pets?limit=100&categoryId=${category.categoryId}`, { key });
  if (response.status !== 200) throw new Error(`a list got ${response.status}: ${response.text}`);
  reads.push({ from, to: category.acknowledged + 1, list: response.text });
}
