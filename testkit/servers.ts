// PostgreSQL and Redis of one's own: from the installed binaries, on free ports, in a folder that goes away unless the caller gave it.
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { chownSync, existsSync, mkdtempSync, readdirSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { connect, createServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

export class MissingServer extends Error {}

interface ServerOptions {
  readonly url: string;
  readonly port: number;
  readonly command: string[];
  readonly folder: string;
  /** The folder is the caller's: it stays, and a Ctrl-C in the terminal does not reach the server but through the caller. */
  readonly kept: boolean;
  /** What must hold beside an open port before it is of use. */
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

  async start(): Promise<void> {
    const { command, folder, kept, isReady = () => true, user } = this.#options;
    const [file = '', ...args] = command;
    const child = spawn(file, args, { stdio: 'ignore', cwd: folder, detached: kept, ...user });
    this.#child = child;
    liveServers.add(this);
    if (child.pid) guard(child, kept ? 'kill -INT "$0"; kill -CONT "$0"' : 'kill -KILL "$0"; rm -rf "$1"', folder);
    const deadline = Date.now() + startTimeoutMs;
    while (!(await accepts(this.port)) || !isReady(child.pid ?? 0)) {
      if (child.exitCode !== null) throw new Error(`${file} ended with status ${child.exitCode}`);
      if (Date.now() > deadline) throw new Error(`${file} was not ready on port ${this.port} in ${startTimeoutMs} ms`);
      await sleep(20);
    }
  }

  /** SIGSTOP freezes, SIGCONT wakes, SIGKILL ends at once; anything else asks to end. Ending signals wait for the end. */
  async signal(signal: NodeJS.Signals): Promise<void> {
    const child = this.#child;
    if (!child?.pid || child.exitCode !== null || child.signalCode !== null) return;
    const ended = new Promise((resolve) => child.once('exit', resolve));
    child.kill(signal);
    if (signal === 'SIGSTOP' || signal === 'SIGCONT') return;
    child.kill('SIGCONT');
    await ended;
  }

  /** Ends the server and removes its data, unless they are to be kept. */
  async [Symbol.asyncDispose](): Promise<void> {
    const killTimer = setTimeout(() => this.#child?.kill('SIGKILL'), stopTimeoutMs);
    await this.signal('SIGINT');
    clearTimeout(killTimer);
    liveServers.delete(this);
    this.#removeFolder();
  }

  killNow(): void {
    this.#child?.kill(this.#options.kept ? 'SIGINT' : 'SIGKILL');
    this.#removeFolder();
  }

  #removeFolder(): void {
    if (!this.#options.kept) rmSync(this.#options.folder, { recursive: true, force: true });
  }
}

/** Ends the server where this process can't any more, killed as it may be: the shell's input closes with it. */
function guard(server: ChildProcess, end: string, folder: string): void {
  const words = ['-c', `read -r _; ${end}`, String(server.pid), folder];
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

/** `durable: false` leaves fsync out, for tests that do not pull the plug. A `folder` that is given is kept. */
export async function startPostgres({ durable = false, folder }: { durable?: boolean; folder?: string } = {}): Promise<PrivateServer> {
  const bin = postgresFolder();
  if (!bin) throw new MissingServer('PostgreSQL is not installed: apt-get install postgresql, or brew install postgresql@17');
  const home = folder ?? newFolder();
  const user = serverUser();
  if (user) chownSync(home, user.uid, user.gid);
  const data = path.join(home, 'data');
  if (!existsSync(data)) initialise(path.join(bin, 'initdb'), data, user);
  const port = await freePort();
  const settings = {
    listen_addresses: '127.0.0.1',
    port,
    // A socket's path may have 107 bytes, fewer than a checkout's may.
    unix_socket_directories: '',
    max_connections: 300,
    ...(!durable && { fsync: 'off', full_page_writes: 'off', synchronous_commit: 'off' }),
  };
  const command = [
    path.join(bin, 'postgres'),
    '-D',
    data,
    ...Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`]),
  ];
  const url = `postgres://postgres@127.0.0.1:${port}/postgres`;
  const isReady = (pid: number) => saysReady(path.join(data, 'postmaster.pid'), pid);
  const server = new PrivateServer({ url, port, command, folder: home, kept: folder !== undefined, isReady, user });
  await server.start();
  return server;
}

/** Redis holds only what may be lost, so it writes nothing down. */
export async function startRedis({ folder }: { folder?: string } = {}): Promise<PrivateServer> {
  const binary = ['redis-server', 'valkey-server'].find(isOnPath);
  if (!binary) throw new MissingServer('Redis is not installed: apt-get install redis-server, or brew install redis');
  const home = folder ?? newFolder();
  const port = await freePort();
  const command = [binary, '--port', String(port), '--bind', '127.0.0.1', '--save', '', '--appendonly', 'no', '--dir', home];
  const server = new PrivateServer({ url: `redis://127.0.0.1:${port}`, port, command, folder: home, kept: folder !== undefined });
  await server.start();
  return server;
}

/** PostgreSQL opens its port before it takes queries, long before where it recovers from a crash. */
function saysReady(pidFile: string, pid: number): boolean {
  if (!existsSync(pidFile)) return false;
  const lines = readFileSync(pidFile, 'utf8').split('\n');
  return Number(lines[0]) === pid && lines[7]?.trim() === 'ready';
}

/** Under another name first: what was interrupted must not be taken for a cluster. */
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

/** Below the ports that systems choose from for outgoing connections, which would take one between here and its use. */
const ports = { from: 15_000, to: 32_000 };
const portTriesMax = 100;
const handedOut = new Set<number>();

/** A port that nobody listens on, and that no other call in this process was given. */
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

/** Whether something accepts connections on a port of this machine. */
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

/** Debian keeps the server's programs outside PATH, by version; so does Homebrew. */
export function postgresFolder(): string | undefined {
  const debian = '/usr/lib/postgresql';
  const versions = existsSync(debian) ? readdirSync(debian).sort((a, b) => Number(b) - Number(a)) : [];
  const homebrew = ['/opt/homebrew/opt', '/usr/local/opt'].map((opt) => path.join(opt, 'postgresql@17', 'bin'));
  const onPath = (process.env['PATH'] ?? '').split(path.delimiter);
  const folders = [...versions.map((version) => path.join(debian, version, 'bin')), ...homebrew, ...onPath];
  return folders.find((folder) => existsSync(path.join(folder, 'initdb')) && existsSync(path.join(folder, 'postgres')));
}

/** PostgreSQL does not run as root. Root runs it as the user that its package created. */
export function serverUser(): ServerOptions['user'] {
  if (process.getuid?.() !== 0) return undefined;
  const idOf = (option: string) => Number(execFileSync('id', [option, 'postgres'], { encoding: 'utf8' }));
  return { uid: idOf('-u'), gid: idOf('-g') };
}

const isOnPath = (name: string) => (process.env['PATH'] ?? '').split(path.delimiter).some((folder) => existsSync(path.join(folder, name)));
