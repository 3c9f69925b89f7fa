// What is measured: one store, and the programs that do the same work, each started when it is first needed.
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { type ServeProcess, Store } from '../testkit/store.ts';
import { collectPages, type Page } from './mix.ts';
import { startProgram, warningsIn } from './program.ts';
import { type HttpContender, unguardedScript } from './scenarios.ts';
import { type BenchKey, fillStore, insertKeys } from './seed.ts';

/** PostgreSQL connections of every contender. */
export const poolSize = 10;

const peersFolder = fileURLToPath(new URL('./peers', import.meta.url));

interface Running {
  readonly origin: string;
  readonly pid: number;
}

const runningOf = ({ url, child }: ServeProcess): Running => ({ origin: new URL(url).origin, pid: child.pid ?? 0 });

export class Contenders implements AsyncDisposable {
  readonly store: Store;
  readonly keys: readonly BenchKey[];
  readonly pages: readonly Page[];
  readonly #pagesFile: string;
  readonly #programs: AsyncDisposableStack;
  readonly #running = new Map<HttpContender, Running>();
  readonly #logRead = new Map<ServeProcess, number>();

  private constructor(store: Store, keys: readonly BenchKey[], pages: readonly Page[], pagesFile: string) {
    this.store = store;
    this.keys = keys;
    this.pages = pages;
    this.#pagesFile = pagesFile;
    this.#programs = new AsyncDisposableStack();
  }

  static async open(folder: string, fill: (connectionString: string) => Promise<void> = fillStore): Promise<Contenders> {
    const env = { NODE_ENV: 'production', LOG_LEVEL: 'warn', HOMEWARD_POOL_SIZE: String(poolSize) };
    await using onFailure = new AsyncDisposableStack();
    const store = onFailure.use(await Store.open({ processes: 0, durable: true, env }));
    await fill(store.postgres.url);
    const keys = await insertKeys(store.postgres.url);
    const homeward = runningOf(await store.serve());
    const pages = await collectPages(homeward.origin, keys[0]?.key ?? '');
    const pagesFile = path.join(folder, 'pages.json');
    writeFileSync(pagesFile, JSON.stringify(pages.map((page) => [page.path, page.body])));
    const contenders = new Contenders(store, keys, pages, pagesFile);
    contenders.#running.set('homeward', homeward);
    onFailure.move();
    return contenders;
  }

  async get(name: HttpContender): Promise<Running> {
    const running = this.#running.get(name) ?? (await this.#start(name));
    this.#running.set(name, running);
    return running;
  }

  /** Homeward's warnings since the last call, such as the loss of Redis: after one, it may not do the work that was to be measured. */
  takeWarnings(): string[] {
    return this.store.processes.flatMap((one) => {
      const log = one.log();
      const fresh = log.slice(this.#logRead.get(one) ?? 0);
      this.#logRead.set(one, log.length);
      return warningsIn(fresh);
    });
  }

  async #start(name: HttpContender): Promise<Running> {
    switch (name) {
      case 'homeward':
        return runningOf(await this.store.serve());
      case 'homeward-uncached':
        return runningOf(await this.store.serve({ HOMEWARD_PAGE_CACHE: 'off' }));
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

  async #run(script: string): Promise<Running> {
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
    return this.#programs.use(await startProgram([script], env));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#programs.disposeAsync();
    await this.store[Symbol.asyncDispose]();
  }
}
