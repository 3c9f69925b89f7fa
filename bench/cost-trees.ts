// Two source trees of the service, each with its own process and database, on shared servers.
import { execFile } from 'node:child_process';
import path from 'node:path';
import { promisify } from 'node:util';
import { defaultScopes } from '../service/src/domain/scopes.ts';
import { queryAt } from '../testkit/postgres.ts';
import { checkOut, ownRoot } from '../testkit/revision-checkout.ts';
import { startPostgres, startRedis } from '../testkit/servers.ts';
import { type Program, startProgram } from './program.ts';
import { type BenchKey, fillStore, insertKeys } from './seed.ts';

const commandTimeoutMs = 120_000;

export interface Tree {
  readonly name: 'base' | 'present';
  readonly keys: readonly BenchKey[];
  /** Of the store's staff. */
  readonly staff: BenchKey;
  /** Available animals without orders. */
  readonly freshPetIds: readonly string[];
  readonly databaseUrl: string;
  /** Starts a new process, with these settings in addition. */
  serve(env?: Readonly<Record<string, string>>): Promise<Program>;
}

export interface Trees extends AsyncDisposable {
  readonly base: Tree;
  readonly present: Tree;
}

/** `settings` are further ones of the PostgreSQL that both share. */
export async function openTrees(revision: string, freshPets: number, settings: Readonly<Record<string, string>> = {}): Promise<Trees> {
  await using resources = new AsyncDisposableStack();
  const checkout = resources.use(checkOut(revision));
  const [postgres, redis] = await Promise.all([startPostgres({ settings }), startRedis()]);
  resources.use(postgres);
  resources.use(redis);
  const open = async (name: Tree['name'], root: string) =>
    openTree({ name, root, freshPets, serverUrl: postgres.url, redisUrl: redis.url });
  const base = await open('base', checkout.root);
  const present = await open('present', ownRoot);
  const opened = resources.move();
  return { base, present, [Symbol.asyncDispose]: () => opened.disposeAsync() };
}

async function openTree(options: {
  name: Tree['name'];
  root: string;
  freshPets: number;
  serverUrl: string;
  redisUrl: string;
}): Promise<Tree> {
  const { name, root, freshPets, serverUrl, redisUrl } = options;
  await queryAt(serverUrl, `create database ${name}`);
  const databaseUrl = new URL(`/${name}`, serverUrl).href;
  const env = {
    ...process.env,
    NODE_ENV: 'production',
    LOG_LEVEL: 'warn',
    HOST: '127.0.0.1',
    HOMEWARD_DRAIN_MS: '0',
    DATABASE_URL: databaseUrl,
    REDIS_URL: redisUrl,
  };
  const main = path.join(root, 'service/src/main.ts');
  await promisify(execFile)(process.execPath, [main, 'migrate'], { env, timeout: commandTimeoutMs });
  await fillStore(databaseUrl);
  const keys = await insertKeys(databaseUrl);
  const [staff] = await insertKeys(databaseUrl, { clients: 1, perClient: 1, named: 'staff', scopes: [...defaultScopes, 'store:manage'] });
  if (!staff) throw new Error('a key was not inserted');
  const freshPetIds = await addFreshPets(databaseUrl, freshPets);
  return { name, keys, staff, freshPetIds, databaseUrl, serve: (more) => startProgram([main, 'serve'], { ...env, ...more }) };
}

async function addFreshPets(databaseUrl: string, count: number): Promise<string[]> {
  const rows = await queryAt<{ id: string }>(
    databaseUrl,
    `insert into pets (name, category_id, status) select 'Fresh ' || i, 1 + i % 10, 'available' from generate_series(1, $1::int) as i returning id`,
    [count],
  );
  await queryAt(databaseUrl, 'vacuum (analyze) pets');
  return rows.map(({ id }) => id);
}

export async function countOrders({ databaseUrl }: Tree): Promise<number> {
  const [row] = await queryAt<{ count: number }>(databaseUrl, 'select count(*)::int as count from orders');
  return row?.count ?? 0;
}
