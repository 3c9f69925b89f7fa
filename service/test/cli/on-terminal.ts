// Runs the `homeward` command on a terminal, as an operator would see it: in this process where that is enough, on a pseudo-terminal where it is not.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { stripVTControlCharacters } from 'node:util';
import { compileCache } from '../../../testkit/compile-cache.ts';
import { runOnTerminal, type TypedKeys } from './captured-program.ts';

const launcher = fileURLToPath(new URL('../../bin/homeward.mjs', import.meta.url));
const timeoutMs = 30_000;

export interface Shown {
  readonly status: number | null;
  /** Standard output and standard error, with their colours. */
  readonly output: string;
  /** The same without colours, and without what a terminal echoes or erases. */
  readonly text: string;
}

export interface TerminalOptions {
  readonly env?: Readonly<Record<string, string>>;
  readonly columns?: number;
  readonly typed?: readonly TypedKeys[];
}

export interface PseudoTerminalOptions extends TerminalOptions {
  readonly cwd?: string;
  /** Runs instead of `homeward` and its arguments. */
  readonly shellCommand?: string;
}

/** In this process, where Node.js is told that it has a terminal. What the launcher and the terminal itself do is tested by a pseudo-terminal. */
export async function homewardOnTerminal(
  args: readonly string[],
  { env = {}, columns = 80, typed = [] }: TerminalOptions = {},
): Promise<Shown> {
  const { status, output } = await runOnTerminal(args, { env, columns, typed });
  return { status, output, text: textOf(output) };
}

/** The real command. */
export async function homewardOnPseudoTerminal(args: readonly string[], options: PseudoTerminalOptions = {}): Promise<Shown> {
  const { env, columns = 80, cwd, typed = [] } = options;
  const quoted = [process.execPath, launcher, ...args].map((word) => `'${word.replaceAll("'", "'\\''")}'`).join(' ');
  const child = spawn('script', ['-qec', `stty cols ${columns}; exec ${options.shellCommand ?? quoted}`, '/dev/null'], {
    env: { PATH: process.env['PATH'], TERM: 'xterm-256color', SHELL: '/bin/sh', NODE_COMPILE_CACHE: compileCache, ...env },
    ...(cwd && { cwd }),
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  let output = '';
  let seen = 0;
  const due = [...typed];
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    output += text;
    for (let next = due[0]; next && output.includes(next.after, seen); next = due[0]) {
      seen = output.indexOf(next.after, seen) + next.after.length;
      child.stdin.write(next.keys);
      due.shift();
    }
  });
  const tooLate = setTimeout(() => child.kill(), timeoutMs);
  const [status] = (await once(child, 'close')) as [number | null];
  clearTimeout(tooLate);
  return { status, output, text: textOf(output) };
}

const textOf = (output: string) => stripVTControlCharacters(output).replaceAll('\r', '');
