// The program of the `homeward` command in this process, with its output and its exit status captured.
import { Console } from 'node:console';
import fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { Writable } from 'node:stream';
import { runProgram } from '../../src/cli/program.ts';
import type { Finished } from './homeward-command.ts';

const timeoutMs = 30_000;
let last: Promise<unknown> = Promise.resolve();

/** One at a time: output and exit status belong to the process. */
export function runCaptured(args: readonly string[], env: Readonly<Record<string, string>>): Promise<Finished> {
  const finished = last.then(() => capture(args, env));
  last = finished.catch(() => {});
  return finished;
}

async function capture(args: readonly string[], env: Readonly<Record<string, string>>): Promise<Finished> {
  const output = { stdout: '', stderr: '' };
  const into = (name: keyof typeof output) => (chunk: string | Uint8Array) => {
    output[name] += typeof chunk === 'string' ? chunk : Buffer.from(chunk).toString();
    return true;
  };
  using _ = redirect(into('stdout'), into('stderr'));
  process.exitCode = undefined;
  await Promise.race([runProgram(args, env), timeout(args)]);
  return { status: Number(process.exitCode ?? 0), ...output };
}

type Write = (chunk: string | Uint8Array) => boolean;

function redirect(stdout: Write, stderr: Write): Disposable {
  const { console: ownConsole } = globalThis;
  const { exitCode } = process;
  const { FORCE_COLOR } = process.env;
  const { writeSync } = fs;
  const writes = [process.stdout.write, process.stderr.write] as const;
  const streamTo = (write: Write) => new Writable({ write: (chunk, _, done) => void (write(chunk) && done()) });
  // Vitest has a console of its own.
  globalThis.console = new Console({ stdout: streamTo(stdout), stderr: streamTo(stderr) });
  process.stdout.write = stdout as typeof process.stdout.write;
  process.stderr.write = stderr as typeof process.stderr.write;
  // The journal writes to the descriptor.
  fs.writeSync = ((fd: number, ...written: [bytes: Uint8Array, offset?: number]) => {
    if (fd !== 2) return writeSync(fd, ...written);
    const [bytes, offset = 0] = written;
    stderr(bytes.subarray(offset));
    return bytes.length - offset;
  }) as typeof fs.writeSync;
  syncBuiltinESMExports();
  delete process.env['FORCE_COLOR'];
  return {
    [Symbol.dispose]() {
      globalThis.console = ownConsole;
      [process.stdout.write, process.stderr.write] = writes;
      fs.writeSync = writeSync;
      syncBuiltinESMExports();
      process.exitCode = exitCode;
      if (FORCE_COLOR !== undefined) process.env['FORCE_COLOR'] = FORCE_COLOR;
    },
  };
}

function timeout(args: readonly string[]): Promise<never> {
  return new Promise((_, reject) => {
    setTimeout(() => reject(new Error(`homeward ${args.join(' ')} did not end within ${timeoutMs} ms`)), timeoutMs).unref();
  });
}
