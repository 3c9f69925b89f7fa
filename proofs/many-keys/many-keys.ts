// Many keys that are each used seldom, a failover of Redis that loses a revocation, and the memory for a million keys.
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import type pg from 'pg';
import { replaceEpoch } from '../../service/src/access/clients/client-changes.ts';
import { clientSubject } from '../../service/src/access/rate-limit/limiter.ts';
import { HttpClient } from '../../testkit/http.ts';
import { connectTo } from '../../testkit/postgres.ts';
import { quantile } from '../../testkit/quantile.ts';
import { Staff } from '../../testkit/staff.ts';
import { type Key, type ServeProcess, Store } from '../../testkit/store.ts';
import { runCommand } from '../../tools/command.ts';
import type { Claim, Proof, ProofContext } from '../proof.ts';
import type { CachedKeysHeap } from './cached-keys-heap.ts';

const processes = 2;
const cycleMs = 12_000;
const readsPerRequestMax = 0.1;
const looksPerSecondMax = 10;
const revivedMsMax = 10_000;
const cachedKeysMin = 1_000_000;
const fillTimeoutMs = 5 * 60_000;
/** The key cache may take 384 MiB by its own estimate, which may be wrong by 15%. */
const heapMiBMax = Math.round(384 * 1.15);
const limits = { perMinute: 1_000_000, perDay: 100_000_000 };

interface Setup {
  readonly store: Store;
  readonly staff: Staff;
  readonly http: HttpClient;
}

export const manyKeys: Proof = {
  name: 'many-keys',
  promise: 'a key that is used seldom costs PostgreSQL nothing, and a failover of Redis that loses a revocation does not revive the key',
  // The mutant trusts keys for 10 s, and doesn't evict the keys of changed clients.
  mutant: [
    { file: 'access/clients/key-finder.ts', from: 'ttlSeconds = 600', to: 'ttlSeconds = 10' },
    { file: 'dependencies.ts', from: "changes.on('clients', (ids) => keys.evictClients(ids));", to: '' },
  ],
  isNightly: true,
  about: ['service/src/access/clients', 'service/src/platform/redis', 'proofs/many-keys'],
  run,
};

async function run({ short, root, progress }: ProofContext): Promise<Claim[]> {
  await using store = await Store.open({
    processes,
    // Requests with a revoked key are limited by address, so each request has a different address.
    env: { HOMEWARD_TRUSTED_PROXIES: '127.0.0.1' },
    settings: { shared_preload_libraries: 'pg_stat_statements' },
    root,
  });
  await using staff = await Staff.of(store);
  using http = new HttpClient();
  const setup: Setup = { store, staff, http };
  progress('keys that are each used every 12 s');
  const seldom = await measureReads(setup, { keys: short ? 100 : 300, cycles: short ? 1 : 5 });
  progress('failovers of Redis that lose a revocation');
  const failovers = await measureFailovers(setup, short ? 5 : 40);
  progress('failovers with a restart');
  const restarts = await measureRestarts(setup, short ? 10 : 40);
  progress('a million keys');
  const heap = await claimHeap(short ? cachedKeysMin / 5 : 4 * cachedKeysMin);
  return [
    ...claimReads(seldom),
    claimRevived('that Redis forgot in a failover', failovers),
    claimRevived('whose epoch was back after a restart of Redis with earlier data', restarts),
    heap,
  ];
}

interface Reads {
  readonly keys: number;
  readonly requests: number;
  readonly keyReads: number;
  readonly looks: number;
  readonly seconds: number;
}

/** Sends each key to one process every 12 s. The first cycle is not counted. */
async function measureReads({ store, staff, http }: Setup, { keys: count, cycles }: { keys: number; cycles: number }): Promise<Reads> {
  const keys = await newKeys(staff, 'seldom', count);
  const url = store.processes[0]?.url ?? '';
  const sendAll = async () => {
    const startedAtMs = performance.now();
    for (const [index, { key }] of keys.entries()) {
      await sleep(Math.max(startedAtMs + (index / count) * cycleMs - performance.now(), 0));
      // No animal has this id, so that only the key is read.
      const { status } = await http.send(`${url}/pets/none`, { key });
      if (status !== 404) throw new Error(`a valid key got ${status}`);
    }
    await sleep(Math.max(startedAtMs + cycleMs - performance.now(), 0));
  };
  await using client = await connectTo(store.postgres.url);
  await client.query('create extension if not exists pg_stat_statements');
  await sendAll();
  const before = await countStatements(client);
  const startedAtMs = performance.now();
  for (let cycle = 0; cycle < cycles; cycle += 1) await sendAll();
  const after = await countStatements(client);
  return {
    keys: count,
    requests: count * cycles,
    keyReads: after.keyReads - before.keyReads,
    looks: after.looks - before.looks,
    seconds: (performance.now() - startedAtMs) / 1_000,
  };
}

async function countStatements(client: pg.Client): Promise<{ keyReads: number; looks: number }> {
  const { rows } = await client.query<{ keyReads: number; looks: number }>(
    `select coalesce(sum(calls) filter (where query like '%from api_keys%'), 0)::int as "keyReads",
      coalesce(sum(calls) filter (where query like '%pg_current_snapshot%'), 0)::int as looks
     from pg_stat_statements where query not like '%pg_stat_statements%'`,
  );
  return rows[0] ?? { keyReads: 0, looks: 0 };
}

