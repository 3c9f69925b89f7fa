// One container of the image, observed from outside by its process id.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { containerEnv, homewardImage } from './images.ts';

const startTimeoutMs = 60_000;

/** The rights that docs/deploy.md tells operators to give. Without a network of its own, it reaches the servers of the proof. */
export const restrictions = ['--read-only', '--cap-drop=all', '--security-opt=no-new-privileges', '--network=host', '--rm'];

export interface ContainerOptions {
  readonly env: Readonly<Record<string, string>>;
  /** A folder of the machine, mounted at /run/secrets/homeward. */
  readonly secrets: string;
}

export function containerArguments({ env, secrets }: ContainerOptions, command: readonly string[]): string[] {
  const variables = Object.entries(env).flatMap(([name, value]) => ['--env', `${name}=${value}`]);
  return [...restrictions, ...variables, '--volume', `${secrets}:/run/secrets/homeward:ro`, homewardImage, ...command];
}

export class RunningContainer implements AsyncDisposable {
  /** Process 1 of the container, as this machine numbers it. */
  readonly pid: number;
  /** When process 1 became that of the image, from performance.now(). */
  readonly startedAtMs: number;
  readonly #child: ChildProcess;
  readonly #exit: Promise<number | null>;
  readonly #folder: string;

  private constructor(child: ChildProcess, exit: Promise<number | null>, folder: string, pid: number) {
    this.#child = child;
    this.#exit = exit;
    this.#folder = folder;
    this.pid = pid;
    this.startedAtMs = performance.now();
  }

  /** Resolves as soon as process 1 is the program of the image, and not the container engine's any more. */
  static async start(options: ContainerOptions, command: readonly string[]): Promise<RunningContainer> {
    const folder = mkdtempSync(path.join(tmpdir(), 'homeward-container-'));
    const pidFile = path.join(folder, 'pid');
    const args = ['run', '--pidfile', pidFile, ...containerArguments(options, command)];
    const child = spawn('podman', args, { env: { ...process.env, ...containerEnv }, stdio: ['ignore', 'pipe', 'pipe'] });
    let output = '';
    for (const stream of [child.stdout, child.stderr]) stream.setEncoding('utf8').on('data', (text) => (output += text));
    const exit = once(child, 'exit').then(([code]) => code as number | null);
    const deadlineMs = Date.now() + startTimeoutMs;
    for (;;) {
      const pid = existsSync(pidFile) ? Number(readFileSync(pidFile, 'utf8')) : 0;
      if (pid > 0 && commandOf(pid).startsWith('tini')) return new RunningContainer(child, exit, folder, pid);
      if (child.exitCode !== null || Date.now() > deadlineMs) throw new Error(`the container did not start:\n${output}`);
      await sleep(1);
    }
  }

  get isRunning(): boolean {
    return commandOf(this.pid) !== '';
  }

  /** CPU time of the program, which the init has started. It does not depend on what else the machine does. */
  cpuMs(): number {
    const [program] = readFileSync(`/proc/${this.pid}/task/${this.pid}/children`, 'utf8').split(' ');
    // After the name, which may contain blanks: user and system time are the fields 14 and 15, in ticks of 10 ms.
    const fields = readFileSync(`/proc/${program}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? [];
    return (Number(fields[11]) + Number(fields[12])) * 10;
  }

  signal(signal: NodeJS.Signals): void {
    if (this.isRunning) process.kill(this.pid, signal);
  }

  /** Resolves when process 1 is gone. Returns false if that takes longer. */
  async ended(timeoutMs: number): Promise<boolean> {
    for (const deadlineMs = Date.now() + timeoutMs; this.isRunning; await sleep(5)) if (Date.now() > deadlineMs) return false;
    return true;
  }

  /** The exit status of the container. */
  async status(): Promise<number | null> {
    return this.#exit;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.signal('SIGKILL');
    const late = setTimeout(() => this.#child.kill('SIGKILL'), 20_000);
    await this.#exit;
    clearTimeout(late);
    rmSync(this.#folder, { recursive: true, force: true });
  }
}

/** Empty if there is no such process, or if it has ended and was not reaped yet. */
function commandOf(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8');
  } catch {
    return '';
  }
}
