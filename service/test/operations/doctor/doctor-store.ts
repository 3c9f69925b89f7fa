// A whole store of its own, set up as docs/operations says: durable, with a login that is not the owner, and with a worker.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import pg from 'pg';
import { vi } from 'vitest';
import { freePort, type PrivateServer, startPostgres, startRedis } from '../../../../testkit/servers.ts';
import type { Finding } from '../../../src/operations/doctor/finding.ts';
import { migrate } from '../../../src/platform/db/migrate.ts';
import { type CommandOptions, homeward, startWorker } from '../../cli/homeward-command.ts';

export const password = 'open sesame/42';

export interface Report {
  readonly exitStatus: number | null;
  readonly status: string;
  readonly findings: readonly Finding[];
}

export interface DoctorStore extends AsyncDisposable {
  readonly postgres: PrivateServer;
  readonly redis: PrivateServer;
  readonly owner: pg.Client;
  /** Of the commands. */
  readonly env: Readonly<Record<string, string>>;
  readonly folder: string;
  urlOf(user: string, userPassword?: string): string;
  doctor(env?: Readonly<Record<string, string>>, options?: Omit<CommandOptions, 'env'>, ...args: string[]): Promise<Report>;
}

/** Connections of which doctor can use all but a few. */
const connectionsMax = 45;

export async function startDoctorStore(settings: Readonly<Record<string, string>> = {}): Promise<DoctorStore> {
  await using resources = new AsyncDisposableStack();
  const folder = mkdtempSync(path.join(tmpdir(), 'homeward-doctor-'));
  resources.defer(() => rmSync(folder, { recursive: true }));
  // Not below `folder`, which PostgreSQL's user may not enter.
  const rules = `${folder}.hba`;
  writeFileSync(rules, 'host all postgres 127.0.0.1/32 trust\nhost all all 127.0.0.1/32 scram-sha-256\n', { mode: 0o644 });
  resources.defer(() => rmSync(rules));
  const postgres = resources.use(
    await startPostgres({ durable: true, settings: { hba_file: rules, max_connections: String(connectionsMax), ...settings } }),
  );
  const redis = resources.use(await startRedis());
  await migrate(postgres.url);
  const owner = await connectOwner(postgres.url);
  resources.defer(() => owner.end().catch(() => {}));
  await owner.query(`create role homeward_api login password '${password}'; grant homeward_app, pg_monitor to homeward_api`);
  const urlOf = (user: string, userPassword = password) =>
    `postgres://${user}:${encodeURIComponent(userPassword)}@127.0.0.1:${postgres.port}/postgres`;
  const env = {
    DATABASE_URL: urlOf('homeward_api'),
    REDIS_URL: redis.url,
    PORT: String(await freePort()),
    HOMEWARD_JOURNAL: path.join(folder, 'journal.log'),
  };
  resources.use(startWorker({ env: { ...env, HOMEWARD_WEBHOOKS_TO_LOOPBACK: 'on' } }));
  await vi.waitFor(
    async () => {
      const { rows } = await owner.query('select from webhook_workers');
      if (rows.length === 0) throw new Error('the worker has not begun yet');
    },
    { timeout: 30_000, interval: 100 },
  );
  const doctor: DoctorStore['doctor'] = async (more = {}, options = {}, ...args) => {
    const { status, stdout, stderr } = await homeward(['doctor', '--json', ...args], { ...options, env: { ...env, ...more } });
    if (stderr) throw new Error(`doctor ended with status ${status}: ${stderr}`);
    return { exitStatus: status, ...(JSON.parse(stdout) as Omit<Report, 'exitStatus'>) };
  };
  const started = resources.move();
  return { postgres, redis, owner, env, folder, urlOf, doctor, [Symbol.asyncDispose]: () => started.disposeAsync() };
}

async function connectOwner(url: string): Promise<pg.Client> {
  const owner = new pg.Client({ connectionString: url });
  // When the server is stopped.
  owner.on('error', () => {});
  await owner.connect();
  return owner;
}
