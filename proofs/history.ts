// `homeward verify` on a long history, and on histories that were tampered with.
import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { queryStore, verify } from '../testkit/adopters.ts';
import { Store } from '../testkit/store.ts';
import type { Claim, Proof, ProofContext } from './proof.ts';

const main = fileURLToPath(new URL('../service/src/main.ts', import.meta.url));
const secondsMax = 60;
/** The rows of one animal: added, placed, pending, approved, completed, sold, returned, available. */
const rowsPerAnimal = 8;

export const history: Proof = {
  name: 'history',
  promise: 'the whole history can be replayed, and tampering is found',
  run,
};

async function run({ short, progress }: ProofContext): Promise<Claim[]> {
  await using store = await Store.open({ processes: 0 });
  const animals = short ? 10_000 : 125_000;
  progress(`filling ${animals * rowsPerAnimal} rows`);
  await fill(store, animals);
  progress('verifying');
  const started = performance.now();
  const verified = await verify(store);
  const seconds = (performance.now() - started) / 1_000;
  const screen = await runOnTerminal(store);
  const found = await tamper(store);
  return [
    {
      claim: `homeward verify over ${verified.rows.toLocaleString('en')} rows of history`,
      bar: `no violation, ${secondsMax} s`,
      figure: `${verified.violation ?? 'no violation'}, ${seconds.toFixed(1)} s`,
      holds: verified.holds && verified.rows === animals * rowsPerAnimal && seconds < secondsMax,
      isTimed: verified.holds,
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

/** Inserts the whole history of each animal by SQL: one order that is completed and returned. */
async function fill(store: Store, animals: number): Promise<void> {
  await queryStore(
    store,
    `with client as (insert into clients (name, plan) values ('filler', 'free') returning id),
      pet as (insert into pets (name, category_id, status) select 'Animal ' || i, 1 + i % 10, 'available' from generate_series(1, ${animals}) as i returning id),
      placed as (insert into orders (client_id, pet_id, expires_at, status) select client.id, pet.id, now() + interval '2 days', 'returned' from pet, client returning id, pet_id)
    insert into history (pet_id, order_id, from_status, to_status, why)
      select pet_id, case when of_order then placed.id end, from_status, to_status, 'filled' from placed,
        (values (1, false, null, 'available'), (2, true, null, 'placed'), (3, false, 'available', 'pending'), (4, true, 'placed', 'approved'),
          (5, true, 'approved', 'completed'), (6, false, 'pending', 'sold'), (7, true, 'completed', 'returned'), (8, false, 'sold', 'available')
        ) as step (n, of_order, from_status, to_status)
      order by pet_id, n`,
  );
  await queryStore(store, 'vacuum analyze');
}

/** Runs the command on a pseudo-terminal, provided by `script`. The timeout guards against a `script` that never ends. */
async function runOnTerminal(store: Store): Promise<string> {
  const env = { ...process.env, DATABASE_URL: store.postgres.url, REDIS_URL: store.redis.url };
  const child = spawn('script', ['-qec', `'${process.execPath}' '${main}' verify`, '/dev/null'], {
    env,
    stdio: ['pipe', 'pipe', 'inherit'],
    timeout: 120_000,
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
