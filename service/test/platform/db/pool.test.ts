import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, inject, test, vi } from 'vitest';
import { startCuttableProxy } from '../../../../testkit/cuttable-proxy.ts';
import { type PrivateServer, startPostgres } from '../../../../testkit/servers.ts';
import { theService } from '../../../src/domain/actor.ts';
import { migrate } from '../../../src/platform/db/migrate.ts';
import { Pool, violates } from '../../../src/platform/db/pool.ts';
import { applicationNames } from '../../../src/platform/db/postgres-servers.ts';
import { cloneTemplate } from '../../databases.ts';

const unavailable = expect.objectContaining({ code: 'unavailable', headers: { 'retry-after': '1' } });

describe('Pool', () => {
  let db: Pool;
  beforeAll(async () => {
    db = new Pool(await cloneTemplate(inject('postgresUrl')), 4);
  });
  afterAll(() => db.close());

  const put = (on: Pick<Pool, 'query'>, id: number) =>
    on.query({ text: 'insert into categories (id, name) values ($1, $2)', values: [id, `Number ${id}`] });
  const count = async (on: Pick<Pool, 'query'> = db) => {
    const { rows } = await on.query<{ count: bigint }>({ text: 'select count(*) from categories where id >= 100' });
    return rows[0]?.count;
  };

  test('reads a bigint exactly', async () => {
    const { rows } = await db.query({ text: 'select 9223372036854775807::bigint as max' });
    expect(rows).toEqual([{ max: 9_223_372_036_854_775_807n }]);
  });

  test.each([3_600_000, -3_600_000])('has the clock of PostgreSQL, if that of this machine is %d ms off', async (offMs) => {
    const realNow = Date.now;
    const now = vi.spyOn(Date, 'now').mockImplementation(() => realNow() + offMs);
    await using stack = new AsyncDisposableStack();
    stack.defer(async () => now.mockRestore());
    const other = stack.adopt(new Pool(inject('postgresUrl'), 4), (pool) => pool.close());
    await other.startProbing();
    expect(Math.abs(other.clock.now() - realNow())).toBeLessThan(500);
  });

  test('leaves a clock alone that is off by less than a second', async () => {
    const realNow = Date.now;
    const now = vi.spyOn(Date, 'now').mockImplementation(() => realNow() + 600);
    await using stack = new AsyncDisposableStack();
    stack.defer(async () => now.mockRestore());
    const other = stack.adopt(new Pool(inject('postgresUrl'), 4), (pool) => pool.close());
    await other.startProbing();
    expect(other.clock.now() - realNow()).toBeGreaterThan(500);
  });

  test('gives a client its turn to write beside one that floods it, while commits are slow', async () => {
    await using stack = new AsyncDisposableStack();
    const slow = stack.adopt(new Pool(inject('postgresUrl'), 4), (pool) => pool.close());
    await slow.open();
    const write = (clientId: bigint) => slow.write({ text: 'select pg_sleep(0.3)' }, clientId);
    const flood = Array.from({ length: 100 }, () => write(1n).catch(() => {}));
    // By now those in flight have taken long enough that a statement would not wait for them.
    await sleep(150);
    flood.push(...Array.from({ length: 100 }, () => write(1n).catch(() => {})));
    await expect(write(2n)).resolves.toBeDefined();
    await Promise.all(flood);
  });

  test('has JIT compilation off', async () => {
    expect((await db.query({ text: 'show jit' })).rows).toEqual([{ jit: 'off' }]);
  });

  test('uses the role that can change no table definition', async () => {
    expect((await db.query({ text: 'select current_user' })).rows).toEqual([{ current_user: 'homeward_app' }]);
    await expect(db.query({ text: 'drop table pets' })).rejects.toThrow('must be owner of table pets');
    await expect(db.query({ text: 'truncate history' })).rejects.toThrow('permission denied for table history');
    await expect(db.query({ text: 'delete from pets' })).rejects.toThrow('permission denied for table pets');
  });

  test('commits everything that a transaction did, and returns its result', async () => {
    const before = await count();
    const done = await db.transaction(async (tx) => {
      await put(tx, 100);
      await put(tx, 101);
      return 'done';
    }, theService);
    expect([done, await count()]).toEqual(['done', (before ?? 0n) + 2n]);
  });

  test('rolls back everything that a transaction did if it throws, and throws the same error', async () => {
    const before = await count();
    const failing = db.transaction(async (tx) => {
      await put(tx, 110);
      throw new Error('changed my mind');
    }, theService);
    await expect(failing).rejects.toThrow('changed my mind');
    expect(await count()).toBe(before);
  });

  test('rolls back if a statement fails, and the connection is usable again', async () => {
    const before = await count();
    for (let i = 0; i < 5; i += 1) {
      const failing = db.transaction(async (tx) => {
        await put(tx, 120);
        await put(tx, 120);
      }, theService);
      await expect(failing).rejects.toSatisfy((error) => violates(error, 'categories_pkey'));
    }
    expect(await count()).toBe(before);
  });

  test('hides what a transaction did from others until it is committed', async () => {
    const before = await count();
    await db.transaction(async (tx) => {
      await put(tx, 130);
      expect([await count(tx), await count()]).toEqual([(before ?? 0n) + 1n, before]);
    }, theService);
  });

  test('reads one snapshot, whatever others commit in the meantime', async () => {
    const seen = await db.snapshot(async (tx) => {
      const first = await count(tx);
      await put(db, 140);
      return [first, await count(tx)];
    });
    expect(seen[1]).toBe(seen[0]);
    expect(await count()).toBe((seen[0] ?? 0n) + 1n);
  });

  test('rejects a write in a snapshot, and in a search', async () => {
    for (const written of [db.snapshot((tx) => put(tx, 150)), db.search((tx) => put(tx, 151), 1n)]) {
      await expect(written).rejects.toMatchObject({ cause: { message: expect.stringContaining('read-only transaction') } });
    }
  });

  test('cancels a statement that takes too long: unavailable', async () => {
    await expect(db.query({ text: 'select pg_sleep(10)' })).rejects.toEqual(unavailable);
    expect(await count()).toBeDefined();
  });

  test('leaves a connection to others, however long the transactions of a client take', async () => {
    const { promise: released, resolve: release } = Promise.withResolvers<void>();
    const greedy = Array.from({ length: 2 }, () => db.transaction(() => released, { clientId: 1n, authority: null }));
    greedy[1]?.catch(() => {});
    for (let i = 0; i < 5; i += 1) expect(await db.transaction(async () => 'done', { clientId: 2n, authority: null })).toBe('done');
    await expect(greedy[1]).rejects.toEqual(unavailable);
    release();
    await greedy[0];
  });

  // Each of the following has clients of its own: after a search the turn of its client rests.
  test('has connections for searches that transactions never use, nor searches theirs', async () => {
    const { promise: released, resolve: release } = Promise.withResolvers<void>();
    const busy = Array.from({ length: 2 }, () => db.transaction(() => released, theService));
    const searches = [1n, 1n, 2n, 2n].map((clientId) => db.search(() => released, clientId));
    await vi.waitFor(() =>
      expect(db.state.connections).toMatchObject({ transactions: { busy: 2, max: 2 }, searches: { busy: 4, max: 4 } }),
    );
    release();
    await Promise.all([...busy, ...searches]);
  });

  test('lets a search wait for others of its client for half a second: too_many_searches', async () => {
    const { promise: released, resolve: release } = Promise.withResolvers<void>();
    const running = [1, 2].map(() => db.search(() => released, 11n));
    const third = db.search(async () => 'done', 11n);
    third.catch(() => {});
    expect(await db.search(async () => 'done', 12n)).toBe('done');
    await expect(third).rejects.toMatchObject({ code: 'too_many_searches', headers: { 'retry-after': '1' } });
    release();
    await Promise.all(running);
  });

  test('lets people of a client take turns in searching, each in a line of their own, and wait longer than a program', async () => {
    const { promise: released, resolve: release } = Promise.withResolvers<void>();
    const [busy, colleague] = [1n, 2n].map((personId) => ({ clientId: 41n, personId }));
    if (!busy || !colleague) throw new Error('nobody searches');
    const done: string[] = [];
    const running = [41n, 41n].map((clientId) => db.search(() => released, clientId));
    const many = Array.from({ length: 20 }, () => db.search(async () => void done.push('busy'), busy));
    const one = db.search(async () => void done.push('colleague'), colleague);
    await expect(db.search(async () => {}, 41n)).rejects.toMatchObject({ code: 'too_many_searches' });
    expect(done).toEqual([]);
    release();
    await Promise.all([...running, ...many, one]);
    expect(done.indexOf('colleague')).toBeLessThan(4);
  });

  test('lets a search wait for those of other clients until they have ended', async () => {
    const { promise: released, resolve: release } = Promise.withResolvers<void>();
    const running = [21n, 21n, 22n, 22n].map((clientId) => db.search(() => released, clientId));
    const honest = db.search(async () => 'done', 23n);
    // Rejected after half a second, when the other still waits.
    await expect(db.search(async () => {}, 21n)).rejects.toMatchObject({ code: 'too_many_searches' });
    expect(db.state.waiting).toEqual({ transactions: 0, searches: 1 });
    release();
    expect(await honest).toBe('done');
    await Promise.all(running);
  });

  test('ends a search after a statement of one second, or when all of them took that long: unavailable', async () => {
    const sleep = (tx: Pick<Pool, 'query'>, seconds: number) => tx.query({ text: 'select pg_sleep($1)', values: [seconds] });
    const oneSlow = db.search((tx) => sleep(tx, 10), 31n);
    let statements = 0;
    const manySlow = db.search(async (tx) => {
      for (; statements < 10; statements += 1) await sleep(tx, 0.6);
    }, 32n);
    await expect(oneSlow).rejects.toEqual(unavailable);
    await expect(manySlow).rejects.toEqual(unavailable);
    expect(statements).toBe(2);
  });

  test('lets a transaction wait for a connection for half a second at most: unavailable', async () => {
    const { promise: released, resolve: release } = Promise.withResolvers<void>();
    const busy = Array.from({ length: 2 }, () => db.transaction(() => released, theService));
    await expect(db.transaction(async () => 'done', theService)).rejects.toEqual(unavailable);
    release();
    await Promise.all(busy);
    expect(await count()).toBeDefined();
  });
});

