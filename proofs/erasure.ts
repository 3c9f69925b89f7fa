// What was erased, revoked or suspended stays so: in a dump, and after an older backup is restored and the journal is applied.
import { randomUUID } from 'node:crypto';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { act, addAnimals, castOf, queryStore } from '../testkit/adopters.ts';
import { runPostgresTool } from '../testkit/dump.ts';
import { HttpClient } from '../testkit/http.ts';
import { searchLines, searchRedis } from '../testkit/key-search.ts';
import { queryAt } from '../testkit/postgres.ts';
import { Staff } from '../testkit/staff.ts';
import { type Key, Store } from '../testkit/store.ts';
import { temporaryFolder } from '../testkit/temporary-folder.ts';
import { none } from './claims.ts';
import type { Claim, Proof, ProofContext } from './proof.ts';

const restoredName = 'restored';
const retentionTimeoutMs = 90_000;

export const erasure: Proof = {
  name: 'erasure',
  promise: 'a dump contains no usable key, and what was erased, revoked or suspended stays so after a restore',
  // The mutant reads the journal but erases nothing.
  mutant: [
    {
      file: 'operations/recovery/apply-journal.ts',
      from: '({ orders }) => reapplyErasure(tx, orders, at)',
      to: 'async ({ orders }) => orders.length > 0',
    },
  ],
  run,
};

