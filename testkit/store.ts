// A complete store for a proof: private PostgreSQL and Redis servers, and any number of `homeward serve` processes.
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { areImagesServed } from '../service/src/images/images-client.ts';
import { migrate } from '../service/src/platform/db/migrate.ts';
import { compileCacheOf } from './compile-cache.ts';
import { endProcess } from './running-processes.ts';
import { accepts, freePort, type PrivateServer, startPostgres, startRedis } from './servers.ts';

const ownRoot = fileURLToPath(new URL('..', import.meta.url));

export interface Key {
  readonly id: number;
  readonly clientId: number;
  readonly key: string;
}

export interface ServeProcess {
  /** Ends in /v1. */
  readonly url: string;
  readonly child: ChildProcess;
  /** Everything that the process has logged. */
  log(): string;
}

export interface StoreOptions {
  readonly processes: number;
  /**
   * How much faster than real time the clock of `serve` runs, which decides limits and the expiry of keys. With 1, limits
   * use Redis's clock.
   */
  readonly clockRate?: number;
  readonly durable?: boolean;
  /** Settings of PostgreSQL. */
  readonly settings?: Readonly<Record<string, string>>;
  readonly env?: Record<string, string>;
  /** The source tree that `serve` runs from, if it is a mutant's. */
  readonly root?: string | undefined;
  /** The store whose servers it shares. Only that one stops them. */
  readonly beside?: Pick<Store, 'postgres' | 'redis'>;
}

export class Store implements AsyncDisposable {
  readonly postgres: PrivateServer;
  readonly redis: PrivateServer;
  readonly processes: ServeProcess[] = [];
  readonly #env: NodeJS.ProcessEnv;
  readonly #clock: { rate: number; start: number } | undefined;
  readonly #root: string;
  readonly #ownsServers: boolean;
  readonly #workers: ChildProcess[] = [];