describe('Pool without PostgreSQL', () => {
  let postgres: PrivateServer;
  let db: Pool;
  let cut: Promise<unknown>;
  const select = { text: 'select 1 as one' };
  beforeAll(async () => {
    postgres = await startPostgres({ durable: true });
    await migrate(postgres.url);
    db = new Pool(postgres.url, 2);
    await db.open();
    const { promise: lost, resolve: reportLost } = Promise.withResolvers<void>();
    const { promise: written, resolve: write } = Promise.withResolvers<void>();
    cut = db.transaction(async (tx) => {
      await tx.query({ text: `insert into categories (id, name) values (500, 'Lost')` });
      write();
      await lost;
    }, theService);
    cut.catch(() => {});
    await written;
    // SIGQUIT ends all its processes at once; any that remained would prevent the next start.
    await postgres.signal('SIGQUIT');
    await vi.waitUntil(() => !db.reachable);
    reportLost();
  });
  afterAll(async () => {
    await db.close();
    await postgres[Symbol.asyncDispose]();
  });

  test.each([
    ['a query', () => db.query(select)],
    ['a transaction', () => db.transaction((tx) => tx.query(select), theService)],
    ['a snapshot', () => db.snapshot((tx) => tx.query(select))],
    ['a search', () => db.search((tx) => tx.query(select), 1n)],
    ['a transaction that was in progress', () => cut],
  ])('is unavailable for %s', async (_, attempt) => {
    await expect(attempt()).rejects.toEqual(unavailable);
  });

  test('reconnects by itself when PostgreSQL is back, without what was not committed', async () => {
    await postgres.start();
    await vi.waitUntil(() => db.reachable);
    expect((await db.query(select)).rows).toEqual([{ one: 1 }]);
    expect((await db.query({ text: 'select from categories where id = 500' })).rowCount).toBe(0);
  });
});

