// `homeward migrate` on a new PostgreSQL: no role, no table.
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { beforeAll, describe, expect, inject, test, vi } from 'vitest';
import { type PrivateServer, startPostgres } from '../../../testkit/servers.ts';
import { createDatabase } from '../databases.ts';
import { homeward, homewardJson, homewardProcess, startServing } from './homeward-command.ts';

let postgres: PrivateServer;

beforeAll(async () => {
  postgres = await startPostgres();
  return () => postgres[Symbol.asyncDispose]();
});

test('before the migration, every other command says that it must be run first', async () => {
  const rejected = await homeward(['keys', 'list'], { env: environment(postgres.url) });
  expect(rejected).toEqual({
    status: 1,
    stdout: '',
    stderr: expect.stringMatching(/^homeward: PostgreSQL at .*, database "postgres": it is empty. Run 'homeward migrate' first.\n$/),
  });
});

test('two at the same time on two databases of one server both succeed, though both create the role', async () => {
  const urls = [await createDatabase(postgres.url, { name: 'one_side' }), await createDatabase(postgres.url, { name: 'other_side' })];
  const applied = await migrateAtOnce(urls, { url: postgres.url, obstacle: 'create role homeward_app' });
  for (const one of applied) expect(one).toContain('0001_deployment');
  for (const url of urls) expect(await homewardJson(['keys', 'list'], environment(url))).toEqual([]);
});

test('two at the same time on one database both succeed, and each migration is applied once', async () => {
  const url = await createDatabase(postgres.url, { name: 'twice' });
  const applied = await migrateAtOnce([url, url], { url, obstacle: 'create table deployment ()' });
  expect(applied.filter((one) => one.length === 0)).toHaveLength(1);
  expect(applied.flat()).toContain('0001_deployment');
  expect(await homewardJson(['keys', 'list'], environment(url))).toEqual([]);
});

test('while it waits, standard error names whom it waits for, and standard output stays JSON', async () => {
  const url = await createDatabase(postgres.url, { name: 'waited' });
  const blocker = new pg.Client({ connectionString: url, application_name: 'night backup' });
  await blocker.connect();
  await blocker.query('begin');
  await blocker.query('create table deployment ()');
  const migrated = homeward(['migrate', '--json'], { env: environment(url) });
  await waitForBlockedMigrations([url]);
  // Until the attempt has failed.
  await vi.waitUntil(
    async () => (await sql(url, "select from pg_stat_activity where application_name = 'homeward migrate' and state = 'idle'")).length > 0,
  );
  await blocker.query('rollback');
  await blocker.end();
  const { status, stdout, stderr } = await migrated;
  expect(status).toBe(0);
  expect(JSON.parse(stdout)).toEqual({ applied: expect.arrayContaining(['0001_deployment']) });
  expect(stderr).toMatch(/^homeward: 0001_deployment waits for process \d+ of PostgreSQL \(night backup, in a transaction for \d+ s\)\.\n/);
});

describe('by a user who is not a superuser', () => {
  const inOrder = { migrated: { applied: expect.arrayContaining(['0001_deployment']) }, key: expect.objectContaining({ id: 1 }) };

  test('but may create roles: the role is created, and the store works as that user', async () => {
    await using fresh = await startPostgres();
    await sql(fresh.url, 'create role owner login createrole', 'create database owned owner owner');
    expect(await migrateAndUse(userUrl(fresh.url, 'owner', 'owned'))).toEqual(inOrder);
  });

  test('and may not create roles, but was granted the role', async () => {
    await sql(postgres.url, ...['create role tenant login', 'grant homeward_app to tenant', 'create database let owner tenant']);
    expect(await migrateAndUse(userUrl(postgres.url, 'tenant', 'let'))).toEqual(inOrder);
  });

  test('and was not granted the role: it fails with a reason and changes nothing', async () => {
    await sql(postgres.url, ...['create role stranger login', 'create database strange owner stranger']);
    const url = userUrl(postgres.url, 'stranger', 'strange');
    const rejected = await homeward(['migrate'], { env: environment(url) });
    expect(rejected.status).toBe(1);
    expect(rejected.stderr).toContain('the user in DATABASE_URL may not use the role homeward_app');
    expect(rejected.stderr.trimEnd().split('\n')).toHaveLength(1);
    expect(await sql(url, "select relname from pg_class where relnamespace = 'public'::regnamespace and relname = 'pets'")).toEqual([]);
  });
});

