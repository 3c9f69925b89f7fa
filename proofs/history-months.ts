// The history gets the partition of a month under load, at any size, and `homeward verify` reads all of it in short snapshots.
import { randomInt } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { generous, place, queryStore, verify } from '../testkit/adopters.ts';
import { HttpClient } from '../testkit/http.ts';
import { connectTo } from '../testkit/postgres.ts';
import { type Sample, SteadyLoad } from '../testkit/steady-load.ts';
import { type Key, Store } from '../testkit/store.ts';
import { watchSnapshots } from './history.ts';
import type { Claim, Proof, ProofContext } from './proof.ts';

const waitMsMax = 1_000;
const secondsPerMillionMax = 15;
const snapshotSecondsMax = 5;
/** Added, edited, and an order that is completed and returned, with the animal's status. */
const editsPerAnimal = 32;
const rowsPerAnimal = 1 + editsPerAnimal + 7;
const animalsPerStatement = 25_000;
const months = 12;
const clients = 4;
const warmUpCount = 50;
const perSecond = { reads: 30, writes: 20 };
const hourMs = 3_600_000;

export const historyMonths: Proof = {
  name: 'history-months',
  promise: 'the history gets a partition a month while the store runs, and verify reads all of it in short snapshots',
  // The mutant keeps the locks of animals and orders for longer than it takes to attach an empty table.
  mutant: [
    {
      file: 'migrations/0010_transitions.sql',
      from: '    made := made + 1;',
      to: '    made := made + 1; perform pg_sleep(3);',
    },
  ],
  isNightly: true,
  about: ['service/migrations', 'service/src/animals/history', 'service/src/adoption/verify', 'proofs/history-months.ts'],
  runsAlone: true,
  timeoutMs: 2 * hourMs,
  run,
};

async function run({ short, root, progress }: ProofContext): Promise<Claim[]> {
  const animals = short ? 8_000 : 750_000;
  const settings = { shared_buffers: '1GB', max_wal_size: '8GB' };
  await using store = await Store.open({ processes: 1, root, settings, env: { LOG_LEVEL: 'warn' } });
  const keys: Key[] = [];
  for (let i = 0; i < clients; i += 1) keys.push(await store.createKey(`partner ${i}`, generous));
  await fill(store, animals, progress);
  progress(`spreading the rows over ${months} months, as they are after a year`);
  await spread(store);

  progress('making the partition of a month');
  const send = loadOn(store, keys, animals);
  using http = new HttpClient(64);
  for (let i = 0; i < warmUpCount; i += 1) await Promise.all([send.read(http), send.write(http)]);
  await queryStore(store, dropLastMonth);
  const loads = [new SteadyLoad(perSecond.reads, () => send.read(http)), new SteadyLoad(perSecond.writes, () => send.write(http))];
  const readerMs = short ? 6_000 : 60_000;
  const reading = holdReader(store, readerMs);
  await sleep(readerMs / 3);
  const [{ made } = { made: 0 }] = await queryStore<{ made: number }>(store, 'select make_history_partitions()::int as made');
  await reading;
  const samples = (await Promise.all(loads.map((load) => load.stop()))).flat();

  progress('verifying');
  const besides = new SteadyLoad(perSecond.writes, () => send.write(http));
  const watch = watchSnapshots(store);
  const startMs = performance.now();
  const verified = await verify(store);
  const seconds = (performance.now() - startMs) / 1_000;
  const oldestSeconds = await watch.stop();
  const written = await besides.stop();
  const millions = Math.max(verified.rows / 1_000_000, 1);
  return [
    judgeRequests(`Making the partition of a month, beside a reader of the history of ${readerMs / 1_000} s`, samples),
    { claim: 'Partitions that were made', bar: '1', figure: String(made), holds: made === 1 },
    {
      claim: `homeward verify over ${verified.rows.toLocaleString('en')} rows beside ${perSecond.writes} writes a second`,
      bar: `no violation, ${secondsPerMillionMax} s for each million rows`,
      figure: `${verified.violation ?? 'no violation'}, ${seconds.toFixed(1)} s, ${(seconds / millions).toFixed(1)} s a million`,
      holds: verified.holds && seconds <= secondsPerMillionMax * millions,
      isTimed: verified.holds,
    },
    {
      claim: 'The oldest snapshot or transaction of any process of the store meanwhile',
      bar: `${snapshotSecondsMax} s`,
      figure: `${oldestSeconds.toFixed(2)} s`,
      holds: oldestSeconds > 0 && oldestSeconds <= snapshotSecondsMax,
      isTimed: true,
    },
    judgeRequests('Writes beside verify', written),
  ];
}

