// Finds PostgreSQL and Redis for development, or starts them.
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir, userInfo } from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { accepts, MissingServer, serverUser, startPostgres, startRedis } from '../testkit/servers.ts';
import { ensureDatabase, findAdministrator } from './dev-database-queries.ts';

/** A server to develop against, and where it comes from, in words. */
export interface FoundServer {
  readonly url: string;
  readonly origin: string;
}

export interface FoundServers {
  readonly postgres: FoundServer;
  readonly redis: FoundServer;
}

export const developmentDatabase = 'homeward_dev';
export const usualPorts = { postgres: 5432, redis: 6379 };
const releaseTimeoutMs = 5_000;
const redisResponseTimeoutMs = 1_000;
const redisVersionMin = 7;

/**
 * What DATABASE_URL and REDIS_URL name; else what answers on the usual ports, unless `privately`; else servers of our
 * own, which keep their data in `folder` and end with `resources`.
 */
export async function findServers(
  env: NodeJS.ProcessEnv,
  options: { folder: string; privately: boolean; resources: AsyncDisposableStack },
): Promise<FoundServers> {
  const { privately } = options;
  const postgres = named(env['DATABASE_URL'], 'DATABASE_URL') ?? (privately ? undefined : await findPostgres());
  const redis = named(env['REDIS_URL'], 'REDIS_URL') ?? (privately ? undefined : await findRedis());
  try {
    return { postgres: postgres ?? (await ownPostgres(options)), redis: redis ?? (await ownRedis(options)) };
  } catch (error) {
    if (error instanceof MissingServer) throw new MissingServer(howToInstall);
    throw error;
  }
}

const howToInstall = `Homeward needs PostgreSQL and Redis; one of them neither answers on its usual port nor is installed. This installs both:

  ${process.platform === 'darwin' ? 'brew install postgresql@17 redis' : 'sudo apt-get install -y postgresql redis-server'}

Then run 'npm run dev' again. Or name servers that run elsewhere in DATABASE_URL and REDIS_URL.`;

const named = (url: string | undefined, variable: string): FoundServer | undefined => (url ? { url, origin: variable } : undefined);

async function findPostgres(): Promise<FoundServer | undefined> {
  const port = usualPorts.postgres;
  if (!(await accepts(port))) return undefined;
  const administrator = await findAdministrator(port, [userInfo().username, 'postgres']);
  if (!administrator) return undefined;
  return { url: await ensureDatabase(administrator, developmentDatabase), origin: `found on port ${port}` };
}

async function findRedis(): Promise<FoundServer | undefined> {
  const port = usualPorts.redis;
  const version = await askRedisVersion(port);
  return version >= redisVersionMin ? { url: `redis://127.0.0.1:${port}`, origin: `found on port ${port}` } : undefined;
}

async function ownPostgres({ folder, resources }: { folder: string; resources: AsyncDisposableStack }): Promise<FoundServer> {
  const wished = path.join(folder, 'postgres');
  const home = postgresHome(wished);
  mkdirSync(home, { recursive: true });
  await untilReleased(path.join(home, 'data', 'postmaster.pid'));
  const server = resources.use(await startPostgres({ durable: true, folder: home }));
  return { url: server.url, origin: `started here, data in ${home === wished ? '.homeward/postgres' : home}` };
}

async function ownRedis({ folder, resources }: { folder: string; resources: AsyncDisposableStack }): Promise<FoundServer> {
  const home = path.join(folder, 'redis');
  mkdirSync(home, { recursive: true });
  const server = resources.use(await startRedis({ folder: home }));
  return { url: server.url, origin: 'started here' };
}

/** Where root runs PostgreSQL as another user, that user must be able to reach the folder; root's own home is closed to it. */
function postgresHome(wished: string): string {
  const user = serverUser();
  if (!user) return wished;
  mkdirSync(wished, { recursive: true });
  try {
    execFileSync('test', ['-x', path.dirname(wished)], { ...user, cwd: '/' });
    return wished;
  } catch {
    return path.join(tmpdir(), `homeward-dev-${createHash('sha256').update(wished).digest('hex').slice(0, 8)}`);
  }
}

/** The server of a run that was killed ends by itself in a moment; that of a run that goes on does not. */
async function untilReleased(pidFile: string): Promise<void> {
  for (const deadline = Date.now() + releaseTimeoutMs; ; await sleep(50)) {
    const port = existsSync(pidFile) ? Number(readFileSync(pidFile, 'utf8').split('\n')[3]) : Number.NaN;
    if (!(port > 0 && (await accepts(port)))) return;
    if (Date.now() > deadline) throw new Error("Another 'npm run dev' runs in this checkout: use that one, or end it first.");
  }
}

/** The major version of a Redis that takes commands without a password; NaN where none does. */
async function askRedisVersion(port: number): Promise<number> {
  return new Promise((resolve) => {
    let response = '';
    const socket = connect(port, '127.0.0.1');
    socket.setEncoding('utf8').setTimeout(redisResponseTimeoutMs, () => socket.destroy());
    socket.on('error', () => {}).once('close', () => resolve(Number(/redis_version:(\d+)/.exec(response)?.[1])));
    socket.on('data', (text) => {
      response += text;
    });
    socket.once('connect', () => socket.write('INFO server\r\nQUIT\r\n'));
  });
}
