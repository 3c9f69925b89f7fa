// Puts a store under a load of known rates, from the start of its processes on, and counts what it does.
import { Redis } from 'ioredis';
import type pg from 'pg';
import { defaultScopes } from '../service/src/domain/scopes.ts';
import { HttpClient } from '../testkit/http.ts';
import { connectTo } from '../testkit/postgres.ts';
import { canReadCpu, cpuMs, treeCpuMs } from '../testkit/process-cpu.ts';
import { type ServeProcess, Store } from '../testkit/store.ts';
import type { Facts } from './capacity-facts.ts';
import { type Load, predict, predictRun } from './capacity-model.ts';
import { warningsIn } from './program.ts';
import { type BenchKey, fillStore, insertKeys } from './seed.ts';

interface Count {
  readonly name: string;
  readonly predicted: number;
  readonly measured: number;
}

export interface Comparison {
  readonly load: Load;
  readonly seconds: number;
  readonly counts: readonly Count[];
  readonly replacementsPerWrite: number;
  readonly connections: { readonly predicted: number; readonly measured: number };
  readonly costs: ReadonlyArray<{ readonly name: string; readonly figure: string }>;
  /** Requests that got an error. */
  readonly failed: number;
  /** Of the store, such as the loss of Redis: after one, it reads more than was predicted. */
  readonly warnings: readonly string[];
}

const pageSize = 20;
const socketsMax = 256;

export async function compare(load: Load, facts: Facts, seconds: number): Promise<Comparison> {
  const settings = { shared_preload_libraries: 'pg_stat_statements' };
  await using store = await Store.open({ processes: 0, settings, env: { NODE_ENV: 'production', LOG_LEVEL: 'warn' } });
  await fillStore(store.postgres.url, load.pages * pageSize);
  const perClient = Math.max(Math.round(load.keys / load.clients), 1);
  const keys = (
    await insertKeys(store.postgres.url, { clients: load.clients, perClient, scopes: [...defaultScopes, 'store:manage'] })
  ).slice(0, load.keys);
  const urls = await collectUrls(store, load.pages, keys[0]?.key ?? '');
  const processes = await Promise.all(Array.from({ length: load.processes }, () => store.serve()));
  await using counters = await Counters.open(store, processes);
  const connections = await counters.connections();
  store.work();
  await counters.reset();
  const before = counters.cpu();
  const sent = await sendLoad(load, { seconds, processes, urls, keys });
  const after = counters.cpu();
  const { statements, replacements } = await counters.read();
  const callsOf = (pattern: RegExp) => sum(statements.filter(({ query }) => pattern.test(query)).map(({ calls }) => calls));
  const actual = { ...load, keys: keys.length, requests: sent.lists / seconds, writes: sent.writes / seconds };
  const expected = predictRun(actual, facts, seconds);
  const requests = sent.lists + sent.writes;
  const cpu = (part: keyof Cpu) => (before && after ? `${(((after[part] - before[part]) * 1_000) / requests).toFixed(0)} µs` : '–');
  return {
    load,
    seconds,
    counts: [
      { name: 'pages read from PostgreSQL', predicted: expected.pageReads, measured: callsOf(pageRead) },
      { name: 'keys read from PostgreSQL', predicted: expected.keyReads, measured: callsOf(keyRead) },
      {
        name: 'replacements of the token',
        predicted: expected.replacements,
        measured: replacements,
      },
    ],
    replacementsPerWrite: replacements / sent.writes,
    connections: { predicted: predict(load, facts).connections.serve, measured: connections },
    costs: [
      { name: 'CPU of serve a request', figure: cpu('serve') },
      { name: 'CPU of Redis a request', figure: cpu('redis') },
      { name: 'CPU of PostgreSQL a request', figure: cpu('postgres') },
      { name: 'statements of PostgreSQL a second', figure: (sum(statements.map(({ calls }) => calls)) / seconds).toFixed(0) },
      ...[
        { name: 'execution of a page read', pattern: pageRead },
        { name: 'execution of a key read', pattern: keyRead },
        { name: 'execution of a look for changes', pattern: look },
      ].map(({ name, pattern }) => ({ name, figure: executionOf(statements.filter(({ query }) => pattern.test(query))) })),
    ],
    failed: sent.failed,
    warnings: processes.flatMap((one) => warningsIn(one.log())),
  };
}

/** By the texts of the statements in pg_stat_statements. */
const pageRead = /from pets where .*order by .*\bid limit/s;
const keyRead = /from api_keys join clients/;
const look = /from unannounced_changes/;

interface Statement {
  readonly query: string;
  readonly calls: number;
  readonly totalMs: number;
}

function executionOf(statements: readonly Statement[]): string {
  const calls = sum(statements.map((one) => one.calls));
  return calls === 0 ? '–' : `${((sum(statements.map(({ totalMs }) => totalMs)) * 1_000) / calls).toFixed(0)} µs`;
}

