// Starts private PostgreSQL, PgBouncer and Redis servers from the installed binaries, on free ports. Data are in a temporary folder, or in one
// that the caller passes and that is not removed.
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { chownSync, existsSync, mkdtempSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { connect, createServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { treeOf } from './running-processes.ts';

export class MissingServer extends Error {}

interface ServerOptions {
  readonly url: string;
  readonly port: number;
  readonly command: string[];
  readonly folder: string;
  /**
   * The caller passed the folder: it is not removed. Ctrl-C in the terminal does not signal the server, so the caller can
   * stop it in order.
   */
  readonly kept: boolean;
  /** The server is ready once its port is open and this returns true. */
  readonly isReady?: (pid: number) => boolean;
  readonly user?: { readonly uid: number; readonly gid: number } | undefined;
}

const startTimeoutMs = 30_000;
const stopTimeoutMs = 10_000;

/** One server process that can be stopped, killed, frozen and started again on the same port. */
export class PrivateServer implements AsyncDisposable {
  readonly url: string;
  readonly port: number;
  readonly #options: ServerOptions;
  #child: ChildProcess | undefined;

  constructor(options: ServerOptions) {
    this.url = options.url;
    this.port = options.port;
    this.#options = options;
  }

  get pid(): number {
    if (!this.#child?.pid) throw new Error('the server is not running');
    return this.#child.pid;
  }

  get isRunning(): boolean {
    return this.#child?.exitCode === null && this.#child.signalCode === null;
  }

  async start(): Promise<void> {
    const { command, folder, kept, isReady = () => true, user } = this.#options;
    const [file = '', ...args] = command;
    const child = spawn(file, args, { stdio: 'ignore', cwd: folder, detached: kept, ...user });
    this.#child = child;
    liveServers.add(this);
    if (child.pid) guard(child, kept ? 'kill -INT "$0"; kill -CONT "$0"' : 'pkill -KILL -P "$0"; kill -KILL "$0"; rm -rf "$1"', folder);
    const deadline = Date.now() + startTimeoutMs;
    while (!(await accepts(this.port)) || !isReady(child.pid ?? 0)) {
      if (child.exitCode !== null) throw new Error(`${file} ended with status ${child.exitCode}`);
      if (Date.now() > deadline) throw new Error(`${file} was not ready on port ${this.port} in ${startTimeoutMs} ms`);
      await sleep(20);
    }
  }

  /** SIGSTOP freezes the server and SIGCONT resumes it. Any other signal must end it, and the call waits for the exit. */
  async signal(signal: NodeJS.Signals): Promise<void> {
    const child = this.#child;
    if (!child?.pid || child.exitCode !== null || child.signalCode !== null) return;
    const ended = new Promise((resolve) => child.once('exit', resolve));
    child.kill(signal);
    if (signal === 'SIGSTOP' || signal === 'SIGCONT') return;
    child.kill('SIGCONT');
    await ended;
  }

  /** Stops the server. Removes its data, unless the caller passed the folder. */
  async [Symbol.asyncDispose](): Promise<void> {
    // What a test has stopped, and not resumed since it failed, would outlive the server.
    this.#signalChildren('SIGCONT');
    const killTimer = setTimeout(() => this.#child?.kill('SIGKILL'), stopTimeoutMs);
    await this.signal('SIGINT');
    clearTimeout(killTimer);
    liveServers.delete(this);
    this.#removeFolder();
  }

  killNow(): void {
    if (!this.#options.kept) this.#signalChildren('SIGKILL');
    this.#child?.kill(this.#options.kept ? 'SIGINT' : 'SIGKILL');
    this.#removeFolder();
  }

  #signalChildren(signal: NodeJS.Signals): void {
    if (!this.isRunning) return;
    for (const pid of treeOf(this.pid)) if (pid !== this.pid) signalIfAlive(pid, signal);
  }

  #removeFolder(): void {
    if (!this.#options.kept) rmSync(this.#options.folder, { recursive: true, force: true });
  }
}

function signalIfAlive(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}

/** Stops a process even if this one is killed: a shell waits until its input closes, which happens when this process ends. */
export function guard(server: ChildProcess, end = 'kill -KILL "$0"', ...more: readonly string[]): void {
  const words = ['-c', `read -r _; ${end}`, String(server.pid), ...more];
  const shell = spawn('sh', words, { stdio: ['pipe', 'ignore', 'ignore'], detached: true });
  shell.unref();
  (shell.stdin as Socket).unref();
  shell.stdin.on('error', () => {});
  server.once('exit', () => shell.kill('SIGKILL'));
}

const liveServers = new Set<PrivateServer>();
process.once('exit', () => {
  for (const server of liveServers) server.killNow();
});

interface PostgresOptions {
  readonly durable?: boolean;
  readonly folder?: string;
  /** Further settings of the server. */
  readonly settings?: Readonly<Record<string, string>> | undefined;
  /** The folder of the server's programs, if not those that are installed. */
  readonly binaries?: string | undefined;
  /** The folder of a server that has ended, whose data it begins with. Both then have the same identity. */
  readonly template?: string | undefined;
}

/**
 * `durable: false` turns fsync and synchronous commits off: faster, but a crash may lose data. A `folder` that is passed
 * is not removed.
 */
export async function startPostgres(options: PostgresOptions = {}): Promise<PrivateServer> {
  const { durable = false, folder, settings, binaries = postgresBinaries(), template } = options;
  const user = serverUser();
  const home = folder ?? newFolder();
  if (user) chownSync(home, user.uid, user.gid);
  const data = path.join(home, 'data');
  if (template) execFileSync('cp', ['--archive', path.join(template, 'data'), home]);
  else if (!existsSync(data)) initialise(path.join(binaries, 'initdb'), data, user);
  return startCluster(home, { durable, kept: folder !== undefined, settings, binaries });
}

/** A standby of another server that was started here: it streams what that one writes, and is asynchronous. */
export async function startStandby(
  primary: PrivateServer,
  options: Pick<PostgresOptions, 'durable' | 'settings'> = {},
): Promise<PrivateServer> {
  const user = serverUser();
  const home = newFolder();
  if (user) chownSync(home, user.uid, user.gid);
  const args = ['-D', path.join(home, 'data'), '-d', primary.url, '--write-recovery-conf', '--checkpoint=fast', '--no-sync'];
  execFileSync(path.join(postgresBinaries(), 'pg_basebackup'), args, { stdio: ['ignore', 'ignore', 'pipe'], cwd: home, ...user });
  return startCluster(home, { durable: options.durable ?? false, kept: false, settings: options.settings, binaries: postgresBinaries() });
}

function postgresBinaries(): string {
  const bin = postgresFolder();
  if (bin) return bin;
  throw new MissingServer('PostgreSQL is not installed: apt-get install postgresql, or brew install postgresql@17');
}

interface ClusterOptions {
  readonly durable: boolean;
  readonly kept: boolean;
  readonly settings: PostgresOptions['settings'];
  readonly binaries: string;
}

async function startCluster(home: string, { durable, kept, settings: more, binaries }: ClusterOptions): Promise<PrivateServer> {
  const data = path.join(home, 'data');
  const port = await freePort();
  const settings = {
    listen_addresses: '127.0.0.1',
    port,
    // No Unix socket: its path may have at most 107 bytes, and the path of a checkout may be longer.
    unix_socket_directories: '',
    max_connections: 300,
    ...(!durable && { fsync: 'off', full_page_writes: 'off', synchronous_commit: 'off' }),
    ...more,
  };
  const command = [
    path.join(binaries, 'postgres'),
    '-D',
    data,
    ...Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`]),
  ];
  const url = `postgres://postgres@127.0.0.1:${port}/postgres`;
  const isReady = (pid: number) => saysReady(path.join(data, 'postmaster.pid'), pid);
  const server = new PrivateServer({ url, port, command, folder: home, kept, isReady, user: serverUser() });
  await server.start();
  return server;
}

interface PgBouncerOptions {
  readonly poolSize: number;
  /** Further settings. */
  readonly settings?: Readonly<Record<string, string>>;
}

/**
 * PgBouncer in session mode, in front of the PostgreSQL at `postgresUrl`. It has the settings that docs/operations/database.md tells operators
 * to make, and otherwise its defaults.
 */
export async function startPgBouncer(postgresUrl: string, { poolSize, settings: more }: PgBouncerOptions): Promise<PrivateServer> {
  const binary = ['/usr/sbin', ...(process.env['PATH'] ?? '').split(path.delimiter)]
    .map((folder) => path.join(folder, 'pgbouncer'))
    .find((file) => existsSync(file));
  if (!binary) throw new MissingServer('PgBouncer is not installed: apt-get install pgbouncer, or brew install pgbouncer');
  const { hostname, port: serverPort, username, pathname } = new URL(postgresUrl);
  const folder = newFolder();
  const port = await freePort();
  const settings = {
    listen_addr: '127.0.0.1',
    listen_port: port,
    unix_socket_dir: '',
    auth_type: 'trust',
    auth_file: path.join(folder, 'users.txt'),
    pool_mode: 'session',
    default_pool_size: poolSize,
    ...more,
  };
  const lines = Object.entries(settings).map(([name, value]) => `${name} = ${value}`);
  const config = path.join(folder, 'pgbouncer.ini');
  writeFileSync(settings.auth_file, `"${username}" ""\n`);
  writeFileSync(config, `[databases]\n* = host=${hostname} port=${serverPort}\n[pgbouncer]\n${lines.join('\n')}\n`);
  // Like PostgreSQL, it does not run as root.
  const user = serverUser();
  if (user) chownSync(folder, user.uid, user.gid);
  const url = `postgres://${username}@127.0.0.1:${port}${pathname}`;
  const server = new PrivateServer({ url, port, command: [binary, '-q', config], folder, kept: false, user });
  await server.start();
  return server;
}

interface RedisOptions {
  readonly folder?: string;
  /** Further settings of the server. */
  readonly settings?: Readonly<Record<string, string>> | undefined;
  /** What is started; the Redis or Valkey that is installed unless set. */
  readonly program?: string;
}

/** Without persistence: the store must not depend on data in Redis. */
export async function startRedis({ folder, settings = {}, program = redisBinary() }: RedisOptions = {}): Promise<PrivateServer> {
  const home = folder ?? newFolder();
  const port = await freePort();
  const further = Object.entries(settings).flatMap(([name, value]) => [`--${name}`, ...value.split(' ')]);
  const own = ['--port', String(port), '--bind', '127.0.0.1', '--save', '', '--appendonly', 'no', '--dir', home];
  const command = [program, ...own, ...further];
  const server = new PrivateServer({ url: `redis://127.0.0.1:${port}`, port, command, folder: home, kept: folder !== undefined });
  await server.start();
  return server;
}

/** A Sentinel that watches a Redis and finds its replicas and the other Sentinels by itself. `directives` are lines of its configuration. */
export async function startSentinel(directives: readonly string[]): Promise<PrivateServer> {
  const folder = newFolder();
  const port = await freePort();
  const config = path.join(folder, 'sentinel.conf');
  writeFileSync(config, [`port ${port}`, 'bind 127.0.0.1', `dir ${folder}`, ...directives, ''].join('\n'));
  const command = [redisBinary(), config, '--sentinel'];
  const server = new PrivateServer({ url: `redis://127.0.0.1:${port}`, port, command, folder, kept: false });
  await server.start();
  return server;
}

function redisBinary(): string {
  const binary = ['redis-server', 'valkey-server'].find(isOnPath);
  if (binary) return binary;
  throw new MissingServer('Redis is not installed: apt-get install redis-server, or brew install redis');
}

/** True if PostgreSQL accepts queries. Its port opens earlier, much earlier during crash recovery. */
function saysReady(pidFile: string, pid: number): boolean {
  if (!existsSync(pidFile)) return false;
  const lines = readFileSync(pidFile, 'utf8').split('\n');
  return Number(lines[0]) === pid && /^(ready|standby)$/.test(lines[7]?.trim() ?? '');
}

/** Creates the cluster under a temporary name and renames it, so that an interrupted initdb leaves no broken cluster. */
function initialise(initdb: string, data: string, user: ServerOptions['user']): void {
  const draft = `${data}.new`;
  rmSync(draft, { recursive: true, force: true });
  execFileSync(initdb, ['-D', draft, '-U', 'postgres', '-A', 'trust', '-E', 'UTF8', '--no-locale', '--no-sync'], {
    stdio: ['ignore', 'ignore', 'pipe'],
    cwd: path.dirname(data),
    ...user,
  });
  renameSync(draft, data);
}

/** Below the range that systems use for outgoing connections, so that none of those takes the port before the server does. */
const ports = { from: 15_000, to: 32_000 };
const portTriesMax = 100;
const handedOut = new Set<number>();

/** Returns a port on which nothing listens, and which this function has not returned before in this process. */
export async function freePort(): Promise<number> {
  for (let tries = 0; tries < portTriesMax; tries += 1) {
    const port = randomInt(ports.from, ports.to);
    if (handedOut.has(port) || !(await canListen(port))) continue;
    handedOut.add(port);
    return port;
  }
  throw new Error(`no free port between ${ports.from} and ${ports.to} in ${portTriesMax} tries`);
}

async function canListen(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const probe = createServer().once('error', () => resolve(false));
    probe.listen(port, '127.0.0.1', () => probe.close(() => resolve(true)));
  });
}

/** True if something accepts connections on this port of 127.0.0.1. */
export async function accepts(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1');
    const end = (open: boolean) => {
      socket.destroy();
      resolve(open);
    };
    socket.once('connect', () => end(true)).once('error', () => end(false));
  });
}

function newFolder(): string {
  return mkdtempSync(path.join(tmpdir(), 'homeward-'));
}

/** Returns the folder of PostgreSQL's server programs. Debian and Homebrew install them outside PATH, in a folder for each version. */
export function postgresFolder(): string | undefined {
  const debian = '/usr/lib/postgresql';
  const versions = existsSync(debian) ? readdirSync(debian).sort((a, b) => Number(b) - Number(a)) : [];
  const homebrew = ['/opt/homebrew/opt', '/usr/local/opt'].map((opt) => path.join(opt, 'postgresql@17', 'bin'));
  const onPath = (process.env['PATH'] ?? '').split(path.delimiter);
  const folders = [...versions.map((version) => path.join(debian, version, 'bin')), ...homebrew, ...onPath];
  return folders.find((folder) => existsSync(path.join(folder, 'initdb')) && existsSync(path.join(folder, 'postgres')));
}

/** PostgreSQL does not start as root, so root starts it as the user `postgres`, which its package creates. */
export function serverUser(): ServerOptions['user'] {
  if (process.getuid?.() !== 0) return undefined;
  const idOf = (option: string) => Number(execFileSync('id', [option, 'postgres'], { encoding: 'utf8' }));
  return { uid: idOf('-u'), gid: idOf('-g') };
}

export const isOnPath = (name: string) =>
  (process.env['PATH'] ?? '').split(path.delimiter).some((folder) => existsSync(path.join(folder, name)));
