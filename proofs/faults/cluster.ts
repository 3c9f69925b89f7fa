// Three nodes with etcd, Patroni, PostgreSQL, Redis and Sentinel, from the files of deploy/ha. It is used by a process in the namespace
// `store`; what it starts runs in those of the nodes.
import { type ChildProcess, execFile, execFileSync, spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import pg from 'pg';
import { type MachineOptions, Machines, signalIfAlive } from './machines.ts';
import { addresses, type Namespaces, type Place, places } from './network.ts';
import { type Node, nodes, passwords, rolesFile } from './node-files.ts';

const run = promisify(execFile);
const healthyWithinMs = 120_000;
const pollMs = 100;
/** Every instance of Patroni looks once a second. */
const configuredWithinMs = 2_500;
const apiPassword = 'api-secret';
const ownerPassword = 'owner-secret';

export class Cluster {
  readonly namespaces: Namespaces;
  readonly folder: string;
  /** Their volumes and clocks are faults too. */
  readonly machines: Machines;
  readonly #tracers = new Set<ChildProcess>();
  #databases = 0;
  #isSynchronous: boolean;

  private constructor(options: MachineOptions) {
    this.namespaces = options.namespaces;
    this.folder = options.folder;
    this.machines = new Machines(options);
    this.#isSynchronous = !options.changes?.some(({ to }) => to.includes('synchronous_mode: false'));
  }

  static async start(options: MachineOptions): Promise<Cluster> {
    const cluster = new Cluster(options);
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
    process.kill(this.machines.postmaster(node), 'SIGKILL');
  }

  /** Also those that would end what they are doing without the postmaster. */
  killPostgresProcesses(node: Node): void {
    for (const pid of this.machines.postgresProcesses(node)) signalIfAlive(pid, 'SIGKILL');
  }

  killNode(node: Node): void {
    this.machines.signal(node, 'SIGKILL');
  }

  pause(node: Node): void {
    this.machines.signal(node, 'SIGSTOP');
  }

  resume(node: Node): void {
    this.machines.signal(node, 'SIGCONT');
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

  /** Delays or fails a system call of every process of this node's PostgreSQL, until heal(). */
  async traceSystemCalls(node: Node, ...inject: readonly string[]): Promise<void> {
    const tracer = spawn(
      'strace',
      ['-f', '-qq', '-o', '/dev/null', ...this.machines.postgresProcesses(node).flatMap((pid) => ['-p', String(pid)]), ...inject],
      {
        stdio: ['ignore', 'ignore', 'pipe'],
      },
    );
    this.#tracers.add(tracer);
    // Attached once the postmaster is traced.
    const status = () => readFileSync(`/proc/${this.machines.postmaster(node)}/status`, 'utf8');
    for (let tries = 0; /^TracerPid:\t0$/m.test(status()); tries += 1) {
      if (tries > 100) throw new Error('strace did not attach');
      await sleep(20);
    }
  }

  /** Ends every fault, starts what is not running, and waits until the cluster is whole. */
  async heal(): Promise<void> {
    for (const tracer of this.#tracers) tracer.kill('SIGKILL');
    this.#tracers.clear();
    this.restoreNetwork();
    this.machines.heal();
    await this.untilHealthy();
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

  #in(place: Place, ...command: readonly string[]): void {
    const [file = '', ...args] = [...this.namespaces.enter(place), ...command];
    execFileSync(file, args, { stdio: ['ignore', 'ignore', 'pipe'] });
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
