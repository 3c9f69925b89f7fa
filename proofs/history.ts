// `homeward verify` on a long history beside writes, and on histories that were tampered with.
import { spawn } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { fileURLToPath } from 'node:url';
import { act, castOf, place, queryStore, type Verified, verify } from '../testkit/adopters.ts';
import { HttpClient } from '../testkit/http.ts';
import { connectTo } from '../testkit/postgres.ts';
import { SteadyLoad } from '../testkit/steady-load.ts';
import { Store } from '../testkit/store.ts';
import type { Claim, Proof, ProofContext } from './proof.ts';

const main = fileURLToPath(new URL('../service/src/main.ts', import.meta.url));
const secondsPerMillionMax = 60;
const snapshotSecondsMax = 5;
/** The share of the writes that must succeed, so that there is a load at all. A store on too few cores rejects some with 503. */
const acknowledgedMin = 0.9;
const snapshotIntervalMs = 50;
/** The rows of one animal: added, placed, pending, approved, completed, sold, returned, available. */
const rowsPerAnimal = 8;
const animalsPerStatement = 50_000;
/** An animal with more rows than `verify` reads in one snapshot. */
const longHistoryOf = 13;
/** Animals up to this one are tampered with, so nobody orders them. */
const reservedMax = 100;

export const history: Proof = {
  name: 'history',
  promise: 'the whole history can be replayed beside writes and without a long snapshot, and tampering is found',
  // The mutant does not check for two open orders.
  mutant: [{ file: 'adoption/verify/replay.ts', from: 'if (this.#open.size > 1)', to: 'if (this.#open.size > 2)' }],
  run,
};

async function run({ short, root, progress }: ProofContext): Promise<Claim[]> {
  await using store = await Store.open({ processes: 2, root, env: { LOG_LEVEL: 'warn' } });
  const animals = short ? 10_000 : 1_250_000;
  const longHistory = short ? 12_000 : 100_000;
  const rows = animals * rowsPerAnimal + longHistory;
  await fill(store, animals, progress);
  await lengthen(store, longHistory);
  progress(`verifying ${rows} rows`);
  const { verified, seconds, writes, rejected, failed, oldestSeconds } = await verifyBesideWrites(store, animals, short ? 50 : 200);
  const screen = await runOnTerminal(store);
  const found = await tamper(store);
  const secondsMax = secondsPerMillionMax * Math.max(rows / 1_000_000, 1);
  return [
    {
      claim: `homeward verify over ${verified.rows.toLocaleString('en')} rows of history, beside ${(writes / seconds).toFixed(0)} writes a second`,
      bar: `no violation, ${secondsPerMillionMax} s for each million rows`,
      figure: `${verified.violation ?? 'no violation'}, ${seconds.toFixed(1)} s`,
      holds: verified.holds && verified.rows >= rows && seconds < secondsMax,
      isTimed: verified.holds && verified.rows >= rows,
    },
    {
      claim: 'Writes meanwhile that succeed; that fail with anything but 503',
      bar: `${acknowledgedMin * 100}%; 0`,
      figure: `${(((writes - rejected - failed) / writes) * 100).toFixed(1)}% of ${writes.toLocaleString('en')}; ${failed}`,
      holds: failed === 0 && writes > 0 && writes - rejected >= acknowledgedMin * writes,
      isTimed: failed === 0,
    },
    {
      claim: 'The oldest snapshot or transaction of any process of the store meanwhile',
      bar: `${snapshotSecondsMax} s`,
      figure: `${oldestSeconds.toFixed(2)} s`,
      holds: oldestSeconds > 0 && oldestSeconds <= snapshotSecondsMax,
      isTimed: true,
    },
    {
      claim: 'A progress bar on a terminal',
      bar: 'reaches 100%',
      figure: /\] 100%/.test(screen) ? 'reaches 100%' : 'does not',
      holds: /\] 100%/.test(screen),
    },
    {
      claim: 'Kinds of tampering that it finds',
      bar: 'every one',
      figure: found.map(([kind, ok]) => `${kind}: ${ok ? 'found' : 'MISSED'}`).join(', '),
      holds: found.every(([, ok]) => ok),
    },
  ];
}

