// A store whose processes serve metrics, a load, and a Prometheus that watches it all, with an Alertmanager that sends what fires.
import { type ChildProcess, execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { createServer, type Server } from 'node:tls';
import { HttpClient } from '../../testkit/http.ts';
import { connectTo } from '../../testkit/postgres.ts';
import { endProcess } from '../../testkit/running-processes.ts';
import { freePort } from '../../testkit/servers.ts';
import { SmallDisk } from '../../testkit/small-disk.ts';
import { SteadyLoad } from '../../testkit/steady-load.ts';
import { type Key, Store } from '../../testkit/store.ts';
import { temporaryFolder } from '../../testkit/temporary-folder.ts';
import { Alertmanager } from './alertmanager.ts';
import { startMonitor } from './monitor.ts';
import { Prometheus, type Target } from './prometheus.ts';

const plenty = { perMinute: 1_000_000, perDay: 100_000_000 };
const requestsPerSecond = 20;
/** The journal leaves 10 MB free, which must be less than the part at which its disk counts as filling. */
const journalMegabytes = 100;
/** More than photos leave free. It takes no memory for what is free. */
export const photosMegabytes = 2_000;
const postgresMegabytes = 50;
const certificateDays = 90;

interface Api {
  readonly env: { readonly PORT: string; readonly HOMEWARD_METRICS_PORT: string };
  child: ChildProcess;
}

interface Options {
  /** How many processes the API has. */
  readonly processes: number;
  /** With an Alertmanager, and with node_exporter. */
  readonly isComplete: boolean;
}

export class WatchedStore implements AsyncDisposable {
  readonly store: Store;
  readonly prometheus: Prometheus;
  readonly alertmanager: Alertmanager | undefined;
  readonly http = new HttpClient(128);
  readonly key: Key;
  readonly disks: Readonly<Record<'journal' | 'photos' | 'postgres', SmallDisk>>;
  readonly #resources: AsyncDisposable;
  readonly #apis: readonly Api[];
  readonly #front: Front;
  readonly #stampFile: string;
  readonly #workerEnv: Record<string, string>;
  #load: SteadyLoad | undefined;
  #worker: ChildProcess;
  readonly #consoleEnv: Record<string, string>;
  #console: ChildProcess;

  private constructor(
    parts: Pick<WatchedStore, 'store' | 'prometheus' | 'alertmanager' | 'key' | 'disks'> & {
      resources: AsyncDisposable;
      apis: readonly Api[];
      front: Front;
      stampFile: string;
      workerEnv: Record<string, string>;
      worker: ChildProcess;
      consoleEnv: Record<string, string>;
      console: ChildProcess;
    },
  ) {
    this.store = parts.store;
    this.prometheus = parts.prometheus;
    this.alertmanager = parts.alertmanager;
    this.key = parts.key;
    this.disks = parts.disks;
    this.#resources = parts.resources;
    this.#apis = parts.apis;
    this.#front = parts.front;
    this.#stampFile = parts.stampFile;
    this.#workerEnv = parts.workerEnv;
    this.#worker = parts.worker;
    this.#consoleEnv = parts.consoleEnv;
    this.#console = parts.console;
    this.resumeLoad();
  }

  static async open({ processes, isComplete }: Options): Promise<WatchedStore> {
    await using onFailure = new AsyncDisposableStack();
    const resources = onFailure.use(new AsyncDisposableStack());
    const { path: folder } = resources.use(temporaryFolder('watched'));
    const disks = {
      journal: resources.use(await SmallDisk.mount(journalMegabytes)),
      photos: resources.use(await SmallDisk.mount(photosMegabytes)),
      postgres: resources.use(await SmallDisk.mount(postgresMegabytes)),
    };
    const front = resources.use(await Front.open(folder));
    const stampFile = path.join(folder, 'last-backup');
    writeStamp(stampFile, new Date());
    const env = {
      HOMEWARD_WEBHOOKS_TO_LOOPBACK: 'on',
      HOMEWARD_JOURNAL: path.join(disks.journal.folder, 'journal.log'),
      HOMEWARD_PHOTOS: disks.photos.folder,
      HOMEWARD_BACKUP_STAMP: stampFile,
      HOMEWARD_PUBLIC_URL: front.url,
    };
    // Commits wait for a standby only if they are synchronous.
    const settings = { archive_mode: 'on', synchronous_commit: 'on' };
    const store = resources.use(await Store.open({ processes: 0, env, settings }));
    const key = await store.createKey('watched', plenty);
    const apis: Api[] = [];
    while (apis.length < processes) {
      const env = { PORT: String(await freePort()), HOMEWARD_METRICS_PORT: String(await freePort()) };
      apis.push({ env, child: (await store.serve(env)).child });
    }
    const workerEnv = { HOMEWARD_METRICS_PORT: String(await freePort()) };
    const worker = store.work(workerEnv);
    const consoleEnv = { HOMEWARD_METRICS_PORT: String(await freePort()) };
    const { child: console } = await store.openConsole(consoleEnv);
    const targets: Target[] = [
      ...apis.map(({ env }) => ({ job: 'homeward-api', port: Number(env.HOMEWARD_METRICS_PORT) })),
      { job: 'homeward-worker', port: Number(workerEnv.HOMEWARD_METRICS_PORT) },
      { job: 'homeward-console', port: Number(consoleEnv.HOMEWARD_METRICS_PORT) },
    ];
    const alertmanager = isComplete ? resources.use(await Alertmanager.start()) : undefined;
    if (isComplete) targets.push({ job: 'homeward-postgres', port: await startNodeExporter(resources) });
    const mountpoint = disks.postgres.folder;
    const prometheus = resources.use(
      await Prometheus.start({ targets, mountpoint, hasRestarts: isComplete, alertmanager: alertmanager?.address }),
    );
    onFailure.move();
    const running = { apis, workerEnv, worker, consoleEnv, console };
    const watched = new WatchedStore({ store, prometheus, alertmanager, key, disks, resources, front, stampFile, ...running });
    await watched.setArchiveCommand('true');
    return watched;
  }

  /** Of the first process. Ends in /v1. */
  get url(): string {
    return `http://127.0.0.1:${this.#apis[0]?.env.PORT}/v1`;
  }

  add(categoryId: number) {
    return this.http.send(`${this.url}/pets`, { method: 'POST', key: this.key.key, body: { name: 'Biscuit', categoryId } });
  }

  async addPet(): Promise<number> {
    return (JSON.parse((await this.add(1)).text) as { id: number }).id;
  }

  list() {
    return this.http.send(`${this.url}/pets?limit=5`, { key: this.key.key });
  }

  resumeLoad(): void {
    this.#load ??= new SteadyLoad(requestsPerSecond, (i) => (i % 5 === 0 ? this.add(2) : this.list()));
  }

  async pauseLoad(): Promise<void> {
    await this.#load?.stop();
    this.#load = undefined;
  }

  /** One process of the API, or all of them. */
  killApi(which?: number): void {
    for (const { child } of this.#chosen(which)) child.kill('SIGKILL');
  }

  async startApi(which?: number): Promise<void> {
    for (const api of this.#chosen(which)) api.child = (await this.store.serve(api.env)).child;
  }

  /** One after the other, in order, as a deploy does. */
  async replaceApis(): Promise<void> {
    for (const api of this.#apis) {
      await endProcess(api.child, 'SIGTERM');
      api.child = (await this.store.serve(api.env)).child;
    }
  }

  async allApisAreUp(): Promise<boolean> {
    return (await this.prometheus.query(`sum(up{job="homeward-api"}) == ${this.#apis.length}`)).length > 0;
  }

  stopWorker(): Promise<void> {
    return this.store.stopWorker(this.#worker);
  }

  startWorker(): void {
    this.#worker = this.store.work(this.#workerEnv);
  }

  killConsole(): void {
    this.#console.kill('SIGKILL');
  }

  async startConsole(): Promise<void> {
    this.#console = (await this.store.openConsole(this.#consoleEnv)).child;
  }

  /** Does something while no job of the worker runs. */
  async whileWorkerRests(act: () => Promise<void>): Promise<void> {
    this.#worker.kill('SIGSTOP');
    try {
      await act();
    } finally {
      this.#worker.kill('SIGCONT');
    }
  }

  /** The worker looks at the certificate when it starts, and then every few minutes. */
  async setCertificate(days: number = certificateDays): Promise<void> {
    this.#front.setCertificate(days);
    await this.stopWorker();
    this.startWorker();
  }

  setBackupTime(time = new Date()): void {
    writeStamp(this.#stampFile, time);
  }

  async setArchiveCommand(command: string): Promise<void> {
    await using _ = await this.session(`alter system set archive_command = '${command}'`, 'select pg_reload_conf()');
  }

  /** Runs statements in a session, which stays open until it is disposed. */
  async session(...statements: readonly string[]): Promise<AsyncDisposable> {
    const client = await connectTo(this.store.postgres.url);
    for (const statement of statements) await client.query(statement);
    return client;
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
    await this.pauseLoad();
    this.http[Symbol.dispose]();
    await this.#resources[Symbol.asyncDispose]();
  }

  #chosen(which: number | undefined): readonly Api[] {
    return which === undefined ? this.#apis : this.#apis.slice(which, which + 1);
  }
}

/** What callers see of the store: a TLS server with a certificate for so many days. */
class Front implements AsyncDisposable {
  readonly #server: Server;
  readonly #folder: string;

  private constructor(server: Server, folder: string) {
    this.#server = server;
    this.#folder = folder;
  }

  static async open(folder: string): Promise<Front> {
    const server = createServer((socket) => socket.on('error', () => {}));
    await once(server.listen(0, '127.0.0.1'), 'listening');
    const front = new Front(server, folder);
    front.setCertificate(certificateDays);
    return front;
  }

  get url(): string {
    return `https://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  setCertificate(days: number): void {
    const [key, cert] = [path.join(this.#folder, 'key.pem'), path.join(this.#folder, 'certificate.pem')];
    const kind = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-subj', '/CN=api.example.org'];
    execFileSync('openssl', ['req', '-x509', ...kind, '-days', String(days), '-keyout', key, '-out', cert], { stdio: 'ignore' });
    const context = { key: readFileSync(key), cert: readFileSync(cert) };
    this.#server.setSecureContext(context);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.close();
  }
}

async function startNodeExporter(resources: AsyncDisposableStack): Promise<number> {
  const port = await freePort();
  const address = `127.0.0.1:${port}`;
  const args = ['--collector.disable-defaults', '--collector.filesystem', `--web.listen-address=${address}`];
  resources.use(await startMonitor({ program: 'prometheus-node-exporter', args, readyUrl: `http://${address}/metrics` }));
  return port;
}

const writeStamp = (file: string, time: Date): void => writeFileSync(file, `${time.toISOString()}\n`);
