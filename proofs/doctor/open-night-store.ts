// A whole store on servers of its own, set up as docs/operations/database.md says, for faults to be made in.
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { existsSync, openSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { Redis } from 'ioredis';
import pg from 'pg';
import type { Finding } from '../../service/src/operations/doctor/finding.ts';
import { compileCacheOf } from '../../testkit/compile-cache.ts';
import { connectTo } from '../../testkit/postgres.ts';
import { endProcess } from '../../testkit/running-processes.ts';
import { freePort, startPostgres, startRedis } from '../../testkit/servers.ts';
import { SmallDisk } from '../../testkit/small-disk.ts';
import { temporaryFolder } from '../../testkit/temporary-folder.ts';
import type { NightProcess, NightStore } from './night-store.ts';

const ownRoot = fileURLToPath(new URL('../..', import.meta.url));
const startWithinMs = 30_000;
const commandTimeoutMs = 60_000;
const photosMegabytes = 8_192;

type Env = Readonly<Record<string, string>>;

export interface Examined {
  readonly status: number;
  readonly findings: readonly Finding[];
}

export interface OpenNightStore extends NightStore, AsyncDisposable {
  /** Runs doctor with these variables over those of the store. */
  examine(env?: Env): Promise<Examined>;
}

/** `root` is the source tree of a mutant. */
export async function openNightStore(root = ownRoot): Promise<OpenNightStore> {
  await using opened = new AsyncDisposableStack();
  const { path: folder } = opened.use(temporaryFolder('night'));
  const disk = opened.use(await SmallDisk.mount(photosMegabytes));
  const postgres = opened.use(await startPostgres({ durable: true, settings: { archive_mode: 'on' } }));
  const redisServer = opened.use(await startRedis());
  const database = await makeDatabase(postgres.url);
  const urlOf = (user: string) => `postgres://${user}@127.0.0.1:${postgres.port}/${database}`;
  const env: Env = {
    PATH: process.env['PATH'] ?? '',
    NODE_COMPILE_CACHE: compileCacheOf(root),
    DATABASE_URL: urlOf('homeward_api'),
    REDIS_URL: redisServer.url,
    PORT: String(await freePort()),
    HOMEWARD_DRAIN_MS: '0',
    HOMEWARD_JOURNAL: path.join(folder, 'journal.log'),
    HOMEWARD_PHOTOS: disk.folder,
    HOMEWARD_IMAGES_SOCKET: path.join(folder, 'images.sock'),
    HOMEWARD_ENVIRONMENT: 'production',
  };
  const main = path.join(root, 'service/src/main.ts');
  const homeward = async (args: readonly string[], more: Env = {}) =>
    promisify(execFile)(process.execPath, [main, ...args], { env: { ...env, ...more }, encoding: 'utf8', timeout: commandTimeoutMs });
  await homeward(['migrate'], { DATABASE_URL: urlOf('homeward_owner') });
  const superuser = new pg.Client({ connectionString: `postgres://postgres@127.0.0.1:${postgres.port}/${database}` });
  superuser.on('error', () => {});
  await superuser.connect();
  opened.defer(() => superuser.end());
  const redis = new Redis(redisServer.url);
  redis.on('error', () => {});
  opened.defer(() => redis.disconnect());
  const { PATH = '', HOMEWARD_IMAGES_SOCKET = '' } = env;
  // It must not know the servers of the store.
  const images = opened.use(
    new OwnProcess(main, 'images', folder, { PATH, HOMEWARD_IMAGES_SOCKET }, async () => existsSync(HOMEWARD_IMAGES_SOCKET)),
  );
  const serve = opened.use(new OwnProcess(main, 'serve', folder, env, () => isLive(Number(env['PORT']))));
  const worker = opened.use(new OwnProcess(main, 'worker', folder, env, () => isWorking(superuser)));
  await images.restart();
  await serve.restart();
  await worker.restart();
  const owned = opened.move();
  return {
    superuser,
    redis,
    serve,
    worker,
    folder,
    photosFolder: disk.folder,
    homeward: async (...args) => (await homeward(args)).stdout,
    async examine(more = {}) {
      const { stdout, code = 0 } = (await homeward(['doctor', '--json'], more).catch(
        (error: { stdout: string; code: number }) => error,
      )) as { stdout: string; code?: number };
      const { findings } = JSON.parse(stdout) as { findings: Finding[] };
      return { status: code, findings };
    },
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}

/** With the roles of docs/operations/database.md. Returns its name. */
async function makeDatabase(url: string): Promise<string> {
  await using client = await connectTo(url);
  const statements = [
    'create role homeward_app nologin',
    'create role homeward_owner login',
    'grant homeward_app to homeward_owner with admin option',
    'create database homeward owner homeward_owner',
    'create role homeward_api login',
    'grant homeward_app, pg_monitor to homeward_api',
    "alter system set archive_command = '/bin/true'",
    'select pg_reload_conf()',
  ];
  for (const statement of statements) await client.query(statement);
  return 'homeward';
}

class OwnProcess implements NightProcess, AsyncDisposable {
  readonly #main: string;
  readonly #command: 'serve' | 'worker' | 'images';
  readonly #folder: string;
  readonly #env: Env;
  readonly #isUp: () => Promise<boolean>;
  #child: ChildProcess | undefined;

  constructor(main: string, command: 'serve' | 'worker' | 'images', folder: string, env: Env, isUp: () => Promise<boolean>) {
    this.#main = main;
    this.#command = command;
    this.#folder = folder;
    this.#env = env;
    this.#isUp = isUp;
  }

  get pid(): number {
    return this.#child?.pid ?? 0;
  }

  /** A process that does not start with these variables is a part of the fault. */
  async restart(env: Env = {}): Promise<void> {
    await this[Symbol.asyncDispose]();
    const log = openSync(path.join(this.#folder, `${this.#command}.log`), 'a');
    const child = spawn(process.execPath, [this.#main, this.#command], { env: { ...this.#env, ...env }, stdio: ['ignore', log, log] });
    this.#child = child;
    const deadline = performance.now() + startWithinMs;
    while (child.exitCode === null && !(await this.#isUp())) {
      if (performance.now() > deadline) throw new Error(`${this.#command} is not up after ${startWithinMs / 1_000} s`);
      await sleep(50);
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#child) await endProcess(this.#child);
  }
}

const isLive = (port: number) =>
  fetch(`http://127.0.0.1:${port}/readyz`, { signal: AbortSignal.timeout(1_000) }).then(
    ({ status }) => status === 200,
    () => false,
  );

async function isWorking(superuser: pg.Client): Promise<boolean> {
  const { rows } = await superuser.query(`select from webhook_workers where expires_at > now() + interval '18 seconds'`);
  return rows.length > 0;
}
