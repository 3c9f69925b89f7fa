// Which of several servers is used: the primary, and no other.

import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { treeOf } from '../../../testkit/running-processes.ts';
import { type PrivateServer, startPostgres, startStandby } from '../../../testkit/servers.ts';
import { theService } from '../../src/domain/actor.ts';
import { loadConfig } from '../../src/platform/config.ts';
import { migrate } from '../../src/platform/db/migrate.ts';
import { Pool } from '../../src/platform/db/pool.ts';
import { NotPrimary, PostgresServers } from '../../src/platform/db/postgres-servers.ts';
import { addressesOf, describePostgres, showsPassword } from '../../src/platform/server-urls.ts';
import { homeward } from '../cli/homeward-command.ts';
import { createTestStore } from '../test-store.ts';

describe('DATABASE_URL with several servers', () => {
  test.each([
    ['postgres://a:5432,b/db?x=1', ['postgres://a:5432/db?x=1', 'postgres://b/db?x=1']],
    ['postgres://me:p%2Cw@a,b:7,[::1]:8/db', ['postgres://me:p%2Cw@a/db', 'postgres://me:p%2Cw@b:7/db', 'postgres://me:p%2Cw@[::1]:8/db']],
    ['postgres://me:p,w@a/db', ['postgres://me:p,w@a/db']],
    ['postgres:///db?host=/run/postgresql', ['postgres:///db?host=/run/postgresql']],
  ])('%s', (url, addresses) => {
    expect(addressesOf(url)).toEqual(addresses);
    expect(showsPassword(url)).toBe(false);
  });

  test('is described with each of them, and without the password', () => {
    const url = 'postgres://me:secret@a:5432,b:5433/homeward?target_session_attrs=read-write';
    expect(describePostgres(url)).toBe('PostgreSQL at a:5432 or b:5433, database "homeward"');
    expect(describePostgres('postgres://me:sec/ret@a,b/homeward')).toBe('PostgreSQL at the address in DATABASE_URL');
  });

  test('asks for no other than a primary', () => {
    const load = (wanted: string) => loadConfig({ DATABASE_URL: `postgres://a,b/db?target_session_attrs=${wanted}` }).databaseUrl;
    expect(load('primary')).toContain('primary');
    expect(() => load('any')).toThrow('must be read-write or primary, which it also is if omitted; got "any".');
  });
});