function claimReads({ keys, requests, keyReads, looks, seconds }: Reads): Claim[] {
  return [
    {
      claim: `Reads of a key in PostgreSQL per request: ${keys} keys, each sent to a process every 12 s`,
      bar: `${readsPerRequestMax}`,
      figure: `${(keyReads / requests).toFixed(3)} (${keyReads} for ${requests} requests)`,
      holds: requests > 0 && keyReads / requests <= readsPerRequestMax,
    },
    {
      claim: 'Looks for changes per second by that process, however many requests it gets',
      bar: `1 to ${looksPerSecondMax}`,
      figure: (looks / seconds).toFixed(1),
      holds: looks / seconds >= 1 && looks / seconds <= looksPerSecondMax,
    },
  ];
}

/** The time for which each key was admitted after its revocation had returned, or after the failover if that was later. */
type RevivedMs = readonly number[];

/** The link stays up: processes reach the new primary by the same address. It has all data except the epoch of the revocation. */
async function measureFailovers(setup: Setup, count: number): Promise<RevivedMs> {
  const { redis, redisKeys } = setup.staff.dependencies;
  const revivedMs: number[] = [];
  for (const key of await newKeys(setup.staff, 'forgotten', count)) {
    await warm(setup, key);
    const epochKey = redisKeys.epoch(clientSubject(BigInt(key.clientId)));
    const epoch = await redis.client.get(epochKey);
    const { clientId } = await setup.staff.revokeWithoutInvalidation(key);
    await replaceEpoch(redis, redisKeys, clientId);
    await redis.client.set(epochKey, epoch ?? '');
    revivedMs.push(await msUntilRejected(setup, key));
  }
  return revivedMs;
}

/** Redis is killed after the revocations have returned, and comes back with a copy from before them. */
async function measureRestarts(setup: Setup, count: number): Promise<RevivedMs> {
  const keys = await newKeys(setup.staff, 'restarted', count);
  await Promise.all(keys.map((key) => warm(setup, key)));
  await setup.staff.dependencies.redis.client.save();
  await Promise.all(keys.map((key) => setup.staff.revoke(key)));
  await setup.store.redis.signal('SIGKILL');
  await setup.store.redis.start();
  return Promise.all(keys.map((key) => msUntilRejected(setup, key)));
}

/** From now until every process has rejected the key and admits it no more. */
async function msUntilRejected(setup: Setup, key: Key): Promise<number> {
  const startedAtMs = performance.now();
  let admittedAtMs = startedAtMs;
  let rejectedTimes = 0;
  // Some responses more, so that a key that is revived later is noticed.
  while (rejectedTimes < 5 && performance.now() - startedAtMs < 2 * revivedMsMax) {
    const sentAtMs = performance.now();
    const statuses = await Promise.all(setup.store.processes.map((process) => statusOf(setup, process, key)));
    const isRejected = statuses.every((status) => status === 401);
    rejectedTimes = isRejected ? rejectedTimes + 1 : 0;
    if (!isRejected) admittedAtMs = sentAtMs;
    await sleep(20);
  }
  return rejectedTimes < 5 ? Number.POSITIVE_INFINITY : admittedAtMs - startedAtMs;
}

function claimRevived(what: string, revivedMs: RevivedMs): Claim {
  return {
    claim: `Time for which a revoked key ${what} is admitted, on ${processes} processes`,
    bar: `${revivedMsMax / 1_000} s`,
    figure: `${(Math.max(...revivedMs) / 1_000).toFixed(2)} s at most, median ${(quantile(revivedMs, 0.5) / 1_000).toFixed(2)} s, of ${revivedMs.length} keys`,
    holds: revivedMs.length > 0 && revivedMs.every((ms) => ms <= revivedMsMax),
  };
}

/** Sends more keys than a process caches, or, in the short form, a part of those that it must cache: the others take as much each. */
async function claimHeap(sent: number): Promise<Claim> {
  const script = fileURLToPath(new URL('cached-keys-heap.ts', import.meta.url));
  const { stdout, output } = await runCommand(process.execPath, ['--expose-gc', script, String(sent)], { timeoutMs: fillTimeoutMs });
  if (!stdout.trim()) throw new Error(output);
  const { cached, bytes } = JSON.parse(stdout) as CachedKeysHeap;
  const wanted = Math.min(sent, cachedKeysMin);
  const mebibytesMax = (heapMiBMax * wanted) / cachedKeysMin;
  return {
    claim: `Keys that a process has cached after ${sent.toLocaleString('en')}, each of its own client, and the heap that they take`,
    bar: `${wanted.toLocaleString('en')} or more, ${mebibytesMax.toFixed(0)} MiB or less`,
    figure: `${cached.toLocaleString('en')}, ${(bytes / 1_048_576).toFixed(0)} MiB (${(bytes / cached).toFixed(0)} bytes each)`,
    holds: cached >= wanted && bytes <= mebibytesMax * 1_048_576,
  };
}

/** Each of its own client. */
async function newKeys(staff: Staff, name: string, count: number): Promise<Key[]> {
  const keys: Key[] = [];
  for (let number = 0; number < count; number += 1) keys.push(await staff.createKey(`${name} ${number}`, limits));
  return keys;
}

/** Sends two requests with the key to each process, so that each has it cached. */
async function warm(setup: Setup, key: Key): Promise<void> {
  for (let time = 0; time < 2; time += 1) {
    for (const process of setup.store.processes) {
      const status = await statusOf(setup, process, key);
      if (status !== 404) throw new Error(`a valid key got ${status}`);
    }
  }
}

let sentCount = 0;

async function statusOf({ http }: Setup, { url }: ServeProcess, { key }: Key): Promise<number> {
  sentCount += 1;
  const address = `10.${(sentCount >> 16) & 255}.${(sentCount >> 8) & 255}.${sentCount & 255}`;
  return (await http.send(`${url}/pets/none`, { key, headers: { 'x-forwarded-for': address } })).status;
}