async function run({ short, root, progress }: ProofContext): Promise<Claim[]> {
  using folder = temporaryFolder('erasure');
  const journal = path.join(folder.path, 'journal');
  // With a retention of 0 days, the worker's first run erases the adopters of cancelled orders.
  const env = { HOMEWARD_JOURNAL: journal, HOMEWARD_ADOPTER_RETENTION: '0' };
  await using store = await Store.open({ processes: 1, root, env });
  const perKind = short ? 3 : 50;
  const { manager, partners } = await castOf(store, 4);
  const [valid, revoked, rotated, suspended] = partners as [Key, Key, Key, Key];
  const names = { cancelled: 'cancelled', requested: 'requested', open: 'open' };
  const addressesOf = (kind: string) => Array.from({ length: perKind }, (_, n) => `${kind}.${n}@erasure.example`);

  progress('placing orders');
  const url = store.processes[0]?.url ?? '';
  const placed = new Map<string, number[]>();
  {
    using http = new HttpClient(8);
    const animals = await addAnimals(store, manager, 3 * perKind);
    for (const kind of Object.values(names)) {
      const orders: number[] = [];
      for (const email of addressesOf(kind)) {
        const body = { petId: animals.pop(), adopter: { name: 'Ada', email } };
        const headers = { 'idempotency-key': randomUUID() };
        const response = await http.send(`${url}/store/orders`, { method: 'POST', key: valid.key, body, headers });
        if (response.status !== 201) throw new Error(`an order was not placed: ${response.text}`);
        orders.push(Number(JSON.parse(response.text).id));
      }
      placed.set(kind, orders);
    }
    for (const key of [valid, revoked, rotated, suspended]) {
      await http.send(`${url}/webhooks`, { method: 'POST', key: key.key, body: { url: 'https://example.org/hooks' } });
    }
    for (const kind of [names.cancelled, names.requested]) {
      for (const id of placed.get(kind) ?? []) await act(http, url, valid, id, 'cancel');
    }
  }

  progress('backing up');
  const backup = path.join(folder.path, 'backup');
  await runPostgresTool('pg_dump', '--format=custom', `--file=${backup}`, store.postgres.url);

  progress('erasing, revoking, rotating, suspending');
  for (const email of addressesOf(names.requested)) await store.homeward('orders', 'erase', '--email', email);
  store.work();
  await untilErased(store, perKind);
  await store.homeward('keys', 'revoke', String(revoked.id));
  const successor = JSON.parse(await store.homeward('keys', 'rotate', String(rotated.id), '--overlap', '0s', '--json')) as Key;
  await store.homeward('clients', 'suspend', 'partner 3');
  // Its ids are newer than the backup, so the restored database will assign them again.
  const newer = await store.createKey('newer', 'free');
  await store.homeward('keys', 'revoke', String(newer.id));

  progress('searching the dump');
  const keys = [manager, ...partners, successor, newer].map(({ key }) => key);
  const addresses = [...addressesOf(names.cancelled), ...addressesOf(names.requested)];
  // As staff find them, too.
  const folded = await queryAt<{ words: string }>(
    store.postgres.url,
    'select adopter_fold(address) as words from unnest($1::text[]) as address',
    [addresses],
  );
  const erased = [...addresses, ...folded.map(({ words }) => words)];
  const dump = await runPostgresTool('pg_dump', store.postgres.url);
  const keysInDump = searchLines(dump, keys);
  const keysInRedis = await searchRedisFor(store, keys);
  const inDump = linesWith(dump, erased);

  progress('restoring');
  const restoredUrl = await restore(store, backup);
  const before = linesWith(await runPostgresTool('pg_dump', restoredUrl), erased);
  const applied = JSON.parse(await store.homewardAt(restoredUrl, 'journal', 'apply', journal, '--json')) as {
    lines: number;
    skipped: number;
  };
  const after = await runPostgresTool('pg_dump', restoredUrl);
  const again = JSON.parse(await store.homewardAt(restoredUrl, 'journal', 'apply', journal, '--json')) as typeof applied;
  const served = await store.serve({ DATABASE_URL: restoredUrl });
  using http = new HttpClient();
  const statuses = [];
  for (const { key } of [valid, revoked, rotated, suspended]) statuses.push((await http.send(`${served.url}/pets`, { key })).status);
  const endpoints = await queryAt<{ client: string; status: string }>(
    restoredUrl,
    'select clients.name as client, webhooks.status from webhooks join clients on clients.id = client_id order by webhooks.id',
  );
  const stillOpen = linesWith(after, addressesOf(names.open));

  return [
    none(
      `Usable keys in a dump of PostgreSQL (${keysInDump.searched}) and of Redis (${keysInRedis.searched}), of ${keys.length}`,
      keysInDump.hits.length + keysInRedis.hits.length,
    ),
    none(
      `Lines of the dump that contain one of ${addresses.length} addresses, or its words for searches, after the worker's retention run and erasure by command`,
      inDump,
    ),
    {
      claim: 'Control: the same search in the restored older backup, before the journal is applied',
      bar: `at least ${erased.length}`,
      figure: String(before),
      holds: before >= erased.length,
    },
    {
      claim: 'The same after the journal was applied to the restored database',
      bar: '0',
      figure: String(linesWith(after, erased)),
      holds: linesWith(after, erased) === 0,
    },
    {
      claim: `Open orders that still have their adopter, of ${perKind}`,
      bar: String(perKind),
      figure: `${stillOpen >= perKind ? perKind : stillOpen}`,
      holds: stillOpen >= perKind,
    },
    {
      claim: 'Statuses on the restored store with an untouched key, a revoked one, a rotated one, and one of a suspended client',
      bar: '200, 401, 401, 403',
      figure: statuses.join(', '),
      holds: statuses.join(', ') === '200, 401, 401, 403',
    },
    {
      claim: "On the restored store, the revoked key's webhook endpoint is disabled and the others are not",
      bar: 'enabled, disabled, enabled, enabled',
      figure: endpoints.map(({ status }) => status).join(', '),
      holds: endpoints.map(({ status }) => status).join(', ') === 'enabled, disabled, enabled, enabled',
    },
    {
      claim: `Journal lines, of ${applied.lines}, that are skipped because they concern a key newer than the backup; the same when the journal is applied again`,
      bar: '1, 1',
      figure: `${applied.skipped}, ${again.skipped}`,
      holds: applied.skipped === 1 && again.skipped === 1,
    },
  ];
}

const linesWith = (text: string, needles: readonly string[]): number =>
  text.split('\n').filter((line) => needles.some((needle) => line.includes(needle))).length;

async function untilErased(store: Store, left: number): Promise<void> {
  const deadline = Date.now() + retentionTimeoutMs;
  for (;;) {
    const [row] = await queryStore<{ count: string }>(store, 'select count(*) from orders where adopter_email is not null');
    if (Number(row?.count) === left) return;
    if (Date.now() > deadline) throw new Error(`${row?.count} adopters are left after ${retentionTimeoutMs} ms, not ${left}`);
    await sleep(100);
  }
}

async function searchRedisFor(store: Store, keys: readonly string[]) {
  await using staff = await Staff.of(store);
  return await searchRedis(staff.dependencies.redis.client, keys);
}

async function restore(store: Store, backup: string): Promise<string> {
  await queryStore(store, `create database ${restoredName}`);
  const url = new URL(store.postgres.url);
  url.pathname = `/${restoredName}`;
  await runPostgresTool('pg_restore', '--exit-on-error', `--dbname=${url.href}`, backup);
  return url.href;
}
