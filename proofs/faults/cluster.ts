// Three nodes with etcd, Patroni, PostgreSQL, Redis and Sentinel, from the files of deploy/ha. It is used by a process in the namespace
// `store`; what it starts runs in those of the nodes.
import { type ChildProcess, execFile, execFileSync, spawn } from 'node:child_process';
import { chmodSync, mkdirSync, openSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import pg from 'pg';
import { addresses, type Namespaces, type Place, places } from './network.ts';
import { type Changes, fillIn, type Node, nodes, passwords, readEnvironment, rolesFile } from './node-files.ts';

const run = promisify(execFile);
const healthyWithinMs = 120_000;
const pollMs = 100;
/** Every instance of Patroni looks once a second. */
const configuredWithinMs = 2_500;
const apiPassword = 'api-secret';
const ownerPassword = 'owner-secret';

export interface ClusterOptions {
  readonly namespaces: Namespaces;
  readonly folder: string;
  /** Of a mutant: asynchronous replication, or no `min-replicas-to-write`. */
  readonly changes?: readonly Changes[];
  /** Small volumes for the data and the WAL of each node, that can be filled. */
  readonly hasVolumes?: boolean;
  /** PostgreSQL's clocks can be moved. */
  readonly hasClocks?: boolean;
}

type Program = 'etcd' | 'patroni' | 'redis' | 'sentinel';
const programs: readonly Program[] = ['etcd', 'redis', 'sentinel', 'patroni'];

export class Cluster {
  readonly namespaces: Namespaces;
  readonly folder: string;
  readonly #options: ClusterOptions;
  readonly #children = new Map<string, ChildProcess>();
  readonly #tracers = new Set<ChildProcess>();
  #databases = 0;
  #isSynchronous: boolean;

  private constructor(options: ClusterOptions) {
    this.namespaces = options.namespaces;
    this.folder = options.folder;
    this.#options = options;
    this.#isSynchronous = !options.changes?.some(({ to }) => to.includes('synchronous_mode: false'));
  }

  static async start(options: ClusterOptions): Promise<Cluster> {
    const cluster = new Cluster(options);
    for (const node of nodes) cluster.#prepare(node);
    for (const program of programs) for (const node of nodes) cluster.#start(node, program);
    await cluster.untilHealthy();
    await cluster.#createRoles();
    return cluster;
  }

  /** For `migrate`. All servers: the command finds the primary. */
  ownerUrlOf(database: string): string {
    return urlOf('homeward_owner', ownerPassword, database);
  }

  databaseUrlOf(database: string): string {
    return urlOf('homeward_api', apiPassword, database);
  }

  /** The Sentinels, who know the primary. */
  get redisUrl(): string {
    return `redis+sentinel://:${passwords.REDIS_PASSWORD}@${nodes.map((node) => `${addresses[node]}:26379`).join(',')}/homeward`;
  }

  superuserUrlOf(node: Node, database: string): string {
    return `postgres://postgres:${passwords.SUPERUSER_PASSWORD}@${addresses[node]}:5432/${database}`;
  }

  /** One that belongs to the store's owner, with nothing in it. Returns its name. */
  async createDatabase(): Promise<string> {
    this.#databases += 1;
    const name = `homeward_${this.#databases}`;
    const made = await this.query(await this.getLeader(), `create database ${name} owner homeward_owner`);
    if (!made) throw new Error(`the database ${name} could not be made`);
    return name;
  }

  // Who is who.

  /** The node that says it is the primary, if one of these does. */
  async findLeader(candidates: readonly Node[] = nodes): Promise<Node | undefined> {
    return findRole(candidates, 'primary');
  }

  async getLeader(): Promise<Node> {
    return getSoon(() => this.findLeader(), 'primary');
  }

  async findSynchronous(): Promise<Node | undefined> {
    return findRole(nodes, 'synchronous');
  }

  async findRedisPrimary(): Promise<Node | undefined> {
    for (const node of nodes) {
      const reply = await redis(node, 26379, passwords.SENTINEL_PASSWORD, 'sentinel', 'get-master-addr-by-name', 'homeward');
      const address = reply?.split('\n')[0];
      const found = nodes.find((one) => addresses[one] === address);
      if (found) return found;
    }
    return undefined;
  }

  async getRedisPrimary(): Promise<Node> {
    return getSoon(() => this.findRedisPrimary(), 'primary of Redis');
  }

  /** As a superuser, on this node. Undefined if it can't be asked. */
  async query<Row extends pg.QueryResultRow>(
    node: Node,
    sql: string,
    values: unknown[] = [],
    database = 'postgres',
  ): Promise<Row[] | undefined> {
    const client = new pg.Client({
      host: addresses[node],
      user: 'postgres',
      password: passwords.SUPERUSER_PASSWORD,
      database,
      connectionTimeoutMillis: 1_000,
      query_timeout: 10_000,
    });
    client.on('error', () => {});
    try {
      await client.connect();
      return (await client.query<Row>(sql, values)).rows;
    } catch {
      return undefined;
    } finally {
      client.end().catch(() => {});
    }
  }

  /** A primary with a synchronous standby, two standbys that stream, and a Redis with two replicas. */
  async untilHealthy(): Promise<void> {
    const deadline = performance.now() + healthyWithinMs;
    for (let fault = await this.#findFault(); fault !== undefined; fault = await this.#findFault()) {
      if (performance.now() > deadline) throw new Error(`the cluster is not healthy after ${healthyWithinMs / 1_000} s: ${fault}`);
      await sleep(pollMs);
    }
  }

  async #findFault(): Promise<string | undefined> {
    const leader = await this.findLeader();
    if (!leader) return 'no primary';
    if (this.#isSynchronous && !(await this.findSynchronous())) return 'no synchronous standby';
    const streaming = await this.query<{ count: string }>(
      leader,
      `select count(*)::text as count from pg_stat_replication where state = 'streaming'`,
    );
    if (streaming?.[0]?.count !== '2') return `${streaming?.[0]?.count ?? 'unknown'} standbys that stream`;
    const primary = await this.findRedisPrimary();
    if (!primary) return 'no Redis primary';
    const info = await redis(primary, 6379, passwords.REDIS_PASSWORD, 'info', 'replication');
    return info?.includes('connected_slaves:2') ? undefined : `Redis has not two replicas`;
  }

  // Faults. Each is undone by heal().

  killPostgres(node: Node): void {
    process.kill(this.#postmaster(node), 'SIGKILL');
  }

  /** Also those that would end what they are doing without the postmaster. */
  killPostgresProcesses(node: Node): void {
    for (const pid of this.#postgresProcesses(node)) signalIfAlive(pid, 'SIGKILL');
  }

  killNode(node: Node): void {
    this.#signalAll(node, 'SIGKILL');
  }

  pause(node: Node): void {
    this.#signalAll(node, 'SIGSTOP');
  }

  resume(node: Node): void {
    this.#signalAll(node, 'SIGCONT');
  }

  cutOff(node: Node): void {
    this.namespaces.setLink(node, 'down');
  }

  /** From the other nodes only: clients still reach it. */
  cutFromNodes(node: Node): void {
    for (const other of nodes) if (other !== node) this.drop(node, other);
  }

  /** The standbys get no more of the primary's log, and everything else goes on. */
  holdReplication(primary: Node): void {
    for (const other of nodes) {
      if (other === primary) continue;
      this.drop(primary, other, ['-p', 'tcp', '--sport', '5432']);
      this.drop(primary, other, ['-p', 'tcp', '--dport', '5432']);
    }
  }

  /** What goes from one place to the other, in both directions, is lost. */
  drop(from: Place, to: Place, which: readonly string[] = []): void {
    this.#in(from, 'iptables', '-w', '-A', 'INPUT', '-s', addresses[to], ...which, '-j', 'DROP');
    this.#in(from, 'iptables', '-w', '-A', 'OUTPUT', '-d', addresses[to], ...which, '-j', 'DROP');
  }

  /** Only what is of Redis and Sentinel is lost between the two. */
  dropRedis(from: Place, to: Place): void {
    for (const port of ['6379', '26379']) for (const end of ['--sport', '--dport']) this.drop(from, to, ['-p', 'tcp', end, port]);
  }

  restoreNetwork(): void {
    for (const place of places) {
      this.namespaces.setLink(place, 'up');
      this.#in(place, 'iptables', '-w', '-F');
    }
  }

  async switchOver(leader: Node): Promise<void> {
    const candidate = await this.findSynchronous();
    const response = await this.#patroni(leader, 'POST', '/switchover', { leader, candidate });
    if (!response.ok) throw new Error(`Patroni rejected the switchover: ${response.status} ${await response.text()}`);
  }

  /** Changes what Patroni's instances have agreed on. */
  async configure(settings: Readonly<Record<string, unknown>>): Promise<void> {
    let response = await this.#patroni(await this.getLeader(), 'PATCH', '/config', settings);
    // Another node has written to the configuration at the same time.
    for (let tries = 0; response.status === 409 && tries < 10; tries += 1) {
      await sleep(pollMs);
      response = await this.#patroni(await this.getLeader(), 'PATCH', '/config', settings);
    }
    if (!response.ok) throw new Error(`Patroni rejected the configuration: ${response.status} ${await response.text()}`);
    const { synchronous_mode: isSynchronous = this.#isSynchronous } = settings;
    this.#isSynchronous = isSynchronous === true;
    await sleep(configuredWithinMs);
    await this.untilHealthy();
  }

  signalRedis(node: Node, signal: NodeJS.Signals): void {
    this.#children.get(`${node} redis`)?.kill(signal);
  }

  /** Delays or fails a system call of every process of this node's PostgreSQL, until heal(). */
  async traceSystemCalls(node: Node, ...inject: readonly string[]): Promise<void> {
    const tracer = spawn(
      'strace',
      ['-f', '-qq', '-o', '/dev/null', ...this.#postgresProcesses(node).flatMap((pid) => ['-p', String(pid)]), ...inject],
      {
        stdio: ['ignore', 'ignore', 'pipe'],
      },
    );
    this.#tracers.add(tracer);
    // Attached once the postmaster is traced.
    const status = () => readFileSync(`/proc/${this.#postmaster(node)}/status`, 'utf8');
    for (let tries = 0; /^TracerPid:\t0$/m.test(status()); tries += 1) {
      if (tries > 100) throw new Error('strace did not attach');
      await sleep(20);
    }
  }

  /** Fills a volume of the node to the last byte. */
  fill(node: Node, volume: 'data' | 'wal'): void {
    const file = path.join(this.#home(node), volume === 'data' ? 'data-volume' : 'wal-volume', 'filler');
    try {
      execFileSync('dd', ['if=/dev/zero', `of=${file}`, 'bs=4k'], { stdio: 'ignore' });
    } catch {
      // It ends when the volume is full.
    }
  }

  empty(node: Node): void {
    for (const volume of ['data-volume', 'wal-volume']) execFileSync('rm', ['-f', path.join(this.#home(node), volume, 'filler')]);
  }

  /** `+30s`, `-30s` or `+0`. */
  setClock(node: Node, offset: string): void {
    writeFileSync(path.join(this.#home(node), 'clock'), `${offset}\n`);
  }

  /** Ends every fault, starts what is not running, and waits until the cluster is whole. */
  async heal(): Promise<void> {
    for (const tracer of this.#tracers) tracer.kill('SIGKILL');
    this.#tracers.clear();
    this.restoreNetwork();
    for (const node of nodes) {
      if (this.#options.hasVolumes) this.empty(node);
      this.#signalAll(node, 'SIGCONT');
      for (const program of programs) if (!this.#isRunning(node, program)) this.#start(node, program);
    }
    await this.untilHealthy();
  }

  // Processes.

  #prepare(node: Node): void {
    const home = this.#home(node);
    for (const folder of [home, path.join(home, 'wal-volume'), path.join(home, 'data-volume')]) mkdirSync(folder, { recursive: true });
    if (this.#options.hasVolumes) {
      execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=256m', 'homeward', path.join(home, 'data-volume')]);
      execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=512m', 'homeward', path.join(home, 'wal-volume')]);
    }
    if (this.#options.hasClocks) this.#makeClock(node);
    const folders = {
      data: path.join(home, 'data-volume/main'),
      wal: path.join(home, 'wal-volume/wal'),
      redis: home,
      etcd: path.join(home, 'etcd'),
      programs: this.#options.hasClocks ? path.join(home, 'programs') : undefined,
    };
    for (const file of ['patroni.yml', 'etcd.env', 'redis.conf', 'sentinel.conf'] as const) {
      const target = path.join(home, file);
      writeFileSync(target, fillIn(file, node, folders, this.#options.changes ?? []));
      chmodSync(target, 0o600);
    }
    execFileSync('chown', ['-R', 'postgres:postgres', home]);
  }

  /** PostgreSQL's programs, of which `postgres` reads an offset of its clock from a file. Patroni's own clock stays right. */
  #makeClock(node: Node): void {
    const folder = path.join(this.#home(node), 'programs');
    const library = execFileSync('sh', ['-c', 'ls /usr/lib/*/faketime/libfaketime.so.1'], { encoding: 'utf8' }).trim();
    const real = execFileSync('sh', ['-c', 'ls -d /usr/lib/postgresql/*/bin | tail -n 1'], { encoding: 'utf8' }).trim();
    execFileSync('sh', ['-c', 'mkdir "$0" && ln -s "$1"/* "$0" && rm "$0/postgres"', folder, real]);
    this.setClock(node, '+0');
    const wrapper = `#!/bin/sh
export LD_PRELOAD=${library} FAKETIME_TIMESTAMP_FILE=${path.join(this.#home(node), 'clock')} FAKETIME_CACHE_DURATION=1 FAKETIME_DONT_FAKE_MONOTONIC=1
exec ${real}/postgres "$@"
`;
    writeFileSync(path.join(folder, 'postgres'), wrapper, { mode: 0o755 });
  }

  #start(node: Node, program: Program): void {
    const home = this.#home(node);
    const file = (name: string) => path.join(home, name);
    const commands: Record<Program, string[]> = {
      etcd: ['etcd'],
      patroni: ['patroni', file('patroni.yml')],
      redis: ['redis-server', file('redis.conf')],
      sentinel: ['redis-sentinel', file('sentinel.conf')],
    };
    const env = program === 'etcd' ? readEnvironment(readFileSync(file('etcd.env'), 'utf8')) : {};
    this.#children.set(`${node} ${program}`, this.#spawn(node, commands[program], file(`${program}.log`), env));
  }

  /** In a session of its own: Linux shares the cores out by sessions, and each of these stands for a machine or a process of one. */
  #spawn(place: Place, command: readonly string[], logFile: string, env: Record<string, string> = {}): ChildProcess {
    const log = openSync(logFile, 'a', 0o644);
    const asPostgres = ['setpriv', '--reuid', 'postgres', '--regid', 'postgres', '--clear-groups'];
    const [file = '', ...args] = [...this.namespaces.enter(place), ...asPostgres, ...command];
    return spawn(file, args, {
      stdio: ['ignore', log, log],
      cwd: this.folder,
      detached: true,
      env: { PATH: process.env['PATH'], LANG: 'C.UTF-8', ...env },
    });
  }

  async #createRoles(): Promise<void> {
    const args = [
      '-qX',
      '-v',
      'ON_ERROR_STOP=1',
      '-v',
      `owner_password=${ownerPassword}`,
      '-v',
      `api_password=${apiPassword}`,
      '-f',
      rolesFile,
    ];
    const url = `postgres://postgres:${passwords.SUPERUSER_PASSWORD}@${addresses[await this.getLeader()]}/postgres`;
    await run('psql', [...args, url]);
  }

  async #patroni(node: Node, method: string, where: string, body: unknown): Promise<Response> {
    const authorization = `Basic ${Buffer.from(`patroni:${passwords.RESTAPI_PASSWORD}`).toString('base64')}`;
    return fetch(`http://${addresses[node]}:8008${where}`, {
      method,
      headers: { authorization, 'content-type': 'application/json' },
      body: JSON.stringify(body),
      signal: AbortSignal.timeout(30_000),
    });
  }

  #home(node: Node): string {
    return path.join(this.folder, node);
  }

  #isRunning(node: Node, program: Program): boolean {
    const child = this.#children.get(`${node} ${program}`);
    return child?.pid !== undefined && child.exitCode === null && child.signalCode === null;
  }

  #postmaster(node: Node): number {
    return Number(readFileSync(path.join(this.#home(node), 'data-volume/main/postmaster.pid'), 'utf8').split('\n')[0]);
  }

  #postgresProcesses(node: Node): number[] {
    const postmaster = this.#postmaster(node);
    const rows = execFileSync('ps', ['-A', '-o', 'pid=,ppid='], { encoding: 'utf8' }).trim().split('\n');
    const children = rows
      .map((row) => row.trim().split(/\s+/).map(Number))
      .flatMap(([pid, parent]) => (parent === postmaster && pid ? [pid] : []));
    return [postmaster, ...children];
  }

  #signalAll(node: Node, signal: NodeJS.Signals): void {
    for (const pid of this.namespaces.pids(node)) signalIfAlive(pid, signal);
  }

  #in(place: Place, ...command: readonly string[]): void {
    const [file = '', ...args] = [...this.namespaces.enter(place), ...command];
    execFileSync(file, args, { stdio: ['ignore', 'ignore', 'pipe'] });
  }
}

function signalIfAlive(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}

function urlOf(user: string, password: string, database: string): string {
  const servers = nodes.map((node) => `${addresses[node]}:5432`).join(',');
  return `postgres://${user}:${password}@${servers}/${database}?target_session_attrs=read-write`;
}

/** On a busy machine a node may not reply in time. */
async function getSoon(find: () => Promise<Node | undefined>, what: string): Promise<Node> {
  for (let tries = 0; tries < 20; tries += 1) {
    const node = await find();
    if (node) return node;
    await sleep(pollMs);
  }
  throw new Error(`no node is the ${what}`);
}

async function findRole(candidates: readonly Node[], role: 'primary' | 'synchronous'): Promise<Node | undefined> {
  const has = await Promise.all(candidates.map((node) => hasRole(node, role)));
  return candidates.find((_, i) => has[i]);
}

async function hasRole(node: Node, role: string): Promise<boolean> {
  try {
    const response = await fetch(`http://${addresses[node]}:8008/${role}`, { signal: AbortSignal.timeout(1_000) });
    await response.arrayBuffer();
    return response.status === 200;
  } catch {
    return false;
  }
}

/** A command of Redis or Sentinel. Undefined if it can't be reached. */
async function redis(node: Node, port: number, password: string, ...command: readonly string[]): Promise<string | undefined> {
  const args = ['-h', addresses[node], '-p', String(port), '-a', password, '--no-auth-warning', ...command];
  try {
    return (await run('redis-cli', args, { timeout: 1_000 })).stdout.replaceAll('\r', '');
  } catch {
    return undefined;
  }
}
