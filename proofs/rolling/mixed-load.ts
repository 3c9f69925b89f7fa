// Requests of partners that must all succeed while processes are replaced, and what became of them.
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { place, queryStore } from '../../testkit/adopters.ts';
import type { HttpClient, Response } from '../../testkit/http.ts';
import { quantile } from '../../testkit/quantile.ts';
import type { Sample } from '../../testkit/steady-load.ts';
import type { Key, Store } from '../../testkit/store.ts';
import type { Claim } from '../proof.ts';
import type { StreamFollower } from './stream-follower.ts';

const arrivalTimeoutMs = 30_000;

/** Of ten requests three write, one of them with a key for retries. Orders are for the first animals, one after another, as long as there are some. */
export async function sendMixed(http: HttpClient, url: string, keys: readonly Key[], index: number, animals: number): Promise<Response> {
  const partner = keys[index % keys.length];
  if (!partner) throw new Error('there is no key');
  try {
    return await sendOne(http, url, partner, index, animals);
  } catch (error) {
    // The reason is shown with the claim.
    return { status: 0, headers: {}, text: String(error) };
  }
}

function sendOne(http: HttpClient, url: string, partner: Key, index: number, animals: number): Promise<Response> {
  const { key } = partner;
  const body = { name: `Added ${index}`, categoryId: 1 + (index % 10) };
  switch (index % 10) {
    case 0:
      return http.send(`${url}/pets`, { method: 'POST', key, body });
    case 3:
      return http.send(`${url}/pets`, { method: 'POST', key, body, headers: { 'idempotency-key': randomUUID() } });
    case 6:
      if (index / 10 < animals) return place(http, url, partner, 1 + Math.floor(index / 10));
      return http.send(`${url}/pets/${1 + (index % animals)}`, { key });
    case 8:
      return http.send(`${url}/events?cursor=latest`, { key });
    default:
      return http.send(`${url}/pets?limit=20&categoryId=${1 + (index % 7)}`, { key });
  }
}

export function judgeRequests(samples: readonly Sample[], during: string, countMin: number): Claim {
  const failed = samples.filter(({ response }) => response?.status !== 200 && response?.status !== 201);
  const kinds = new Map<string, number>();
  for (const { response } of failed) {
    const kind = `${response?.status} ${response?.text.slice(0, 60).replaceAll(/\s+/g, ' ')}`;
    kinds.set(kind, (kinds.get(kind) ?? 0) + 1);
  }
  const shown = failed.length > 0 ? ` (${[...kinds].map(([kind, count]) => `${kind}: ${count}`).join(', ')})` : '';
  const took = samples.map(({ tookMs }) => tookMs);
  // The store itself says that it is overloaded: the machine does other work.
  const isOverloaded = failed.length > 0 && failed.every(({ response }) => response?.text.includes('"code":"unavailable"'));
  return {
    claim: `Requests that fail ${during}`,
    bar: `0 of at least ${countMin.toLocaleString('en')}`,
    figure: `${failed.length} of ${samples.length.toLocaleString('en')}${shown}; the slowest of a hundred took ${quantile(took, 0.99).toFixed(0)} ms`,
    holds: failed.length === 0 && samples.length >= countMin,
    isTimed: isOverloaded,
  };
}

export async function judgeWrites(store: Store, samples: readonly Sample[]): Promise<Claim> {
  const created = samples.flatMap(({ response }) =>
    response?.status === 201 ? [JSON.parse(response.text) as { id: number; petId?: number }] : [],
  );
  const pets = new Set(created.flatMap(({ id, petId }) => (petId === undefined ? [id] : [])));
  const orders = new Set(created.flatMap(({ id, petId }) => (petId === undefined ? [] : [id])));
  const missingIn = async (table: string, ids: ReadonlySet<number>) =>
    (
      await queryStore(
        store,
        `select id from unnest($1::bigint[]) as id where not exists (select from ${table} where ${table}.id = id.id)`,
        [[...ids]],
      )
    ).length;
  const missing = (await missingIn('pets', pets)) + (await missingIn('orders', orders));
  const twice = created.length - pets.size - orders.size;
  return {
    claim: 'Animals and orders that were acknowledged and are not there; that were acknowledged twice',
    bar: '0; 0',
    figure: `${missing} of ${(pets.size + orders.size).toLocaleString('en')}; ${twice}`,
    holds: missing === 0 && twice === 0 && pets.size > 0 && orders.size > 0,
  };
}

export async function judgeStreams(store: Store, followers: readonly StreamFollower[]): Promise<Claim> {
  const last = await untilPublished(store);
  await Promise.all(followers.map((follower) => follower.untilSeen(last, arrivalTimeoutMs)));
  const rows = await queryStore<{ id: string; client: number | null }>(
    store,
    `select 'evt_' || position as id, client_id::int as client from events order by position`,
  );
  const publicIds = rows.filter(({ client }) => client === null).map(({ id }) => id);
  let lost = 0;
  let faults = 0;
  for (const { ids } of followers) {
    const seen = new Set(ids);
    lost += publicIds.filter((id) => !seen.has(id)).length;
    const isSorted = ids.every((id, i) => i === 0 || positionOf(ids[i - 1]) < positionOf(id));
    if (seen.size !== ids.length || !isSorted) faults += 1;
  }
  const connects = followers.reduce((sum, one) => sum + one.connects, 0);
  const failures = followers.flatMap((one) => one.failures);
  return {
    claim: `Events that are missing at ${followers.length} streams; streams with an event twice or out of order; connections that were rejected`,
    bar: '0; 0; 0',
    figure: `${lost} of ${(publicIds.length * followers.length).toLocaleString('en')}; ${faults}; ${failures.length} of ${connects}${failures.length > 0 ? ` (${failures[0]})` : ''}`,
    holds: lost === 0 && faults === 0 && failures.length === 0 && publicIds.length > 0 && connects > followers.length,
  };
}

const positionOf = (id: string | undefined) => Number(id?.slice('evt_'.length));

/** Returns the last event that everyone may read, once all are published. */
async function untilPublished(store: Store): Promise<string> {
  for (const deadlineMs = performance.now() + arrivalTimeoutMs; performance.now() < deadlineMs; await sleep(50)) {
    const [row] = await queryStore<{ waiting: number; last: string }>(
      store,
      `select (select count(*) from outbox)::int as waiting, 'evt_' || max(position) as last from events where client_id is null`,
    );
    if (row?.waiting === 0) return row.last;
  }
  throw new Error('the worker did not publish everything in time');
}