/** From a process that is not measured, so that the others start without a cached page. */
async function collectUrls(store: Store, pages: number, key: string): Promise<string[]> {
  const { url, child } = await store.serve();
  using http = new HttpClient();
  const urls: string[] = [];
  for (let next: string | undefined = `/v1/pets?limit=${pageSize}`; next !== undefined && urls.length < pages; ) {
    urls.push(next);
    const { status, headers, text } = await http.send(new URL(next, url).href, { key });
    if (status !== 200) throw new Error(`${next} got ${status}: ${text}`);
    next = /<([^>]+)>; rel="next"/.exec(String(headers.link))?.[1];
  }
  child.kill('SIGKILL');
  return urls;
}

interface Sent {
  lists: number;
  writes: number;
  failed: number;
}

async function sendLoad(
  load: Load,
  {
    seconds,
    processes,
    urls,
    keys,
  }: { seconds: number; processes: readonly ServeProcess[]; urls: readonly string[]; keys: readonly BenchKey[] },
): Promise<Sent> {
  using http = new HttpClient(socketsMax);
  const sent: Sent = { lists: 0, writes: 0, failed: 0 };
  const send = async (path: string, options: { method?: string; body?: unknown }, kind: 'lists' | 'writes') => {
    const url = new URL(path, pick(processes).url).href;
    const response = await http.send(url, { ...options, key: pick(keys).key }).catch(() => undefined);
    if (response?.status === 200) sent[kind] += 1;
    else {
      if (sent.failed === 0) console.error(`${path} got ${response?.status ?? 'no response'}: ${response?.text}`);
      sent.failed += 1;
    }
  };
  const animals = load.pages * pageSize;
  await Promise.all([
    sendAtRandom(load.requests, seconds, () => send(pick(urls), {}, 'lists')),
    sendAtRandom(load.writes, seconds, (n) => {
      const id = 1 + Math.floor(Math.random() * animals);
      return send(`/v1/pets/${id}`, { method: 'PATCH', body: { name: `Animal ${n}` } }, 'writes');
    }),
  ]);
  return sent;
}

/** As a Poisson process: independent requests at this rate. None waits for another. */
async function sendAtRandom(perSecond: number, seconds: number, send: (n: number) => Promise<void>): Promise<void> {
  if (perSecond === 0) return;
  const pending = new Set<Promise<void>>();
  const startMs = performance.now();
  let dueMs = 0;
  for (let n = 0; ; n += 1) {
    dueMs -= (Math.log(1 - Math.random()) * 1_000) / perSecond;
    if (dueMs > seconds * 1_000) break;
    const waitMs = startMs + dueMs - performance.now();
    if (waitMs > 0) await new Promise((resolve) => setTimeout(resolve, waitMs));
    const one = send(n).finally(() => pending.delete(one));
    pending.add(one);
  }
  await Promise.all(pending);
}

interface Cpu {
  readonly serve: number;
  readonly redis: number;
  readonly postgres: number;
}

/** Counts statements in PostgreSQL, and replacements of the token by Redis's notifications. */
class Counters implements AsyncDisposable {
  readonly #client: pg.Client;
  readonly #redis: Redis;
  readonly #store: Store;
  readonly #processes: readonly ServeProcess[];
  #replacements = 0;

  private constructor(client: pg.Client, redis: Redis, store: Store, processes: readonly ServeProcess[]) {
    this.#client = client;
    this.#redis = redis;
    this.#store = store;
    this.#processes = processes;
  }

  static async open(store: Store, processes: readonly ServeProcess[]): Promise<Counters> {
    const client = await connectTo(store.postgres.url);
    await client.query('create extension if not exists pg_stat_statements');
    const redis = new Redis(store.redis.url);
    const counters = new Counters(client, redis, store, processes);
    await redis.config('SET', 'notify-keyspace-events', 'K$');
    redis.on('pmessage', (_pattern, _channel, command: string) => {
      if (command === 'set') counters.#replacements += 1;
    });
    await redis.psubscribe('__keyspace@0__:*{catalogue}:token');
    return counters;
  }

  async connections(): Promise<number> {
    const { rows } = await this.#client.query<{ count: number }>(
      `select count(*)::int from pg_stat_activity where application_name in ('homeward', 'homeward probe')`,
    );
    return rows[0]?.count ?? 0;
  }

  async reset(): Promise<void> {
    await this.#client.query('select pg_stat_statements_reset()');
    this.#replacements = 0;
  }

  cpu(): Cpu | undefined {
    if (!canReadCpu) return undefined;
    return {
      serve: sum(this.#processes.map(({ child }) => cpuMs(child.pid ?? 0))),
      redis: cpuMs(this.#store.redis.pid),
      postgres: treeCpuMs(this.#store.postgres.pid),
    };
  }

  async read(): Promise<{ statements: Statement[]; replacements: number }> {
    const { rows } = await this.#client.query<Statement>(
      `select query, calls::int, total_exec_time as "totalMs" from pg_stat_statements join pg_roles on oid = userid where rolname = 'homeward_app'`,
    );
    return { statements: rows, replacements: this.#replacements };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#redis.disconnect();
    await this.#client.end();
  }
}

const sum = (values: readonly number[]) => values.reduce((total, value) => total + value, 0);
const pick = <T>(all: readonly T[]): T => all[Math.floor(Math.random() * all.length)] as T;
