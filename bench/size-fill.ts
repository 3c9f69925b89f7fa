// Fills a store's database with animals as fast as PostgreSQL can: without indexes, with several connections.
import pg from 'pg';
import { connectTo } from '../testkit/postgres.ts';
import type { PrivateServer } from '../testkit/servers.ts';

export type Progress = (step: string, fraction?: number) => void;

export interface Step {
  readonly name: string;
  readonly seconds: number;
}

export interface DiskUse {
  readonly tableBytes: number;
  readonly indexBytes: Readonly<Record<string, number>>;
  /** All tables and indexes, without the WAL. */
  readonly databaseBytes: number;
}

const fillersCount = 2;
const batchSize = 500_000;
export const categoriesCount = 200;
const statementTimeoutMs = 30 * 60_000;

/** As little WAL as possible, since nothing here outlives the run; no background work may start while requests are timed. */
const settings = {
  shared_buffers: '2GB',
  maintenance_work_mem: '2GB',
  max_parallel_maintenance_workers: '1',
  wal_level: 'minimal',
  max_wal_senders: '0',
  max_wal_size: '4GB',
  checkpoint_timeout: '1h',
  autovacuum: 'off',
};

/** Some of the settings take effect only when the server starts. */
export async function restartForFilling(postgres: PrivateServer): Promise<void> {
  await withClient(postgres.url, async (client) => {
    for (const [name, value] of Object.entries(settings)) await client.query(`alter system set ${name} = ${pg.escapeLiteral(value)}`);
  });
  await postgres.signal('SIGINT');
  await postgres.start();
}

/** Adds animals until there are `animals`, with ids from 1 on, without their history. */
export async function fill(databaseUrl: string, animals: number, progress: Progress): Promise<Step[]> {
  return withClient(databaseUrl, async (client) => {
    const steps: Step[] = [];
    const time = async (name: string, work: () => Promise<unknown>) => {
      progress(name);
      const startMs = performance.now();
      await work();
      steps.push({ name, seconds: (performance.now() - startMs) / 1_000 });
    };
    await client.query(`insert into categories (id) select generate_series(1, ${categoriesCount}) on conflict do nothing`);
    const { rows } = await client.query<{ id: bigint }>('select coalesce(max(id), 0) as id from pets');
    const firstId = Number(rows[0]?.id) + 1;
    const { toDrop, indexes, references } = await findStructures(client);
    for (const statement of toDrop) await client.query(statement);
    await time('rows', () => insertAnimals(databaseUrl, firstId, animals, (fraction) => progress('rows', fraction)));
    for (const { name, create } of indexes) await time(name, () => client.query(create));
    await time('vacuum analyze', () => client.query('vacuum (analyze) pets'));
    await time('foreign keys', async () => {
      for (const create of references) await client.query(create);
    });
    await client.query(`select setval(pg_get_serial_sequence('pets', 'id'), (select max(id) from pets))`);
    // All pages are written to disk before requests are timed, and as much as fits is in memory.
    await time('checkpoint', () => client.query('checkpoint'));
    await time('read into memory', () => readIntoMemory(client));
    return steps;
  });
}

/** The indexes and constraints that every insert would have to maintain, as statements that drop and recreate them. */
async function findStructures(client: pg.Client) {
  const { rows: references } = await client.query<{ table: string; name: string; definition: string }>(
    `select conrelid::regclass::text as table, quote_ident(conname) as name, pg_get_constraintdef(oid) as definition
      from pg_constraint where confrelid = 'pets'::regclass and conparentid = 0`,
  );
  const { rows: keys } = await client.query<{ name: string; definition: string }>(
    `select quote_ident(conname) as name, pg_get_constraintdef(oid) as definition
      from pg_constraint where conrelid = 'pets'::regclass and contype in ('p', 'u')`,
  );
  const { rows: indexes } = await client.query<{ name: string; definition: string }>(
    `select indexrelid::regclass::text as name, pg_get_indexdef(indexrelid) as definition
      from pg_index where indrelid = 'pets'::regclass and not exists (select from pg_constraint where conindid = indexrelid)`,
  );
  return {
    toDrop: [
      ...references.map(({ table, name }) => `alter table ${table} drop constraint ${name}`),
      ...keys.map(({ name }) => `alter table pets drop constraint ${name}`),
      ...indexes.map(({ name }) => `drop index ${name}`),
    ],
    indexes: [
      ...keys.map(({ name, definition }) => ({ name, create: `alter table pets add constraint ${name} ${definition}` })),
      ...indexes.map(({ name, definition }) => ({ name, create: definition })),
    ],
    references: references.map(({ table, name, definition }) => `alter table ${table} add constraint ${name} ${definition}`),
  };
}

