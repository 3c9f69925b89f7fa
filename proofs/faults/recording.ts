import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { History } from './history.ts';
import type { RecordOptions } from './recorder.ts';
import { readHistory } from './recorder-file.ts';

const script = fileURLToPath(new URL('recorder-main.ts', import.meta.url));

/** Clients in a process of their own, so that they don't wait for what the proof does. */
export class Recording {
  readonly #file: string;
  readonly #child: ChildProcess;
  readonly #ended: Promise<unknown[]>;

  private constructor(file: string, child: ChildProcess) {
    this.#file = file;
    this.#child = child;
    this.#ended = once(child, 'exit');
  }

  /** Resolves when the load runs. */
  static async start(options: RecordOptions): Promise<Recording> {
    const file = `${options.file}.options`;
    writeFileSync(file, JSON.stringify(options));
    const child = spawn(process.execPath, [script, file], { stdio: ['ignore', 'pipe', 'inherit', 'ipc'], detached: true });
    const recording = new Recording(options.file, child);
    if (child.stdout) await Promise.race([once(child.stdout, 'data'), recording.#ended]);
    if (child.exitCode !== null) throw new Error('the clients ended before the load began');
    return recording;
  }

  /** Ends the load, and waits until outcomes are known and events have arrived, or are given up. */
  async stop(): Promise<History> {
    this.#child.kill('SIGTERM');
    const [status] = await this.#ended;
    if (status !== 0) throw new Error(`the clients ended with status ${status}`);
    return readHistory(this.#file);
  }
}
