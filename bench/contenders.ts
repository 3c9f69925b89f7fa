// What is measured: one store, and beside it the programs that do the same work, each started when it is first needed.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { type ServeProcess, Store } from '../proofs/store.ts';
import { accepts, freePort } from '../tools/servers.ts';
import { collectPages, type Page } from './mix.ts';
import { type HttpContender, unguardedScript } from './scenarios.ts';
import { type BenchKey, fillStore, insertKeys } from './seed.ts';

/** PostgreSQL connections of every contender. */
export const poolSize = 10;

const peersFolder = fileURLToPath(new URL('./peers', import.meta.url));
const startTimeoutMs = 30_000;

interface Program extends AsyncDisposable {
  readonly origin: string;
}

export class Contenders implements AsyncDisposable {
  readonly store: Store;
  readonly keys: readonly BenchKey[];
  readonly pages: readonly Page[];
  readonly #pagesFile: string;
  readonly #programs: AsyncDisposableStack;
  readonly #origins = new Map<HttpContender, string>();
  readonly #logRead = new Map<ServeProcess, number>();

  private constructor(store: Store, keys: readonly BenchKey[], pages: readonly Page[], pagesFile: string) {
    this.store = store;
    this.keys = keys;
    this.pages = pages;
    this.#pagesFile = pagesFile;
    this.#programs = new AsyncDisposableStack();
  }

  static async open(folder: string): Promise<Contenders> {
    const env = { NODE_ENV: 'production', LOG_LEVEL: 'warn', HOMEWARD_POOL_SIZE: String(poolSize) };
    await using onFailure = new AsyncDisposableStack();
    const store = onFailure.use(await Store.open({ processes: 0, durable: true, env }));
    await fillStore(store.postgres.url);
    const keys = await insertKeys(store.postgres.url);
    const { url } = await store.serve();
    const origin = new URL(url).origin;
    const pages = await collectPages(origin, keys[0]?.key ?? '');
    const pagesFile = path.join(folder, 'pages.json');
    writeFileSync(pagesFile, JSON.stringify(pages.map((page) => [page.path, page.body])));
    const contenders = new Contenders(store, keys, pages, pagesFile);
    contenders.#origins.set('homeward', origin);
    onFailure.move();
    return contenders;
  }

  async originOf(name: HttpContender): Promise<string> {
    const origin = this.#origins.get(name) ?? (await this.#start(name));
    this.#origins.set(name, origin);
    return origin;
  }

  /** What Homeward has warned of since the last call, such as the loss of Redis: then it does other work than was meant to be measured. */
  takeWarnings(): string[] {
    return this.store.processes.flatMap((one) => {
      const log = one.log();
      const fresh = log.slice(this.#logRead.get(one) ?? 0);
      this.#logRead.set(one, log.length);
      return fresh.split('\n').flatMap(readWarning);
    });
  }

  async #start(name: HttpContender): Promise<string> {
    switch (name) {
      case 'homeward':
        return new URL((await this.store.serve()).url).origin;
      case 'homeward-uncached':
        return new URL((await this.store.serve({ HOMEWARD_PAGE_CACHE: 'off' })).url).origin;
      case 'homeward-unguarded':
        return this.#run(unguardedScript);
      case 'bare-http':
      case 'bare-fastify':
      case 'express':
      case 'nest':
      case 'fastify':
        return this.#run(path.join(peersFolder, `${name}.js`));
    }
  }

  async #run(script: string): Promise<string> {
    const env = {
      ...process.env,
      NODE_ENV: 'production',
      LOG_LEVEL: 'warn',
      DATABASE_URL: this.store.postgres.url,
      REDIS_URL: this.store.redis.url,
      HOST: '127.0.0.1',
      POOL_SIZE: String(poolSize),
      HOMEWARD_POOL_SIZE: String(poolSize),
      PAGES_FILE: this.#pagesFile,
    };
    return this.#programs.use(await startProgram(script, env)).origin;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#programs.disposeAsync();
    await this.store[Symbol.asyncDispose]();
  }
}

function readWarning(line: string): string[] {
  if (!line.startsWith('{') || !line.endsWith('}')) return [];
  const { msg, err } = JSON.parse(line) as { msg: string; err?: { message: string } };
  return [err ? `${msg}: ${err.message}` : msg];
}

async function startProgram(script: string, env: NodeJS.ProcessEnv): Promise<Program> {
  const port = await freePort();
  // The channel tells the program when this process is gone, even by SIGKILL.
  const child = spawn(process.execPath, [script], { env: { ...env, PORT: String(port) }, stdio: ['ignore', 'pipe', 'pipe', 'ipc'] });
  child.channel?.unref();
  let output = '';
  const keep = (text: string) => {
    output = (output + text).slice(-2_000);
  };
  child.stdout?.setEncoding('utf8').on('data', keep);
  child.stderr?.setEncoding('utf8').on('data', keep);
  const deadline = Date.now() + startTimeoutMs;
  while (!(await accepts(port))) {
    if (child.exitCode !== null || Date.now() > deadline) {
      await end(child);
      throw new Error(`${path.basename(script)} did not start: ${output}`);
    }
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  child.once('exit', (code) => code !== null && console.error(`${path.basename(script)} ended with status ${code}: ${output}`));
  return { origin: `http://127.0.0.1:${port}`, [Symbol.asyncDispose]: () => end(child) };
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = once(child, 'exit');
  child.kill('SIGKILL');
  await ended;
}