/** Inserts the whole history of each animal by SQL: one order that is completed and returned. Foreign keys are not checked. */
async function fill(store: Store, animals: number, progress: ProofContext['progress']): Promise<void> {
  await queryStore(store, "insert into clients (name, plan) values ('filler', 'free')");
  for (let filled = 0; filled < animals; filled += animalsPerStatement) {
    progress(`filling ${filled * rowsPerAnimal} of ${animals * rowsPerAnimal} rows`);
    await queryStore(
      store,
      `set session_replication_role = replica;
      with client as (select id from clients where name = 'filler'),
        pet as (insert into pets (name, category_id, status) select 'Animal ' || i, 1 + i % 10, 'available' from generate_series(1, ${Math.min(animals - filled, animalsPerStatement)}) as i returning id),
        placed as (insert into orders (client_id, pet_id, expires_at, status) select client.id, pet.id, now() + interval '2 days', 'returned' from pet, client returning id, pet_id)
      insert into history (pet_id, order_id, from_status, to_status, why)
        select pet_id, case when of_order then placed.id end, from_status, to_status, 'filled' from placed,
          (values (1, false, null, 'available'), (2, true, null, 'placed'), (3, false, 'available', 'pending'), (4, true, 'placed', 'approved'),
            (5, true, 'approved', 'completed'), (6, false, 'pending', 'sold'), (7, true, 'completed', 'returned'), (8, false, 'sold', 'available')
          ) as step (n, of_order, from_status, to_status)
        order by pet_id, n`,
    );
  }
  await queryStore(store, 'vacuum analyze');
}

async function lengthen(store: Store, rows: number): Promise<void> {
  await queryStore(
    store,
    `insert into history (pet_id, from_status, to_status, why)
      select ${longHistoryOf}, 'available', 'available', 'edited by staff' from generate_series(1, ${rows})`,
  );
}

interface BesideWrites {
  readonly verified: Verified;
  readonly seconds: number;
  readonly writes: number;
  /** How many got 503: a connection to PostgreSQL was not free in time. */
  readonly rejected: number;
  /** How many failed in any other way. */
  readonly failed: number;
  readonly oldestSeconds: number;
}

/** Animals are added, ordered, and their orders cancelled, while the command runs. */
async function verifyBesideWrites(store: Store, animals: number, perSecond: number): Promise<BesideWrites> {
  const { manager, partners } = await castOf(store, 4);
  using http = new HttpClient();
  const placed: number[] = [];
  const load = new SteadyLoad(perSecond, async (i) => {
    const url = store.processes[randomInt(store.processes.length)]?.url ?? '';
    const orderId = i % 3 === 0 ? placed.shift() : undefined;
    if (orderId !== undefined) return act(http, url, manager, orderId, 'cancel');
    if (i % 3 === 1) return http.send(`${url}/pets`, { method: 'POST', key: manager.key, body: { name: 'Late', categoryId: 1 } });
    const petId = reservedMax + 1 + randomInt(animals - reservedMax);
    const response = await place(http, url, partners[i % partners.length] ?? manager, petId);
    if (response.status === 201) placed.push(JSON.parse(response.text).id);
    return response;
  });
  const watch = watchSnapshots(store);
  const startMs = performance.now();
  const verified = await verify(store);
  const seconds = (performance.now() - startMs) / 1_000;
  const samples = await load.stop();
  const rejected = samples.filter(({ response }) => response?.status === 503).length;
  const failed = samples.filter(({ response }) => !response || response.status >= 500).length - rejected;
  return { verified, seconds, writes: samples.length, rejected, failed, oldestSeconds: await watch.stop() };
}

