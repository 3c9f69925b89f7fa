// Runs the `homeward` command: in this process where that is enough, as an operator would where it is not.
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { compileCache } from '../../../testkit/compile-cache.ts';
import { stillRunning } from '../../../testkit/running-processes.ts';
import { guard } from '../../../testkit/servers.ts';
import { runCaptured } from './captured-program.ts';

const launcher = fileURLToPath(new URL('../../bin/homeward.mjs', import.meta.url));
const timeoutMs = 30_000;
const endTimeoutMs = 15_000;

export interface Finished {
  /** Null if a signal ended it. */
  readonly status: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface CommandOptions {
  readonly env?: Readonly<Record<string, string>>;
  /** The Node.js that starts the command; the pinned one if omitted. */
  readonly node?: string;
}

/** Commands that go on until a signal ends them. */
const lasting: ReadonlySet<string | undefined> = new Set(['serve', 'worker', 'images']);
/** Variables that count when a process starts. */
const isReadAtStart = (variable: string) => /^(NODE_|LD_|FORCE_COLOR$|NO_COLOR$)/.test(variable);

/**
 * Runs a command in this process, which takes a hundredth of the time of a new one, unless it needs one. What processes are about is
 * tested with `homewardProcess`: that they end, signals, and the launcher.
 */
export function homeward(args: readonly string[], { env = {}, node }: CommandOptions = {}): Promise<Finished> {
  const needsProcess = node !== undefined || lasting.has(args[0]) || Object.keys(env).some(isReadAtStart);
  return needsProcess ? homewardProcess(args, { env, ...(node && { node }) }) : runCaptured(args, env);
}

/** The real command. It gets only these variables, and nothing from the machine's environment. */
export async function homewardProcess(args: readonly string[], options: CommandOptions = {}): Promise<Finished> {
  const child = start(args, options);
  let stdout = '';
  let stderr = '';
  child.stdout?.setEncoding('utf8').on('data', (text) => (stdout += text));
  child.stderr?.setEncoding('utf8').on('data', (text) => (stderr += text));
  const [status] = (await once(child, 'close', { signal: AbortSignal.timeout(timeoutMs) })) as [number | null];
  return { status, stdout, stderr };
}

/** Runs a command with --json and parses its output. */
export async function homewardJson<T>(args: readonly string[], env: Readonly<Record<string, string>>): Promise<T> {
  const { status, stdout, stderr } = await homeward([...args, '--json'], { env });
  if (status !== 0) throw new Error(`homeward ${args.join(' ')} ended with status ${status}: ${stderr}`);
  return JSON.parse(stdout) as T;
}

export interface Serving extends AsyncDisposable {
  /** Without /v1. */
  readonly url: string;
  /** The started process: the launcher, if there is one. */
  readonly child: ChildProcess;
  /** The process that serves. */
  readonly servingPid: number;
  /** Resolves once its log contains a line with this text. */
  logged(text: string): Promise<unknown>;
  /** Resolves with the exit status once every process that could write to our pipes has ended; rejects if that takes too long. */
  allEnded(): Promise<number | null>;
}

export function startServing(options: CommandOptions): Promise<Serving> {
  return startListening('serve', options);
}

/** The same for the console. */
export function startConsole(options: CommandOptions): Promise<Serving> {
  return startListening('console', options);
}

async function startListening(command: 'serve' | 'console', options: CommandOptions): Promise<Serving> {
  const child = start([command], { ...options, env: { PORT: '0', HOMEWARD_DRAIN_MS: '0', ...options.env } });
  const closed = once(child, 'close').then(([status]) => status as number | null);
  let output = '';
  const logged = (text: string) =>
    new Promise<{ msg: string; pid: number }>((resolve, reject) => {
      const look = () => {
        const line = output.split('\n').find((one) => one.includes(text) && one.endsWith('}'));
        if (line) resolve(JSON.parse(line));
      };
      look();
      child.stdout?.on('data', look);
      void closed.then(() => reject(new Error(`${command} ended without "${text}": ${output}`)));
      setTimeout(() => reject(new Error(`${command} did not log "${text}" in ${timeoutMs} ms: ${output}`)), timeoutMs).unref();
    });
  for (const stream of [child.stdout, child.stderr]) stream?.setEncoding('utf8').on('data', (text) => (output += text));
  const { msg, pid } = await logged('Server listening at');
  return {
    url: msg.slice(msg.indexOf('http')),
    child,
    servingPid: pid,
    logged,
    allEnded: () => Promise.race([closed, rejectLater('not every process ended', endTimeoutMs)]),
    async [Symbol.asyncDispose]() {
      for (const one of stillRunning([child.pid ?? 0, pid])) process.kill(one, 'SIGKILL');
      await closed;
    },
  };
}

/** Starts a worker, which is stopped in order at the end. */
export function startWorker(options: CommandOptions): AsyncDisposable & { log(): string; kill(): void } {
  const child = start(['worker'], options);
  const closed = once(child, 'close');
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream?.setEncoding('utf8').on('data', (text) => (output += text));
  return {
    log: () => output,
    kill: () => child.kill('SIGKILL'),
    async [Symbol.asyncDispose]() {
      child.kill('SIGTERM');
      await closed;
    },
  };
}

/** A Node.js of the machine that is too old to run the service's source; undefined if there is none. */
export function findOlderNode(): string | undefined {
  const folders = (process.env['PATH'] ?? '').split(path.delimiter).filter((folder) => folder && !folder.includes('node_modules'));
  return folders.map((folder) => path.join(folder, 'node')).find((node) => existsSync(node) && isOlder(node));
}

function rejectLater(what: string, afterMs: number): Promise<never> {
  return new Promise((_, reject) => {
    setTimeout(() => reject(new Error(`${what} within ${afterMs} ms`)), afterMs).unref();
  });
}

function isOlder(node: string): boolean {
  const version = execFileSync(node, ['--version'], { encoding: 'utf8' });
  const [major = 0, minor = 0] = version.slice(1).split('.').map(Number);
  return major < 24 || (major === 24 && minor < 15);
}

function start(args: readonly string[], { env, node = process.execPath }: CommandOptions): ChildProcess {
  const child = spawn(node, [launcher, ...args], {
    env: { PATH: process.env['PATH'], NODE_COMPILE_CACHE: compileCache, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  // An older Node.js hands over to a child, which it ends with itself only in order.
  guard(child, 'pkill -KILL -P "$0"; kill -KILL "$0"');
  return child;
}