  private constructor(postgres: PrivateServer, redis: PrivateServer, options: StoreOptions) {
    this.postgres = postgres;
    this.redis = redis;
    this.#env = {
      ...process.env,
      DATABASE_URL: postgres.url,
      REDIS_URL: redis.url,
      HOST: '127.0.0.1',
      HOMEWARD_DRAIN_MS: '0',
      NODE_COMPILE_CACHE: compileCacheOf(options.root),
      ...options.env,
    };
    this.#clock = options.clockRate && options.clockRate !== 1 ? { rate: options.clockRate, start: Date.now() } : undefined;
    this.#root = options.root ?? ownRoot;
    this.#ownsServers = options.beside === undefined;
  }

  static async open(options: StoreOptions): Promise<Store> {
    const { postgres, redis } = options.beside ?? (await startServers(options));
    await using onFailure = new AsyncDisposableStack();
    const store = onFailure.use(new Store(postgres, redis, options));
    if (options.beside || options.root || !templateFolder()) await store.homeward('migrate');
    // At most one per core starts at a time: otherwise they would be so slow that their startup timeouts expire.
    const startOneByOne = async () => {
      while (left > 0) {
        left -= 1;
        await store.serve();
      }
    };
    let left = options.processes;
    await Promise.all(Array.from({ length: availableParallelism() }, startOneByOne));
    onFailure.move();
    return store;
  }

  /** The time on the store's clock. */
  now(): number {
    return this.#clock ? this.#clock.start + (Date.now() - this.#clock.start) * this.#clock.rate : Date.now();
  }

  /** On a free port, unless PORT is set. */
  async serve(env: Record<string, string> = {}): Promise<ServeProcess> {
    const port = env['PORT'] ? Number(env['PORT']) : await freePort();
    const script = this.#clock
      ? [path.join(this.#root, 'testkit/serve-on-clock.ts'), String(this.#clock.start), String(this.#clock.rate)]
      : [path.join(this.#root, 'service/src/main.ts'), 'serve'];
    // The IPC channel closes when this process ends, even by SIGKILL, and `serve` then ends too.
    const child = spawn(process.execPath, script, {
      env: { ...this.#env, ...env, PORT: String(port) },
      stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
    });
    child.channel?.unref();
    let output = '';
    child.stdout?.setEncoding('utf8').on('data', (text) => (output += text));
    child.stderr?.setEncoding('utf8').on('data', (text) => (output += text));
    for (let tries = 0; !(await accepts(port)); tries += 1) {
      if (child.exitCode !== null || tries > 1_000) throw new Error(`serve did not start: ${output.slice(-2_000)}`);
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
    const process_ = { url: `http://127.0.0.1:${port}/v1`, child, log: () => output };
    this.processes.push(process_);
    return process_;
  }

  /** Starts a `homeward console`, which is stopped with the store. Its name is localhost, as passkeys need one, unless HOMEWARD_CONSOLE_URL is set. */
  async openConsole(env: Record<string, string> = {}): Promise<ServeProcess> {
    const port = await freePort();
    const url = `http://localhost:${port}`;
    const script = [path.join(this.#root, 'service/src/main.ts'), 'console'];
    const child = spawn(process.execPath, script, {
      env: { ...this.#env, HOMEWARD_CONSOLE_URL: url, ...env, HOMEWARD_CONSOLE_PORT: String(port) },
      stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
    });
    child.channel?.unref();
    this.#workers.push(child);
    let output = '';
    child.stdout?.setEncoding('utf8').on('data', (text) => (output += text));
    child.stderr?.setEncoding('utf8').on('data', (text) => (output += text));
    for (let tries = 0; !(await accepts(port)); tries += 1) {
      if (child.exitCode !== null || tries > 1_000) throw new Error(`console did not start: ${output.slice(-2_000)}`);
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
    return { url, child, log: () => output };
  }

  /** Starts a `homeward worker`, which is stopped with the store. */
  work(env: Record<string, string> = {}): ChildProcess {
    const script = [path.join(this.#root, 'service/src/main.ts'), 'worker'];
    const child = spawn(process.execPath, script, { env: { ...this.#env, ...env }, stdio: ['ignore', 'ignore', 'ignore', 'ipc'] });
    child.channel?.unref();
    this.#workers.push(child);
    return child;
  }

  /** Starts a `homeward images` on the socket, which is stopped with the store. Resolves once it listens. */
  async decode(socket: string): Promise<ChildProcess> {
    const script = [path.join(this.#root, 'service/src/main.ts'), 'images'];
    const { PATH, NODE_COMPILE_CACHE, LOG_LEVEL } = this.#env;
    const env = { PATH, NODE_COMPILE_CACHE, LOG_LEVEL, HOMEWARD_IMAGES_SOCKET: socket };
    const child = spawn(process.execPath, script, { env, stdio: ['ignore', 'ignore', 'inherit', 'ipc'] });
    child.channel?.unref();
    this.#workers.push(child);
    for (let tries = 0; !(await areImagesServed(socket)); tries += 1) {
      if (child.exitCode !== null || tries > 1_000) throw new Error('images did not start');
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
    return child;
  }

  /** Stops a worker in order, as an operator would. */
  async stopWorker(worker: ChildProcess): Promise<void> {
    await endProcess(worker, 'SIGTERM');
  }

  /** Runs a `homeward` command as an operator would, and returns its output. */
  async homeward(...args: string[]): Promise<string> {
    return this.homewardAt(this.postgres.url, ...args);
  }

  /** Runs a `homeward` command on another database. */
  async homewardAt(databaseUrl: string, ...args: string[]): Promise<string> {
    const script = path.join(this.#root, 'service/src/main.ts');
    const env = { ...this.#env, DATABASE_URL: databaseUrl };
    const { stdout } = await promisify(execFile)(process.execPath, [script, ...args], { env, encoding: 'utf8' });
    return stdout;
  }

  async createKey(client: string, plan: string | { perMinute: number; perDay: number }, ...more: string[]): Promise<Key> {
    const limits =
      typeof plan === 'string'
        ? ['--plan', plan]
        : ['--plan', 'enterprise', '--per-minute', String(plan.perMinute), '--per-day', String(plan.perDay)];
    return JSON.parse(await this.homeward('keys', 'create', '--client', client, ...limits, ...more, '--json'));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all([...this.#workers, ...this.processes.map(({ child }) => child)].map((child) => endProcess(child)));
    if (this.#ownsServers) await Promise.all([this.postgres[Symbol.asyncDispose](), this.redis[Symbol.asyncDispose]()]);
  }
}

async function startServers({ durable = false, settings, root }: StoreOptions): Promise<Pick<Store, 'postgres' | 'redis'>> {
  const template = root ? undefined : templateFolder();
  const [postgres, redis] = await Promise.all([startPostgres({ durable, settings, template }), startRedis()]);
  return { postgres, redis };
}

/** The folder of a migrated PostgreSQL, if several proofs are run: to create and migrate one for each takes seconds. */
const templateFolder = () => process.env['PROOF_TEMPLATE_POSTGRES'];

/** Makes it, for the processes that this one starts. */
export async function makeTemplate(): Promise<Disposable> {
  const folder = mkdtempSync(path.join(tmpdir(), 'homeward-template-'));
  chmodSync(folder, 0o755);
  {
    await using postgres = await startPostgres({ folder });
    await migrate(postgres.url);
  }
  process.env['PROOF_TEMPLATE_POSTGRES'] = folder;
  return { [Symbol.dispose]: () => rmSync(folder, { recursive: true }) };
}