/** Measures the age of the oldest transaction that has a snapshot, again and again. `stop` returns the maximum. */
export function watchSnapshots(store: Store): { stop(): Promise<number> } {
  const stopping = new AbortController();
  const watching = (async () => {
    await using client = await connectTo(store.postgres.url);
    let oldest = 0;
    while (!stopping.signal.aborted) {
      const { rows } = await client.query<{ seconds: number | null }>(
        `select extract(epoch from max(clock_timestamp() - xact_start))::float8 as seconds from pg_stat_activity
          where backend_type = 'client backend' and pid <> pg_backend_pid() and (backend_xmin is not null or backend_xid is not null)`,
      );
      oldest = Math.max(oldest, rows[0]?.seconds ?? 0);
      await new Promise((resolve) => setTimeout(resolve, snapshotIntervalMs));
    }
    return oldest;
  })();
  return {
    stop: () => {
      stopping.abort();
      return watching;
    },
  };
}

/** Runs the command on a pseudo-terminal, provided by `script`. The timeout guards against a `script` that never ends. */
async function runOnTerminal(store: Store): Promise<string> {
  const env = { ...process.env, DATABASE_URL: store.postgres.url, REDIS_URL: store.redis.url };
  const child = spawn('script', ['-qec', `'${process.execPath}' '${main}' verify`, '/dev/null'], {
    env,
    stdio: ['pipe', 'pipe', 'inherit'],
    timeout: 1_200_000,
  });
  let screen = '';
  for await (const text of child.stdout.setEncoding('utf8')) screen = (screen + text).slice(-100_000);
  return screen;
}

/** Tampers in each way, checks that `verify` finds it, and undoes it. */
async function tamper(store: Store): Promise<Array<[string, boolean]>> {
  const kinds: Array<[string, string, string]> = [
    [
      'a status changed without a history row',
      "update pets set status = 'sold' where id = 7",
      "update pets set status = 'available' where id = 7",
    ],
    [
      'two open orders',
      `with forged as (insert into orders (client_id, pet_id, expires_at, status) select client_id, 9, now(), 'cancelled' from orders where pet_id in (9, 10) returning id),
        numbered as (select id, row_number() over (order by id) as n from forged)
      insert into history (pet_id, order_id, from_status, to_status, why)
        select 9, case when of_order then id end, from_status, to_status, 'forged' from numbered
          join (values (1, 1, true, null, 'placed'), (1, 2, false, 'available', 'pending'), (2, 3, true, null, 'placed')) as step (who, n2, of_order, from_status, to_status) on who = n
        order by n2`,
      "delete from history where why = 'forged'; delete from orders where pet_id = 9 and status = 'cancelled'",
    ],
    [
      'a deleted row',
      "create table deleted_row as select * from history where pet_id = 11 and to_status = 'approved'; delete from history where id in (select id from deleted_row)",
      'insert into history overriding system value select * from deleted_row',
    ],
    [
      'a row deleted from a long history',
      `create table deleted_long_row as select * from history where pet_id = ${longHistoryOf} order by id offset 2 limit 1; delete from history where id in (select id from deleted_long_row)`,
      'insert into history overriding system value select * from deleted_long_row',
    ],
    [
      'a deleted animal',
      `create table deleted_pet as select * from pets where id = 14; set session_replication_role = replica; delete from pets where id = 14`,
      'insert into pets overriding system value select * from deleted_pet',
    ],
    [
      'an order without a history',
      "insert into orders (client_id, pet_id, expires_at, status) select client_id, pet_id, now(), 'cancelled' from orders where pet_id = 12",
      "delete from orders where pet_id = 12 and status = 'cancelled'",
    ],
  ];
  const found: Array<[string, boolean]> = [];
  for (const [kind, forge, undo] of kinds) {
    await queryStore(store, forge);
    const { holds, violation = '' } = await verify(store);
    found.push([kind, !holds && (kind === 'two open orders' ? violation.includes('are open at once') : violation !== '')]);
    await queryStore(store, undo);
  }
  found.push(['a valid history once all is undone', (await verify(store)).holds]);
  return found;
}
