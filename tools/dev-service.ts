import { type ChildProcess, spawn } from 'node:child_process';
import { type FSWatcher, watch } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { endProcess, hasEnded } from '../testkit/running-processes.ts';
import { accepts } from '../testkit/servers.ts';
import { eachLine } from './dev-lines.ts';

const startTimeoutMs = 15_000;
const stopTimeoutMs = 5_000;
/** Debounces changes: an editor may write several files, or one file in several steps. */
const settleMs = 80;

export interface DevServiceOptions {
  readonly env: NodeJS.ProcessEnv;
  /** On which its processes listen. */
  readonly ports: readonly number[];
  say(line: string): void;
}

/** The processes of the service, all restarted when its source changes. If one ends unexpectedly, the next change starts it again. */
export class DevService implements AsyncDisposable {
  readonly #commands: ReadonlyArray<readonly string[]>;
  readonly #options: DevServiceOptions;
  #children: ChildProcess[] = [];
  #watcher: FSWatcher | undefined;
  #settling: NodeJS.Timeout | undefined;
  #restart: Promise<void> = Promise.resolve();
  #closed = false;

  /** Each command is the list of arguments to `node`. */
  constructor(commands: ReadonlyArray<readonly string[]>, options: DevServiceOptions) {
    this.#commands = commands;
    this.#options = options;
  }

  /** Resolves once the service accepts connections; rejects if a process ends before that. */
  async start(): Promise<void> {
    const { ports } = this.#options;
    const children = this.#commands.map((command) => this.#spawn(command));
    this.#children = children;
    const deadline = Date.now() + startTimeoutMs;
    while (!(await acceptsAll(ports))) {
      const ended = children.find(hasEnded);
      if (ended) throw new Error(describeEnd(ended));
      if (Date.now() > deadline) throw new Error(`the service did not open ports ${ports.join(' and ')} in ${startTimeoutMs} ms`);
      await sleep(20);
    }
    for (const child of children) {
      child.once('exit', () => {
        if (this.#children === children && !this.#closed) this.#options.say(waiting(describeEnd(child)));
      });
    }
  }

  restartOnChange(folder: string): void {
    this.#watcher = watch(folder, { recursive: true }, (_, file) => {
      clearTimeout(this.#settling);
      this.#settling = setTimeout(() => {
        this.#restart = this.#restart.then(() => this.#startAgain(String(file)));
      }, settleMs);
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#closed = true;
    this.#watcher?.close();
    clearTimeout(this.#settling);
    await this.#stop();
    await this.#restart;
    await this.#stop();
  }

  async #startAgain(changed: string): Promise<void> {
    if (this.#closed) return;
    this.#options.say(`${changed} changed: restarting.`);
    await this.#stop();
    if (this.#closed) return;
    await this.start().catch(async (error) => {
      await this.#stop();
      if (!this.#closed) this.#options.say(waiting(error.message));
    });
  }

  #spawn(command: readonly string[]): ChildProcess {
    const child = spawn(process.execPath, command, {
      env: this.#options.env,
      stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
      // A terminal's Ctrl-C must reach only this process, which ends the service first, then the servers that it needs.
      detached: true,
    });
    for (const stream of [child.stdout, child.stderr]) if (stream) eachLine(stream, this.#options.say);
    return child;
  }

  async #stop(): Promise<void> {
    const children = this.#children;
    this.#children = [];
    await Promise.all(children.map((child) => endProcess(child, 'SIGTERM', stopTimeoutMs)));
  }
}

const acceptsAll = async (ports: readonly number[]): Promise<boolean> => (await Promise.all(ports.map(accepts))).every(Boolean);

const describeEnd = ({ spawnargs, exitCode, signalCode }: ChildProcess) =>
  `homeward ${spawnargs.at(-1)} ended with status ${exitCode ?? signalCode}`;

const waiting = (what: string) => `${what}; waiting for a change in service/src.`;
