// Runs the programs of others: podman, kubectl, haproxy and so on.
import { execFile, spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import path from 'node:path';
import { endProcess } from '../../testkit/running-processes.ts';

const outputBytesMax = 64 * 1_048_576;

export interface RunOptions {
  readonly cwd?: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly timeoutMs?: number;
}

export interface Ran {
  /** 128 if a signal ended it. */
  readonly status: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs a program to its end, whatever its exit status. */
export async function attempt(file: string, args: readonly string[], options: RunOptions = {}): Promise<Ran> {
  const { cwd, env, timeoutMs = 60_000 } = options;
  return new Promise((resolve, reject) => {
    const settings = { cwd, env: { ...process.env, ...env }, timeout: timeoutMs, maxBuffer: outputBytesMax, encoding: 'utf8' as const };
    execFile(file, args, settings, (error, stdout, stderr) => {
      // A code of the system is text: the program could not be started.
      if (error && typeof error.code === 'string') reject(error as Error);
      else resolve({ status: error ? Number(error.code ?? 128) : 0, stdout, stderr });
    });
  });
}

/** Returns the standard output. Throws if the program fails. */
export async function run(file: string, args: readonly string[], options: RunOptions = {}): Promise<string> {
  const { status, stdout, stderr } = await attempt(file, args, options);
  if (status === 0) return stdout;
  throw new Error(`${file} ${args.join(' ')} ended with status ${status}:\n${`${stdout}\n${stderr}`.slice(-4_000)}`);
}

/** Fails with the packages to install, if one of the programs is missing. */
export function requirePrograms(packages: Readonly<Record<string, string>>): void {
  const missing = Object.entries(packages).filter(([program]) => !find(program));
  if (missing.length === 0) return;
  const names = [...new Set(missing.map(([, name]) => name))];
  throw new Error(`${missing.map(([program]) => program).join(', ')} must be installed: apt-get install ${names.join(' ')}`);
}

/** Debian puts servers in folders that only root has on its path, and podman's own programs in another one. */
export function find(program: string): string | undefined {
  const folders = [...(process.env['PATH'] ?? '').split(path.delimiter), '/usr/sbin', '/sbin', '/usr/lib/podman'];
  return folders.map((folder) => path.join(folder, program)).find((file) => existsSync(file));
}

export const killAfterMs = 5_000;

/** A server that runs until the end of an `await using` block. */
export function startServer(file: string, args: readonly string[], options: RunOptions = {}): AsyncDisposable & { output(): string } {
  const child = spawn(find(file) ?? file, args, {
    cwd: options.cwd,
    env: { ...process.env, ...options.env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream.setEncoding('utf8').on('data', (text) => (output += text));
  return { output: () => output, [Symbol.asyncDispose]: () => endProcess(child, 'SIGTERM', killAfterMs) };
}
