// A standby that has to confirm each commit, and is away: nothing is acknowledged without it, and reads are not disturbed.

import { cpSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest';
import { treeOf } from '../../../testkit/running-processes.ts';
import { type PrivateServer, startPostgres, startStandby } from '../../../testkit/servers.ts';
import { theService } from '../../src/domain/actor.ts';
import { migrate } from '../../src/platform/db/migrate.ts';
import { Pool } from '../../src/platform/db/pool.ts';
import { homeward } from '../cli/homeward-command.ts';
import { createTestStore, type TestStore } from '../test-store.ts';

const poolSize = 5;
const unknown = expect.stringContaining('may have been done or not. Retry in 1 s with the same Idempotency-Key; without one, look first');
const notWritten = expect.stringContaining('nothing was written');

describe('A synchronous standby that is away', () => {
  const opened = new AsyncDisposableStack();
  let primary: PrivateServer;
  let standby: PrivateServer;
  let store: TestStore;
  let admin: pg.Client;
  let key: string;

  const signalStandby = (signal: NodeJS.Signals) => {
    for (const pid of [standby.pid, ...treeOf(standby.pid)]) process.kill(pid, signal);
  };
  const openStore = async () =>
    opened.use(await createTestStore({ env: { DATABASE_URL: primary.url, HOMEWARD_POOL_SIZE: String(poolSize) } }));
  const add = async (name: string, on = store, headers: Record<string, string> = {}) => {
    const startedAtMs = performance.now();
    const { status, text } = await on.call('POST', '/v1/pets', { key, body: { name, categoryId: 1 }, headers });
    return { status, text, ms: performance.now() - startedAtMs };
  };
  const countOf = async (name: string) => (await admin.query('select from pets where name = $1', [name])).rowCount;
  const waiting = async () =>
    (await admin.query<{ pid: number }>(`select pid from pg_stat_activity where wait_event = 'SyncRep'`)).rows.map(({ pid }) => pid);
  const isBack = () => vi.waitFor(async () => expect((await add('Back')).status).toBe(201));

  beforeAll(async () => {
    primary = opened.use(await startPostgres({ settings: { synchronous_commit: 'on' } }));
    await migrate(primary.url);
    standby = opened.use(await startStandby(primary));
    admin = opened.adopt(new pg.Client({ connectionString: primary.url }), (client) => client.end());
    await admin.connect();
    await admin.query(`alter system set synchronous_standby_names = '*'`);
    await admin.query('select pg_reload_conf()');
    await admin.query('set synchronous_commit = local');
    store = await openStore();
    ({ key } = await store.createKey());
    await isBack();
  });
  afterEach(async () => {
    signalStandby('SIGCONT');
    await isBack();
  });
  afterAll(() => opened.disposeAsync());

  test('stops writes, which say so at once, and no reads; at most the pool and one wait for it', async () => {
    const statuses: number[] = [];
    const reading = new AbortController();
    const read = async () => {
      while (!reading.signal.aborted) {
        statuses.push((await store.call('GET', '/v1/pets?limit=1', { key })).status);
        statuses.push((await store.call('GET', '/v1/pets/1', { key })).status);
        await sleep(20);
      }
    };
    const readers = [read(), read()];
    signalStandby('SIGSTOP');
    const first = await Promise.all([
      ...Array.from({ length: 10 }, (_, i) => add('Away', store, { 'idempotency-key': `away-${i}` })),
      add('Away'),
    ]);
    expect(first.map(({ status }) => status)).toEqual(first.map(() => 503));
    expect(first.some(({ text }) => unknown.asymmetricMatch(text))).toBe(true);
    await vi.waitFor(() => expect(store.dependencies.db.confirmsWrites).toBe(false), { timeout: 3_000 });
    const later = await Promise.all(Array.from({ length: 50 }, () => add('Never')));
    for (const { status, text, ms } of later) expect([status, text, ms < 500]).toEqual([503, notWritten, true]);
    expect((await store.call('GET', '/readyz')).status).toBe(200);
    await sleep(3_000);
    expect((await waiting()).length).toBeLessThanOrEqual(poolSize + 1);
    signalStandby('SIGCONT');
    await isBack();
    reading.abort();
    await Promise.all(readers);
    expect(statuses.length).toBeGreaterThan(100);
    expect(statuses.filter((status) => status !== 200)).toEqual([]);
    expect(await countOf('Never')).toBe(0);
    await vi.waitFor(async () => expect(await waiting()).toEqual([]));
    const retried = await Promise.all(Array.from({ length: 10 }, (_, i) => add('Away', store, { 'idempotency-key': `away-${i}` })));
    expect(retried.map(({ status }) => status)).toEqual(retried.map(() => 201));
    expect(await countOf('Away')).toBeLessThanOrEqual(11);
  });

  test('takes no more connections of a process that reads on, without connections for that alone', async () => {
    const db = opened.adopt(new Pool(primary.url, poolSize), (pool) => pool.close());
    await db.startProbing();
    const own = async () => (await admin.query(`select from pg_stat_activity where application_name like 'homeward%'`)).rowCount ?? 0;
    await db.query({ text: 'select' });
    const before = await own();
    signalStandby('SIGSTOP');
    const endMs = performance.now() + 6_000;
    const results = await Promise.all(
      Array.from({ length: 2 * poolSize }, async () => {
        const codes: unknown[] = [];
        while (performance.now() < endMs) {
          await db.write({ text: `select nextval('unannounced_changes')` }).catch((error) => codes.push(error.code));
          await db
            .transaction((tx) => tx.query({ text: `select from pets where id = 1 for update` }), theService)
            .catch((error) => codes.push(error.code));
          await db.query({ text: 'select' }).catch(() => {});
          await sleep(20);
        }
        return codes;
      }),
    );
    expect(new Set(results.flat())).toEqual(new Set(['unavailable']));
    // Those for transactions, the probe, and the one that waits for the standby.
    expect((await own()) - before).toBeLessThanOrEqual(Math.ceil(poolSize / 2) + 2);
  });

  test('lets a command say that it may have been carried out', async () => {
    signalStandby('SIGSTOP');
    const { status, stderr } = await homeward(['keys', 'create', '--client', 'away', '--plan', 'free'], {
      env: { DATABASE_URL: primary.url },
    });
    expect([status, stderr]).toEqual([1, expect.stringContaining('may have been carried out or not. Is its synchronous standby away?')]);
    expect(stderr).toContain("Look with: homeward keys list --client 'away'. If there is a new key, revoke it: nobody has seen it.");
  });

  test('Writes that wait for a lock, one after the other, are not taken for one that is away: others go on', async () => {
    let isStopped = false;
    const watch = setInterval(() => {
      isStopped ||= !store.dependencies.db.confirmsWrites;
    }, 1);
    await using stack = new AsyncDisposableStack();
    stack.defer(async () => clearInterval(watch));
    const client = stack.adopt(new pg.Client({ connectionString: primary.url }), (one) => one.end());
    await client.connect();
    await client.query('begin; lock table pets in share mode');
    const held = await Promise.all(Array.from({ length: 4 }, () => add('Held')));
    expect(held.map(({ status }) => status)).toEqual(held.map(() => 503));
    expect(held.some(({ text }) => unknown.asymmetricMatch(text))).toBe(true);
    await client.query('rollback');
    await isBack();
    expect(isStopped).toBe(false);
  });

  test('A wait for the standby is cancelled: the retry is not 201 before the standby has the row', async () => {
    const other = await openStore();
    signalStandby('SIGSTOP');
    const first = add('Cancelled', store, { 'idempotency-key': 'cancelled' });
    await vi.waitFor(async () => expect(await waiting()).toHaveLength(1));
    await admin.query(`select pg_cancel_backend($1)`, await waiting());
    expect(await first).toMatchObject({ status: 503, text: unknown });
    expect(await countOf('Cancelled')).toBe(1);
    // Another process, which knows nothing of that.
    expect(await add('Cancelled', other, { 'idempotency-key': 'cancelled' })).toMatchObject({ status: 503, text: unknown });
    signalStandby('SIGCONT');
    await isBack();
    await vi.waitFor(async () => expect(await add('Cancelled', other, { 'idempotency-key': 'cancelled' })).toMatchObject({ status: 201 }), {
      timeout: 10_000,
    });
    expect(await countOf('Cancelled')).toBe(1);
  });

  test('A process that is the first on a server skips ids without waiting for it', async () => {
    const nextId = async () => (await admin.query<{ id: string }>(`select last_value::text as id from pets_id_seq`)).rows[0]?.id;
    const before = Number(await nextId());
    await admin.query(`update deployment set ids_server = 'another'`);
    signalStandby('SIGSTOP');
    const other = await openStore();
    expect((await other.call('GET', '/v1/pets?limit=1', { key })).status).toBe(200);
    expect(Number(await nextId())).toBeGreaterThan(before + 1_000_000);
    const skipped = await nextId();
    await openStore();
    expect(await nextId()).toBe(skipped);
  });

  test('migrate with nothing to do does not wait for it; with something, it says so, and is not done if the wait is cancelled', async () => {
    const env = { DATABASE_URL: primary.url };
    signalStandby('SIGSTOP');
    expect(await homeward(['migrate'], { env })).toMatchObject({ status: 0, stdout: 'Nothing to do: the database is up to date.\n' });
    signalStandby('SIGCONT');
    await isBack();
    const dir = mkdtempSync(path.join(tmpdir(), 'homeward-migrations-'));
    opened.defer(async () => rmSync(dir, { recursive: true }));
    cpSync(new URL('../../migrations', import.meta.url), dir, { recursive: true });
    writeFileSync(path.join(dir, '9999_last.sql'), '-- Up Migration\n\ncreate table last (id int);\n');
    signalStandby('SIGSTOP');
    const told: string[] = [];
    const migrated = migrate(primary.url, { dir, onWait: (sentence) => told.push(sentence) }).catch((error: unknown) => error);
    await vi.waitFor(() => expect(told).toContain('9999_last is done here, and waits for the synchronous standby to confirm it.'), {
      timeout: 10_000,
    });
    for (const pid of await waiting()) await admin.query('select pg_cancel_backend($1)', [pid]);
    expect(await migrated).toMatchObject({ message: 'a commit was not confirmed by the standby' });
  });
});
