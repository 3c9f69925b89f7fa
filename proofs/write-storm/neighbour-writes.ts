// One client writes as much as a Business plan allows: how many lists of others are still served from the cache?
import { randomInt } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { act, adopterOf, queryStore } from '../../testkit/adopters.ts';
import type { HttpClient, Response } from '../../testkit/http.ts';
import { SteadyLoad } from '../../testkit/steady-load.ts';
import type { Key, ServeProcess, Store } from '../../testkit/store.ts';
import type { Claim } from '../proof.ts';

const animalCount = 2_000;
const categoryCount = 20;
const pageSize = 20;
const readsPerSecond = 300;
const writesPerMinute = 1_000;
const shareMin = 0.8;
/** The share of the intended requests that must succeed for the measurement to count. */
const doneMin = 0.9;
/** PostgreSQL's statistics are complete after this time without work. */
const statisticsMs = 1_500;

/** `writer` has a Business plan. Writes go to one process and reads to another. */
export async function neighbourWrites(
  store: Store,
  http: HttpClient,
  processes: { readonly writing: ServeProcess; readonly reading: ServeProcess },
  { writer, reader }: { writer: Key; reader: Key },
  seconds: number,
): Promise<Claim[]> {
  const ids = await addAnimals(store);
  const urls = await walkPages(http, processes.reading.url, reader);
  const post = (path: string, body: unknown) => http.send(`${processes.writing.url}${path}`, { method: 'POST', key: writer.key, body });
  const add = () => post('/pets', { name: 'Biscuit', categoryId: 1 + randomInt(categoryCount) });
  const placed: number[] = [];
  // An order of a random animal and its cancellation take turns, so that the client never has too many open orders.
  const order = async (i: number): Promise<Response> => {
    const open = i % 2 === 0 ? undefined : placed.shift();
    if (open !== undefined) return act(http, processes.writing.url, writer, open, 'cancel');
    const petId = ids[randomInt(ids.length)] ?? 0;
    const response = await post('/store/orders', { petId, adopter: adopterOf(petId) });
    if (response.status === 201) placed.push(Number(JSON.parse(response.text).id));
    return response;
  };
  const quiet = await cachedShare(undefined);
  const claims: Claim[] = [];
  for (const [what, write] of [
    ['animals are added', add],
    ['random animals are ordered and released', order],
  ] as const) {
    const beside = await cachedShare(write);
    const share = beside.cached / quiet.cached;
    claims.push({
      claim: `Lists of others served from the cache while one client makes ${writesPerMinute.toLocaleString('en')} writes a minute: ${what}`,
      bar: `at least ${shareMin} of those without writes`,
      figure: `${share.toFixed(2)} (${percent(beside.cached)} against ${percent(quiet.cached)}, over ${urls.length} pages, with ${beside.writes} writes)`,
      holds: share >= shareMin && beside.writes >= doneMin * seconds * (writesPerMinute / 60),
      isTimed: true,
    });
  }
  return claims;

  async function cachedShare(write: ((i: number) => Promise<Response>) | undefined): Promise<{ cached: number; writes: number }> {
    await sleep(statisticsMs);
    const before = await countPageReads(store);
    const writing = write && new SteadyLoad(writesPerMinute / 60, write);
    const reading = new SteadyLoad(readsPerSecond, () => http.send(urls[randomInt(urls.length)] ?? '', { key: reader.key }));
    await sleep(seconds * 1_000);
    const reads = (await reading.stop()).filter(isDone).length;
    const writes = ((await writing?.stop()) ?? []).filter(isDone).length;
    if (reads < doneMin * seconds * readsPerSecond) throw new Error(`only ${reads} lists were read in ${seconds} s`);
    await sleep(statisticsMs);
    return { cached: 1 - ((await countPageReads(store)) - before) / reads, writes };
  }
}

/** An order of an animal that is pending already is rejected, and so is a request that a busy machine can't handle in time. */
const isDone = ({ response }: { response: Response | undefined }) => response?.status === 200 || response?.status === 201;

/** Adds them by SQL, which is faster. Each category has several full pages. */
async function addAnimals(store: Store): Promise<number[]> {
  await queryStore(store, 'insert into categories (id) select generate_series(1, $1::int) on conflict do nothing', [categoryCount]);
  const rows = await queryStore<{ id: number }>(
    store,
    `insert into pets (name, category_id, status) select 'Biscuit', 1 + n % $1::int, 'available' from generate_series(1, $2::int) as n
      returning id::int`,
    [categoryCount, animalCount],
  );
  await queryStore(store, 'analyze pets');
  return rows.map(({ id }) => id);
}

/** Every page of each category and of the available animals. */
async function walkPages(http: HttpClient, url: string, { key }: Key): Promise<string[]> {
  const urls: string[] = [];
  const firsts = Array.from({ length: categoryCount }, (_, i) => `/v1/pets?limit=${pageSize}&categoryId=${i + 1}`);
  for (const first of [...firsts, `/v1/pets?limit=${5 * pageSize}&status=available`]) {
    for (let path: string | undefined = first; path; ) {
      const page: string = new URL(path, url).href;
      urls.push(page);
      path = /^<(.+)>; rel="next"$/.exec((await http.send(page, { key })).headers.link?.toString() ?? '')?.[1];
    }
  }
  return urls;
}

/** A single animal is found by the primary key; a list by another index, or by a sequential scan. */
async function countPageReads(store: Store): Promise<number> {
  const [scans] = await queryStore<{ count: number }>(
    store,
    `select (seq_scan + (select sum(idx_scan) from pg_stat_user_indexes where relname = 'pets' and indexrelname <> 'pets_pkey'))::int as count
      from pg_stat_user_tables where relname = 'pets'`,
  );
  return scans?.count ?? 0;
}

const percent = (share: number) => `${(100 * share).toFixed(0)}%`;
