// The three nodes as machines: their folders, volumes and clocks, and the processes that run there.
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { chmodSync, mkdirSync, openSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import type { Namespaces } from './network.ts';
import { type Changes, fillIn, type Node, nodes, readEnvironment } from './node-files.ts';

export interface MachineOptions {
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

export class Machines {
  readonly #options: MachineOptions;
  readonly #children = new Map<string, ChildProcess>();

  /** Starts everything on every node. */
  constructor(options: MachineOptions) {
    this.#options = options;
    for (const node of nodes) this.#prepare(node);
    for (const program of programs) for (const node of nodes) this.#start(node, program);
  }

  /** Lets go on what stands still, and starts what is not running. */
  heal(): void {
    for (const node of nodes) {
      if (this.#options.hasVolumes) this.empty(node);
      this.signal(node, 'SIGCONT');
      for (const program of programs) if (!this.#isRunning(node, program)) this.#start(node, program);
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

  #home(node: Node): string {
    return path.join(this.#options.folder, node);
  }

  #isRunning(node: Node, program: Program): boolean {
    const child = this.#children.get(`${node} ${program}`);
    return child?.pid !== undefined && child.exitCode === null && child.signalCode === null;
  }

  postmaster(node: Node): number {
    return Number(readFileSync(path.join(this.#home(node), 'data-volume/main/postmaster.pid'), 'utf8').split('\n')[0]);
  }

  postgresProcesses(node: Node): number[] {
    const postmaster = this.postmaster(node);
    const rows = execFileSync('ps', ['-A', '-o', 'pid=,ppid='], { encoding: 'utf8' }).trim().split('\n');
    const children = rows
      .map((row) => row.trim().split(/\s+/).map(Number))
      .flatMap(([pid, parent]) => (parent === postmaster && pid ? [pid] : []));
    return [postmaster, ...children];
  }

  signalRedis(node: Node, signal: NodeJS.Signals): void {
    this.#children.get(`${node} redis`)?.kill(signal);
  }

  /** Every process of the node. */
  signal(node: Node, signal: NodeJS.Signals): void {
    for (const pid of this.#options.namespaces.pids(node)) signalIfAlive(pid, signal);
  }

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
  #spawn(node: Node, command: readonly string[], logFile: string, env: Record<string, string> = {}): ChildProcess {
    const log = openSync(logFile, 'a', 0o644);
    const asPostgres = ['setpriv', '--reuid', 'postgres', '--regid', 'postgres', '--clear-groups'];
    const [file = '', ...args] = [...this.#options.namespaces.enter(node), ...asPostgres, ...command];
    return spawn(file, args, {
      stdio: ['ignore', log, log],
      cwd: this.#options.folder,
      detached: true,
      env: { PATH: process.env['PATH'], LANG: 'C.UTF-8', ...env },
    });
  }
}

export function signalIfAlive(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}