test('a user who has only the application role can serve a store that another user has migrated', async () => {
  const url = await createDatabase(postgres.url, { name: 'served' });
  await homewardJson(['migrate'], environment(url));
  await sql(postgres.url, 'create role server login in role homeward_app');
  await using serving = await startServing({ env: environment(userUrl(postgres.url, 'server', 'served')) });
  const response = await fetch(`${serving.url}/readyz`);
  expect(await response.json()).toEqual({ status: 'ready', postgres: true, redis: true });
});

describe('--plan', () => {
  test('on an empty database lists every migration and creates nothing', async () => {
    const url = await createDatabase(postgres.url, { name: 'planned' });
    const plan = await homewardJson<Plan>(['migrate', '--plan'], environment(url));
    expect(plan).toMatchObject({ applied: [], unknown: [], canGoBack: null, oldestRelease: '1.0.0' });
    expect(plan.pending[0]).toEqual({ name: '0001_deployment', release: '1.0.0', change: 'expand', runsWith: '1.0.0' });
    expect(await sql(url, "select relname from pg_class where relnamespace = 'public'::regnamespace")).toEqual([]);
  });

  test('on a migrated store says which releases run on its schema, with the login of the owner and with that of the processes', async () => {
    const url = await createDatabase(postgres.url, { name: 'planned_again' });
    await homewardJson(['migrate'], environment(url));
    await sql(postgres.url, 'create role planner login noinherit in role homeward_app');
    for (const one of [url, userUrl(postgres.url, 'planner', 'planned_again')]) {
      const { status, stdout, stderr } = await homeward(['migrate', '--plan'], { env: environment(one) });
      expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
      expect(stdout).toMatch(/^Nothing to do: the database has all \d+ migrations\.\n/);
      expect(stdout).toContain('Releases from 1.0.0 on run on the schema of this one.');
    }
  });

  test('names what only a newer release knows', async () => {
    const url = await createDatabase(postgres.url, { name: 'newer' });
    await homewardJson(['migrate'], environment(url));
    await sql(url, "insert into schema_migrations (name, run_on) values ('9999_newer', now())");
    expect((await homeward(['migrate', '--plan'], { env: environment(url) })).stdout).toContain('Only a newer release knows 9999_newer');
  });
});

interface Plan {
  readonly pending: readonly unknown[];
}

/** The output of the first two commands of a new store. */
async function migrateAndUse(url: string): Promise<{ migrated: unknown; key: unknown }> {
  const migrated = await homewardJson(['migrate'], environment(url));
  return { migrated, key: await homewardJson(['keys', 'create', '--client', 'Paws', '--plan', 'free'], environment(url)) };
}

/** Runs all migrations, and makes sure that they overlap: an uncommitted `obstacle` blocks each of them. */
async function migrateAtOnce(urls: readonly string[], { url, obstacle }: { url: string; obstacle: string }): Promise<string[][]> {
  const blocker = new pg.Client({ connectionString: url });
  await blocker.connect();
  await blocker.query('begin');
  await blocker.query(obstacle);
  const all = Promise.all(urls.map((one) => homewardProcess(['migrate', '--json'], { env: environment(one) })));
  try {
    await Promise.race([all, waitForBlockedMigrations(urls)]);
  } finally {
    // Also after a failure: the obstacle would block the tests that follow.
    await blocker.end();
  }
  return (await all).map(({ stdout }) => (JSON.parse(stdout) as { applied: string[] }).applied);
}

/** Resolves once all of these run, and one of each database waits for a lock. The others wait for that one, without a lock. */
async function waitForBlockedMigrations(urls: readonly string[]): Promise<void> {
  const connected = "select datname, wait_event_type from pg_stat_activity where application_name = 'homeward migrate'";
  for (const deadline = Date.now() + 30_000; Date.now() < deadline; await sleep(20)) {
    const rows = (await sql(postgres.url, connected)) as Array<{ datname: string; wait_event_type: string }>;
    const blocked = new Set(rows.filter((row) => row.wait_event_type === 'Lock').map(({ datname }) => datname));
    if (rows.length >= urls.length && blocked.size >= new Set(urls).size) return;
  }
  throw new Error(`there were never ${urls.length} migrations at once`);
}

const environment = (url: string) => ({ DATABASE_URL: url, REDIS_URL: inject('redisUrl') });

function userUrl(url: string, user: string, database: string): string {
  const changed = new URL(url);
  changed.username = user;
  changed.pathname = `/${database}`;
  return changed.href;
}

/** Runs the statements one by one and returns the rows of the last. */
async function sql(url: string, ...statements: string[]): Promise<unknown[]> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    let rows: unknown[] = [];
    for (const statement of statements) ({ rows } = await client.query(statement));
    return rows;
  } finally {
    await client.end();
  }
}