async function insertAnimals(databaseUrl: string, firstId: number, lastId: number, progress: (fraction: number) => void): Promise<void> {
  let nextId = firstId;
  let inserted = 0;
  const insertBatches = async (client: pg.Client) => {
    await client.query('set synchronous_commit = off');
    // Without checks of the foreign key, which is safe because all categories were just created.
    await client.query('set session_replication_role = replica');
    while (nextId <= lastId) {
      const fromId = nextId;
      const toId = Math.min(fromId + batchSize - 1, lastId);
      nextId = toId + 1;
      await insertBatch(client, fromId, toId);
      inserted += toId - fromId + 1;
      progress(inserted / (lastId - firstId + 1));
    }
  };
  await Promise.all(Array.from({ length: fillersCount }, () => withClient(databaseUrl, insertBatches)));
}

/**
 * All names have the same length, so that a page has the same size in any store. Some categories are large and most are small:
 * the first has 13 % of the animals, the tenth 2 %, the hundredth 0.2 %.
 */
async function insertBatch(client: pg.Client, fromId: number, toId: number): Promise<void> {
  await client.query('select setseed($1::float8)', [(fromId % 9_973) / 9_973]);
  await client.query({
    text: `insert into pets (id, name, category_id, status) overriding system value
      select id, 'Animal ' || lpad(id::text, 9, '0'), floor(power(${categoriesCount + 1}::float8, random()))::bigint,
        case when drawn < 0.6 then 'available'::pet_status when drawn < 0.7 then 'pending' else 'sold' end
      from (select id, random() as drawn from generate_series($1::bigint, $2::bigint) as id) as animals`,
    values: [fromId, toId],
  });
}

/** The indexes come last, so that they stay in memory if not everything fits. */
async function readIntoMemory(client: pg.Client): Promise<void> {
  await client.query('create extension if not exists pg_prewarm');
  await client.query(`select pg_prewarm('pets', 'read')`);
  await client.query(`select pg_prewarm(indexrelid, 'read') from pg_index where indrelid = 'pets'::regclass`);
}

/** A second database on the same server with the same animals and API keys, and another prefix in Redis. The first must have no connections. */
export async function copyDatabase(databaseUrl: string, name: string): Promise<string> {
  const from = new URL(databaseUrl);
  const administrator = new URL(databaseUrl);
  administrator.pathname = '/template1';
  await withClient(administrator.href, (client) =>
    client.query(`create database ${pg.escapeIdentifier(name)} template ${pg.escapeIdentifier(from.pathname.slice(1))}`),
  );
  const copy = new URL(databaseUrl);
  copy.pathname = `/${name}`;
  await withClient(copy.href, (client) => client.query('update deployment set id = reverse(id)'));
  return copy.href;
}

export async function measureDiskUse(databaseUrl: string): Promise<DiskUse> {
  return withClient(databaseUrl, async (client) => {
    const { rows: sizes } = await client.query<{ table: bigint; database: bigint }>(
      `select pg_table_size('pets') as table, pg_database_size(current_database()) as database`,
    );
    const { rows: indexes } = await client.query<{ name: string; bytes: bigint }>(
      `select indexrelid::regclass::text as name, pg_relation_size(indexrelid) as bytes from pg_index where indrelid = 'pets'::regclass`,
    );
    return {
      tableBytes: Number(sizes[0]?.table),
      indexBytes: Object.fromEntries(indexes.map(({ name, bytes }) => [name, Number(bytes)])),
      databaseBytes: Number(sizes[0]?.database),
    };
  });
}

export async function withClient<T>(databaseUrl: string, work: (client: pg.Client) => Promise<T>, role?: string): Promise<T> {
  await using client = await connectTo(databaseUrl, { statement_timeout: statementTimeoutMs, ...(role && { options: `-c role=${role}` }) });
  return await work(client);
}
