import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { endProcess } from '../../testkit/running-processes.ts';
import type { Command, Report } from './hostile-caller.ts';

const replyTimeoutMs = 120_000;

/** The process that attacks. It ends when this process ends, or at the end of an `await using` block. */
export class HostileProcess implements AsyncDisposable {
  readonly #child: ChildProcess = fork(fileURLToPath(new URL('hostile-caller.ts', import.meta.url)), {
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
    // Ids are bigints.
    serialization: 'advanced',
  });

  send(command: Command): void {
    this.#child.send(command);
  }

  async request(command: Command): Promise<Report> {
    const replied = once(this.#child, 'message', { signal: AbortSignal.timeout(replyTimeoutMs) });
    this.send(command);
    const [report] = (await replied) as [Report];
    return report;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await endProcess(this.#child);
  }
}
