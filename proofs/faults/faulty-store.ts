// The processes of a store on a cluster: two `serve`, two workers, and a database that nothing was written to before.
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { globSync, openSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { scopes } from '../../service/src/domain/scopes.ts';
import { compileCacheOf } from '../../testkit/compile-cache.ts';
import { endProcess } from '../../testkit/running-processes.ts';
import { Staff } from '../../testkit/staff.ts';
import type { Key } from '../../testkit/store.ts';
import type { Cluster } from './cluster.ts';
import { addresses, type Place } from './network.ts';
import { passwords } from './node-files.ts';

const ownRoot = fileURLToPath(new URL('../..', import.meta.url));
const unlimited = { perMinute: 10_000_000, perDay: 100_000_000 };
/** Little, so that the client that sends more is at its limit within seconds. */
export const smallLimits = { perMinute: 600, perDay: 100_000 };
/** Of a client that nothing is asked for before the limit has to be exact. */
export const exactLimit = 200;
const expiringKeys = 3;
const startWithinMs = 60_000;

export interface StoreOptions {
  readonly cluster: Cluster;
  /** For its logs and its journal. */
  readonly folder: string;
  /** The source tree of a mutant. */
  readonly root?: string | undefined;
  readonly env?: Readonly<Record<string, string>> | undefined;
  /** Where the second `serve` runs, if not beside the others. */
  readonly secondServePlace?: 'store' | 'apart' | undefined;
  /** How far the clocks of processes are off, such as "+1h". */
  readonly clockOffsets?: { readonly secondServe?: string; readonly secondWorker?: string } | undefined;
  /** A third `serve`, which the recorded clients don't use. */
  readonly hasSpare?: boolean | undefined;
}

export interface StoreKeys {
  readonly manager: Key;
  readonly partners: readonly Key[];
  readonly revocable: readonly Key[];
  readonly limited: Key;
  readonly exact: Key;
  /** Not used before a scenario has said when they expire. */
  readonly expiring: readonly Key[];
}

export class FaultyStore implements AsyncDisposable {
  /** Ending in /v1. */
  readonly urls: readonly string[];
  readonly spareUrl = `http://${addresses.store}:8083/v1`;
  readonly workers: ChildProcess[] = [];
  readonly serves: ChildProcess[] = [];
  readonly database: string;
  readonly #options: StoreOptions;

  private constructor(options: StoreOptions, database: string) {
    this.#options = options;
    this.database = database;
    this.urls = [addresses.store, addresses[options.secondServePlace ?? 'store']].map((address, i) => `http://${address}:${8081 + i}/v1`);
  }

  static async open(options: StoreOptions): Promise<FaultyStore> {
    const database = await options.cluster.createDatabase();
    await using onFailure = new AsyncDisposableStack();
    const store = onFailure.use(new FaultyStore(options, database));
    await store.homeward('migrate');
    for (const [i, url] of [...store.urls, ...(options.hasSpare ? [store.spareUrl] : [])].entries())
      await store.#start(
        store.serves,
        i,
        () => store.#serve(i),
        () => isReady(url),
      );
    for (let i = 0; i < 2; i += 1)
      await store.#start(
        store.workers,
        i,
        () => store.#work(i),
        async () => store.#isWorking(i),
      );
    onFailure.move();
    return store;
  }

  async createKeys(): Promise<StoreKeys> {
    await using staff = await Staff.of({
      postgres: { url: this.ownerUrl },
      redis: { url: this.#options.cluster.redisUrl },
    });
    const ofStore = scopes.filter((scope) => scope !== 'shelter:manage');
    const manager = await staff.createKey('manager', unlimited, ofStore);
    const partners: Key[] = [];
    for (let i = 1; i <= 4; i += 1) partners.push(await staff.createKey(`partner-${i}`, unlimited));
    const revocable = await staff.createKeys('revocable', unlimited, 6);
    return {
      manager,
      partners,
      revocable,
      limited: await staff.createKey('limited', smallLimits),
      exact: await staff.createKey('exact', { ...unlimited, perMinute: exactLimit }),
      expiring: await staff.createKeys('expiring', unlimited, expiringKeys),
    };
  }

  get ownerUrl(): string {
    return this.#options.cluster.ownerUrlOf(this.database);
  }

  /** The command line, to be run by others. */
  get command(): { readonly words: readonly string[]; readonly env: NodeJS.ProcessEnv } {
    return { words: [process.execPath, path.join(this.#root, 'service/src/main.ts')], env: this.#env };
  }

  /** Runs a command as the owner of the database. */
  async homeward(...args: string[]): Promise<string> {
    const [program = '', ...words] = this.command.words;
    const env = { ...this.#env, DATABASE_URL: this.ownerUrl };
    const { stdout } = await promisify(execFile)(program, [...words, ...args], { env, encoding: 'utf8', maxBuffer: 64 << 20 });
    return stdout;
  }

  get #root(): string {
    return this.#options.root ?? ownRoot;
  }

  get #env(): NodeJS.ProcessEnv {
    const { cluster, folder, root, env } = this.#options;
    return {
      ...process.env,
      DATABASE_URL: cluster.databaseUrlOf(this.database),
      REDIS_URL: cluster.redisUrl,
      REDIS_SENTINEL_PASSWORD: passwords.SENTINEL_PASSWORD,
      HOST: '0.0.0.0',
      HOMEWARD_DRAIN_MS: '0',
      HOMEWARD_WEBHOOKS_TO_LOOPBACK: 'on',
      HOMEWARD_FAILOVER: 'lossless',
      HOMEWARD_JOURNAL: path.join(folder, 'journal.log'),
      NODE_COMPILE_CACHE: compileCacheOf(root),
      ...env,
    };
  }

  /** Waits for it: they start one after the other. */
  async #start(children: ChildProcess[], i: number, start: () => ChildProcess, isUp: () => Promise<boolean>): Promise<void> {
    const deadline = performance.now() + startWithinMs;
    children[i] = start();
    while (!(await isUp())) {
      if (performance.now() > deadline) throw new Error(`a process is not up after ${startWithinMs / 1_000} s`);
      await sleep(50);
    }
  }

  #serve(i: number): ChildProcess {
    const { secondServePlace = 'store', clockOffsets } = this.#options;
    const place = i === 1 ? secondServePlace : 'store';
    const env = {
      PORT: String(8081 + i),
      ...(i === 1 && clockEnv(clockOffsets?.secondServe)),
    };
    return this.#spawn(place, 'serve', `serve-${i + 1}`, env);
  }

  #work(i: number): ChildProcess {
    return this.#spawn('store', 'worker', `worker-${i + 1}`, i === 1 ? clockEnv(this.#options.clockOffsets?.secondWorker) : {});
  }

  #isWorking(i: number): boolean {
    return readFileSync(path.join(this.#options.folder, `worker-${i + 1}.log`), 'utf8').includes('"working"');
  }

  #spawn(place: Place, command: string, name: string, env: Readonly<Record<string, string>>): ChildProcess {
    const log = openSync(path.join(this.#options.folder, `${name}.log`), 'a');
    const [file, ...args] = [...this.#options.cluster.namespaces.enter(place), ...this.command.words, command];
    return spawn(file, args, { env: { ...this.#env, ...env }, stdio: ['ignore', log, log], detached: true });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all([...this.workers, ...this.serves].map((child) => endProcess(child)));
  }
}

/** For Node.js, which has several threads. */
function clockEnv(offset: string | undefined): Record<string, string> {
  if (offset === undefined) return {};
  const [library = ''] = globSync('/usr/lib/*/faketime/libfaketimeMT.so.1');
  return { LD_PRELOAD: library, FAKETIME: offset, FAKETIME_DONT_FAKE_MONOTONIC: '1' };
}

async function isReady(url: string): Promise<boolean> {
  return fetch(new URL('/readyz', url), { signal: AbortSignal.timeout(1_000) }).then(
    ({ status }) => status === 200,
    () => false,
  );
}
