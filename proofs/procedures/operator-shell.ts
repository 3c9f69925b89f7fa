// Runs the commands of a page as an operator would: in one folder, with the programs of the machine and the settings of the worker.
import { chmodSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { attempt } from '../deploy/programs.ts';

const launcher = fileURLToPath(new URL('../../service/bin/homeward.mjs', import.meta.url));
const commandTimeoutMs = 120_000;

export interface Step {
  readonly command: string;
  readonly status: number;
  readonly output: string;
}

export class OperatorShell implements Disposable {
  /** Where the commands are run. */
  readonly folder = mkdtempSync(path.join(tmpdir(), 'homeward-procedure-'));
  readonly #programs = path.join(this.folder, '.programs');
  readonly #env: Readonly<Record<string, string>>;

  constructor(env: Readonly<Record<string, string>>) {
    this.#env = env;
    mkdirSync(this.#programs);
    symlinkSync(launcher, path.join(this.#programs, 'homeward'));
  }

  /** A program that this machine lacks, in place of the one of a usual server. */
  addProgram(name: string, script: string): void {
    const file = path.join(this.#programs, name);
    writeFileSync(file, `#!/bin/sh\n${script}\n`);
    chmodSync(file, 0o755);
  }

  async run(command: string): Promise<Step> {
    const folders = [this.#programs, path.dirname(process.execPath), process.env['PATH'] ?? ''];
    const env = { ...this.#env, PATH: folders.join(path.delimiter) };
    const { status, stdout, stderr } = await attempt('bash', ['--noprofile', '--norc', '-c', command], {
      cwd: this.folder,
      env,
      timeoutMs: commandTimeoutMs,
    });
    return { command, status, output: `${stdout}${stderr}` };
  }

  [Symbol.dispose](): void {
    rmSync(this.folder, { recursive: true, force: true });
  }
}
