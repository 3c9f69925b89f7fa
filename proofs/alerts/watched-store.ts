// A store whose processes serve metrics, a load, and a Prometheus that watches it all.
import type { ChildProcess } from 'node:child_process';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { HttpClient } from '../../testkit/http.ts';
import { freePort } from '../../testkit/servers.ts';
import { SmallDisk } from '../../testkit/small-disk.ts';
import { SteadyLoad } from '../../testkit/steady-load.ts';
import { type Key, Store } from '../../testkit/store.ts';
import { Prometheus } from './prometheus.ts';

const plenty = { perMinute: 1_000_000, perDay: 100_000_000 };
const requestsPerSecond = 20;
const journalMegabytes = 16;
/** More than photos leave free. It takes no memory for what is free. */
export const photosMegabytes = 2_000;

export class WatchedStore implements AsyncDisposable {
  readonly store: Store;
  readonly prometheus: Prometheus;
  readonly http = new HttpClient(128);
  readonly key: Key;
  readonly journalDisk: SmallDisk;
  readonly photosDisk: SmallDisk;
  readonly #metricsPorts: { readonly first: number; readonly second: number; readonly worker: number };
  readonly #load: SteadyLoad;
  #second: ChildProcess;
  #worker: ChildProcess;

  private constructor(
    parts: Pick<WatchedStore, 'store' | 'prometheus' | 'key' | 'journalDisk' | 'photosDisk'> & {
      ports: { readonly first: number; readonly second: number; readonly worker: number };
      second: ChildProcess;
      worker: ChildProcess;
    },
  ) {
    this.store = parts.store;
    this.prometheus = parts.prometheus;
    this.key = parts.key;
    this.journalDisk = parts.journalDisk;
    this.photosDisk = parts.photosDisk;
    this.#metricsPorts = parts.ports;
    this.#second = parts.second;
    this.#worker = parts.worker;
    this.#load = new SteadyLoad(requestsPerSecond, (i) =>
      i % 5 === 0 ? this.add(2) : this.http.send(`${this.url}/pets?limit=5`, { key: this.key.key }),
    );
  }

  static async open(): Promise<WatchedStore> {
    await using onFailure = new AsyncDisposableStack();
    const journalDisk = onFailure.use(await SmallDisk.mount(journalMegabytes));
    const photosDisk = onFailure.use(await SmallDisk.mount(photosMegabytes));
    const env = {
      HOMEWARD_WEBHOOKS_TO_LOOPBACK: 'on',
      HOMEWARD_JOURNAL: path.join(journalDisk.folder, 'journal.log'),
      HOMEWARD_PHOTOS: photosDisk.folder,
    };
    const store = onFailure.use(await Store.open({ processes: 0, env }));
    const ports = { first: await freePort(), second: await freePort(), worker: await freePort() };
    await store.serve(metricsOn(ports.first));
    const { child: second } = await store.serve(metricsOn(ports.second));
    const worker = store.work(metricsOn(ports.worker));
    const key = await store.createKey('watched', plenty);
    const prometheus = onFailure.use(
      await Prometheus.start([
        { job: 'homeward-api', port: ports.first },
        { job: 'homeward-api', port: ports.second },
        { job: 'homeward-worker', port: ports.worker },
      ]),
    );
    onFailure.move();
    return new WatchedStore({ store, prometheus, key, ports, second, worker, journalDisk, photosDisk });
  }

  /** Of the first process, which is never stopped. Ends in /v1. */
  get url(): string {
    return this.store.processes[0]?.url ?? '';
  }

  add(categoryId: number) {
    return this.http.send(`${this.url}/pets`, { method: 'POST', key: this.key.key, body: { name: 'Biscuit', categoryId } });
  }

  killSecond(): void {
    this.#second.kill('SIGKILL');
  }

  async restartSecond(): Promise<void> {
    this.#second = (await this.store.serve(metricsOn(this.#metricsPorts.second))).child;
  }

  stopWorker(): Promise<void> {
    return this.store.stopWorker(this.#worker);
  }

  startWorker(): void {
    this.#worker = this.store.work(metricsOn(this.#metricsPorts.worker));
  }

  /** Runs statements in a session, which stays open until it is disposed. */
  async session(...statements: readonly string[]): Promise<AsyncDisposable> {
    const client = new pg.Client({ connectionString: this.store.postgres.url });
    await client.connect();
    for (const statement of statements) await client.query(statement);
    return { [Symbol.asyncDispose]: () => client.end() };
  }

  /** Waits until the condition holds; false if it didn't in time. */
  async waitFor(condition: () => Promise<boolean>, timeoutMs: number): Promise<boolean> {
    const deadlineMs = Date.now() + timeoutMs;
    while (!(await condition())) {
      if (Date.now() > deadlineMs) return false;
      await sleep(250);
    }
    return true;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#load.stop();
    this.http[Symbol.dispose]();
    await this.prometheus[Symbol.asyncDispose]();
    await this.store[Symbol.asyncDispose]();
    await this.journalDisk[Symbol.asyncDispose]();
    await this.photosDisk[Symbol.asyncDispose]();
  }
}

const metricsOn = (port: number) => ({ HOMEWARD_METRICS_PORT: String(port) });