test('The probe leaks connections: it has 1 after each of 20 cuts, and none once closed', async () => {
  const url = await cloneTemplate(inject('postgresUrl'));
  const other = new Pool(url, 1);
  const text = 'select pid from pg_stat_activity where datname = current_database() and application_name = $1';
  const findProbes = async () => (await other.query({ text, values: [applicationNames.probe] })).rows.map(({ pid }) => pid);
  await using proxy = await startCuttableProxy(Number(new URL(url).port));
  const cuttable = new URL(url);
  cuttable.port = String(proxy.port);
  const db = new Pool(cuttable.href, 4);
  await db.open();
  const counts: number[] = [];
  for (let cut = 0; cut <= 20; cut += 1) {
    proxy.cut('silent');
    // The timer has started a probe, which waits for its reply while the other connections break.
    await proxy.lost();
    const before = await findProbes();
    counts.push(before.length);
    proxy.cut('closed');
    proxy.restore();
    await vi.waitUntil(async () => (await findProbes()).some((pid) => !before.includes(pid)), { interval: 5 });
    await vi.waitUntil(() => db.reachable && db.state.connections.statements.idle === 1, { interval: 5 });
  }
  expect(counts).toEqual(Array(21).fill(1));
  // Also if it is closed while a probe is in flight.
  proxy.cut('silent');
  await proxy.lost();
  await db.close();
  await expect.poll(findProbes).toEqual([]);
  await other.close();
}, 20_000);