describe('A primary and its standby', () => {
  let primary: PrivateServer;
  let standby: PrivateServer;
  const opened = new AsyncDisposableStack();
  const urlOf = (...servers: PrivateServer[]) => `postgres://postgres@${servers.map(({ port }) => `127.0.0.1:${port}`).join(',')}/postgres`;
  const portOf = async (db: Pick<Pool, 'query'>) => {
    const { rows } = await db.query<{ port: string }>({ text: `select current_setting('port') as port` });
    return Number(rows[0]?.port);
  };
  const openPool = async (url: string) => {
    const db = opened.adopt(new Pool(url, 4), (pool) => pool.close());
    await db.open();
    return db;
  };
  beforeAll(async () => {
    primary = opened.use(await startPostgres());
    await migrate(primary.url);
    standby = opened.use(await startStandby(primary));
  });
  afterAll(() => opened.disposeAsync());

  test('a standby alone is used for nothing, and commands say why', async () => {
    const db = opened.adopt(new Pool(standby.url, 2), (pool) => pool.close());
    await expect(db.connect()).rejects.toThrow('the server is a standby');
    await db.startProbing();
    expect(db.reachable).toBe(false);
    await expect(portOf(db)).rejects.toMatchObject({ code: 'unavailable' });
    const { status, stderr } = await homeward(['keys', 'list'], { env: { DATABASE_URL: standby.url } });
    expect([status, stderr]).toEqual([1, expect.stringContaining('it is a standby, or read-only. Let DATABASE_URL lead to the primary')]);
  });

  test.each(['first', 'last'])('the primary is found if it is the %s of them, by commands too', async (place) => {
    const url = place === 'first' ? urlOf(primary, standby) : urlOf(standby, primary);
    expect(await portOf(await openPool(url))).toBe(primary.port);
    expect(await homeward(['keys', 'list'], { env: { DATABASE_URL: url } })).toMatchObject({ status: 0 });
    expect(await homeward(['migrate'], { env: { DATABASE_URL: url } })).toMatchObject({ status: 0 });
    const { stdout } = await homeward(['doctor', '--json'], { env: { DATABASE_URL: url } });
    expect(stdout).toContain(`PostgreSQL at 127.0.0.1:`);
    expect(stdout).toContain(`The primary is 127.0.0.1:${primary.port}. Standbys, or read-only: 127.0.0.1:${standby.port}.`);
    expect(stdout).not.toContain('is a standby');
  });

  test('a server that becomes read-only is left at once, and is used again when it is not', async () => {
    await using store = await createTestStore({ env: { DATABASE_URL: primary.url } });
    const key = await store.createKey();
    const ready = async () => (await store.call('GET', '/readyz')).status;
    const add = async () => (await store.call('POST', '/v1/pets', { key: key.key, body: { name: 'Rex', categoryId: 1 } })).status;
    const setReadOnly = async (value: 'on' | 'off') => {
      const client = new pg.Client({ connectionString: primary.url });
      await client.connect();
      await client.query('set transaction_read_only = off');
      await client.query(`alter system set default_transaction_read_only = ${value}`);
      await client.query('select pg_reload_conf()');
      await client.end();
    };
    await store.dependencies.db.startProbing();
    expect([await add(), await ready()]).toEqual([201, 200]);
    await setReadOnly('on');
    await vi.waitFor(async () => expect([await add(), await ready()]).toEqual([503, 503]));
    await setReadOnly('off');
    await vi.waitFor(async () => expect([await add(), await ready()]).toEqual([201, 200]));
  });

  test('a primary that hung while the standby took over serves no read when it is back', async () => {
    const db = await openPool(urlOf(primary, standby));
    expect(await portOf(db)).toBe(primary.port);
    await primary.signal('SIGSTOP');
    for (const pid of treeOf(primary.pid)) process.kill(pid, 'SIGSTOP');
    const client = new pg.Client({ connectionString: standby.url });
    await client.connect();
    await client.query('select pg_promote()');
    await client.end();
    await vi.waitFor(async () => expect(await portOf(db)).toBe(standby.port), { timeout: 20_000 });
    for (const pid of treeOf(primary.pid)) process.kill(pid, 'SIGCONT');
    await primary.signal('SIGCONT');
    const ports = await Promise.all(Array.from({ length: 200 }, () => portOf(db)));
    const inTransactions = await Promise.all(Array.from({ length: 20 }, () => db.transaction(portOf, theService)));
    expect(new Set([...ports, ...inTransactions])).toEqual(new Set([standby.port]));
  });

  // The test before has left two servers that accept writes.
  test('a former primary that nobody has stopped is used again by no process that knows the later one', async () => {
    const seen = await openPool(urlOf(standby, primary));
    expect(await portOf(seen)).toBe(standby.port);
    const lost: (string | undefined)[] = [];
    seen.onReachability((reason) => lost.push(reason?.message));
    for (const pid of treeOf(standby.pid)) process.kill(pid, 'SIGSTOP');
    await standby.signal('SIGSTOP');
    await vi.waitFor(() => expect(lost).toHaveLength(1));
    await sleep(2_000);
    await expect(portOf(seen)).rejects.toMatchObject({ code: 'unavailable' });
    for (const pid of treeOf(standby.pid)) process.kill(pid, 'SIGCONT');
    await standby.signal('SIGCONT');
    await vi.waitFor(async () => expect(await portOf(seen)).toBe(standby.port));
    expect(lost.at(-1)).toBeUndefined();
    expect(await portOf(await openPool(primary.url))).toBe(primary.port);
  });

  test('a connection that is being opened to it is not used, if another one finds the later one meanwhile', async () => {
    const servers = new PostgresServers(urlOf(primary, standby));
    const connect = async ({ url }: PrivateServer) => {
      const client = opened.adopt(new pg.Client({ connectionString: url }), (one) => one.end());
      await client.connect();
      return client;
    };
    const former = await servers.requirePrimary(await connect(primary));
    servers.requireStillPrimary(former);
    servers.requireStillPrimary(await servers.requirePrimary(await connect(standby)));
    expect(() => servers.requireStillPrimary(former)).toThrow(NotPrimary);
    await expect(servers.requirePrimary(await connect(primary))).rejects.toThrow(
      `127.0.0.1:${primary.port} is a former primary (its timeline is 1, and 2 was seen)`,
    );
  });

  test('doctor names two servers that accept writes, and which one to stop', async () => {
    const { status, stdout } = await homeward(['doctor', '--json'], { env: { DATABASE_URL: urlOf(primary, standby) } });
    const [first] = (JSON.parse(stdout) as { findings: { check: string; severity: string; found: string; fix: string }[] }).findings;
    expect([status, first?.check, first?.severity]).toEqual([1, 'postgres-hosts', 'broken']);
    expect(first?.found).toBe(
      `127.0.0.1:${standby.port} (timeline 2) and 127.0.0.1:${primary.port} (timeline 1) all accept writes: what is written to one is missing at the other.`,
    );
    expect(first?.fix).toMatch(new RegExp(`^Stop PostgreSQL on 127.0.0.1:${primary.port}: 127.0.0.1:${standby.port} was promoted later.`));
  });
});