/** Animals whose histories lie side by side in the table, by time: the rows of one are on many pages. Foreign keys are not checked. */
async function fill(store: Store, animals: number, progress: ProofContext['progress']): Promise<void> {
  await queryStore(store, "insert into clients (name, plan) values ('filler', 'free')");
  for (let filled = 0; filled < animals; filled += animalsPerStatement) {
    progress(`filling ${(filled * rowsPerAnimal).toLocaleString('en')} of ${(animals * rowsPerAnimal).toLocaleString('en')} rows`);
    const count = Math.min(animals - filled, animalsPerStatement);
    await queryStore(
      store,
      `set session_replication_role = replica;
      with client as (select id from clients where name = 'filler'),
        pet as (insert into pets (name, category_id, status) select 'Animal ' || i, 1 + i % 10, 'available' from generate_series(1, ${count}) as i returning id),
        placed as (insert into orders (client_id, pet_id, expires_at, status) select client.id, pet.id, now() + interval '2 days', 'returned' from pet, client returning id, pet_id, client_id)
      insert into history (pet_id, order_id, client_id, at, from_status, to_status, why)
        select pet_id, case when of_order then placed.id end, client_id,
          now() - interval '${months} months' * (1 - ${filled / animals}::float8) + n * interval '6 hours' * (${1 - filled / animals}::float8),
          from_status, to_status, 'filled' from placed,
          (select 1 as n, false as of_order, null as from_status, 'available' as to_status
            union all select n, false, 'available', 'available' from generate_series(2, ${1 + editsPerAnimal}) as n
            union all values (101, true, null, 'placed'), (102, false, 'available', 'pending'), (103, true, 'placed', 'approved'),
              (104, true, 'approved', 'completed'), (105, false, 'pending', 'sold'), (106, true, 'completed', 'returned'), (107, false, 'sold', 'available')
          ) as step
        order by n, pet_id`,
    );
  }
}

/** Moves the rows of the first partition into one for each month. */
async function spread(store: Store): Promise<void> {
  await queryStore(
    store,
    `do $$
    declare
      first regclass := (select inhrelid from pg_inherits where inhparent = 'history'::regclass and inhrelid::regclass::text like 'history_until%');
      ends timestamptz := to_date(right(first::text, 6), 'YYYYMM')::timestamp at time zone 'utc';
      month timestamp := date_trunc('month', now() at time zone 'utc') - interval '${months} months';
    begin
      execute format('alter table history detach partition %s', first);
      while month at time zone 'utc' < ends loop
        execute format('create table history_%s partition of history for values from (%L) to (%L)', to_char(month, 'YYYYMM'),
          month at time zone 'utc', (month + interval '1 month') at time zone 'utc');
        month := month + interval '1 month';
      end loop;
      set local session_replication_role = replica;
      execute format('insert into history overriding system value select * from %s', first);
      execute format('drop table %s', first);
    end $$`,
  );
  await queryStore(store, 'vacuum analyze');
}

/** It is empty: three months ahead. */
const dropLastMonth = `do $$ begin execute format('drop table history_%s', to_char(history_end() - interval '1 day', 'YYYYMM')); end $$`;

/** Lists and single animals; animals that are added and ordered. */
function loadOn(store: Store, keys: readonly Key[], animals: number) {
  const url = store.processes[0]?.url ?? '';
  const anyKey = () => {
    const key = keys[randomInt(keys.length)];
    if (!key) throw new Error('there are no keys');
    return key;
  };
  return {
    read(http: HttpClient) {
      const paths = [`/pets?limit=20&categoryId=${1 + randomInt(10)}`, '/pets?status=available', `/pets/${1 + randomInt(animals)}`];
      return http.send(url + paths[randomInt(paths.length)], { key: anyKey().key });
    },
    write(http: HttpClient) {
      if (randomInt(2) === 0) return place(http, url, anyKey(), 1 + randomInt(animals));
      return http.send(`${url}/pets`, { method: 'POST', key: anyKey().key, body: { name: 'Biscuit', categoryId: 1 } });
    },
  };
}

/** Has read the history, and stays open: nobody may wait for it. */
async function holdReader(store: Store, ms: number): Promise<void> {
  await using reader = await connectTo(store.postgres.url, { application_name: 'backup' });
  await reader.query('begin');
  await reader.query('select from history limit 1');
  await sleep(ms);
  await reader.query('commit');
}

function judgeRequests(claim: string, samples: readonly Sample[]): Claim {
  const failed = samples.filter(({ response }) => !response || response.status >= 500).length;
  const longestMs = Math.max(...samples.map(({ tookMs }) => tookMs));
  return {
    claim: `${claim}: requests that fail, and the longest wait of one`,
    bar: `0; ${waitMsMax} ms`,
    figure: `${failed} of ${samples.length.toLocaleString('en')}; ${longestMs.toFixed(0)} ms`,
    holds: samples.length > 0 && failed === 0 && longestMs <= waitMsMax,
    isTimed: failed === 0,
  };
}
