// A shell with a newcomer's environment, into which commands are pasted.
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { cleanEnvironment } from '../../testkit/clean-checkout.ts';

const stepTimeoutMs = 120_000;

/** Starts in an empty folder. Pasted commands share variables, the working directory and background jobs, which end with the terminal. */
export class Terminal implements Disposable {
  /** Everything that was printed. */
  output = '';
  /** The commands that ended with a status other than 0. */
  readonly failures: string[] = [];
  readonly #child: ChildProcess;
  readonly #folder = mkdtempSync(path.join(tmpdir(), 'homeward-terminal-'));
  #pasted = 0;

  constructor(env: Record<string, string>) {
    this.#child = spawn('bash', ['--noprofile', '--norc'], {
      cwd: this.#folder,
      env: { ...cleanEnvironment(), ...env },
      stdio: ['pipe', 'pipe', 'pipe'],
      detached: true,
    });
    for (const stream of [this.#child.stdout, this.#child.stderr]) stream?.setEncoding('utf8').on('data', (text) => (this.output += text));
    this.#child.stdin?.write(`trap 'echo "(failed: $BASH_COMMAND)"' ERR\n`);
  }

  /** Resolves when the last command has ended; background jobs keep running. */
  async paste(commands: string): Promise<void> {
    this.#pasted += 1;
    const file = path.join(this.#folder, `.pasted-${this.#pasted}`);
    const end = `(end ${this.#pasted})`;
    writeFileSync(file, commands);
    const printedBefore = this.output.length;
    // Run the commands from a file: otherwise a command that reads standard input would consume the ones after it.
    this.#child.stdin?.write(`. '${file}' < /dev/null\necho '${end}'\n`);
    const deadlineMs = Date.now() + stepTimeoutMs;
    while (!this.output.includes(end)) {
      if (Date.now() > deadlineMs || this.#child.exitCode !== null)
        throw new Error(`these commands do not end:\n${commands}\n${this.output}`);
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
    const printed = this.output.slice(printedBefore);
    this.failures.push(...[...printed.matchAll(/^\(failed: (?!\. ')(.*)\)$/gm)].map(([, command = '']) => command));
  }

  [Symbol.dispose](): void {
    const { pid, exitCode } = this.#child;
    if (pid && exitCode === null) process.kill(-pid, 'SIGKILL');
    rmSync(this.#folder, { recursive: true, force: true });
  }
}
