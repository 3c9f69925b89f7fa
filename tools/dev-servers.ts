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

/** A server for development, and a description of where it comes from. */
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
 * The servers in DATABASE_URL and REDIS_URL; otherwise those on the default ports, unless `privately`; otherwise new servers,
 * which store their data in `folder` and end with `resources`.
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

const howToInstall = `Homeward needs PostgreSQL and Redis, but at least one of them neither runs on its default port nor is installed. This installs both:

  ${process.platform === 'darwin' ? 'brew install postgresql@17 redis' : 'sudo apt-get install -y postgresql redis-server'}

Then run 'npm run dev' again. Or set DATABASE_URL and REDIS_URL to servers that run elsewhere.`;

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
  const version = await readRedisVersion(port);
  return version >= redisVersionMin ? { url: `redis://127.0.0.1:${port}`, origin: `found on port ${port}` } : undefined;
}

async function ownPostgres({ folder, resources }: { folder: string; resources: AsyncDisposableStack }): Promise<FoundServer> {
  const preferred = path.join(folder, 'postgres');
  const home = postgresHome(preferred);
  mkdirSync(home, { recursive: true });
  await untilReleased(path.join(home, 'data', 'postmaster.pid'));
  const server = resources.use(await startPostgres({ durable: true, folder: home }));
  return { url: server.url, origin: `started here, data in ${home === preferred ? '.homeward/postgres' : home}` };
}

async function ownRedis({ folder, resources }: { folder: string; resources: AsyncDisposableStack }): Promise<FoundServer> {
  const home = path.join(folder, 'redis');
  mkdirSync(home, { recursive: true });
  const server = resources.use(await startRedis({ folder: home }));
  return { url: server.url, origin: 'started here' };
}

/** If root runs this, PostgreSQL runs as another user, who must be able to reach the folder. That user can't enter root's home. */
function postgresHome(preferred: string): string {
  const user = serverUser();
  if (!user) return preferred;
  mkdirSync(preferred, { recursive: true });
  try {
    execFileSync('test', ['-x', path.dirname(preferred)], { ...user, cwd: '/' });
    return preferred;
  } catch {
    return path.join(tmpdir(), `homeward-dev-${createHash('sha256').update(preferred).digest('hex').slice(0, 8)}`);
  }
}

/** The server of a run that was killed ends shortly after it; the server of another active run does not. */
async function untilReleased(pidFile: string): Promise<void> {
  for (const deadline = Date.now() + releaseTimeoutMs; ; await sleep(50)) {
    const port = existsSync(pidFile) ? Number(readFileSync(pidFile, 'utf8').split('\n')[3]) : Number.NaN;
    if (!(port > 0 && (await accepts(port)))) return;
    if (Date.now() > deadline)
      throw new Error("Another 'npm run dev' is already running in this checkout. Use that one, or stop it first.");
  }
}

/** The major version of the Redis on this port; NaN if there is none, or if it needs a password. */
async function readRedisVersion(port: number): Promise<number> {
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
