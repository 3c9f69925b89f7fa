// The program of the `homeward` command in this process, with its output and its exit status captured, or as on a terminal.
import { Console } from 'node:console';
import fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { PassThrough, Writable } from 'node:stream';
import { WriteStream } from 'node:tty';
import { runProgram } from '../../src/cli/program.ts';
import type { Finished } from './homeward-command.ts';

const timeoutMs = 30_000;
let last: Promise<unknown> = Promise.resolve();

type Env = Readonly<Record<string, string>>;

/** One at a time: output and exit status belong to the process. */
export function runCaptured(args: readonly string[], env: Env): Promise<Finished> {
  const output = { stdout: '', stderr: '' };
  const into = (name: keyof typeof output) => (text: string) => {
    output[name] += text;
  };
  return inTurn(async () => ({ status: await run(args, env, into('stdout'), into('stderr')), ...output }));
}

export interface TypedKeys {
  /** Typed once the output contains this text, after what the keys before were typed for. */
  readonly after: string;
  readonly keys: string;
}

/** As on a terminal: with its width and colours, and with keys that are typed. Both outputs are one. */
export function runOnTerminal(
  args: readonly string[],
  { env, columns, typed }: { env: Env; columns: number; typed: readonly TypedKeys[] },
): Promise<{ status: number; output: string }> {
  return inTurn(async () => {
    const due = [...typed];
    let [output, seen] = ['', 0];
    const stdin = Object.assign(new PassThrough(), { isTTY: true, setRawMode: () => stdin });
    using _ = terminalOf(stdin, columns, { TERM: 'xterm-256color', ...env });
    const show = (text: string) => {
      output += text;
      for (let next = due[0]; next && output.includes(next.after, seen); next = due[0]) {
        seen = output.indexOf(next.after, seen) + next.after.length;
        const { keys } = next;
        // Once whoever asks listens.
        setImmediate(() => stdin.write(keys));
        due.shift();
      }
    };
    return { status: await run(args, env, show, show), output };
  });
}

function inTurn<T>(start: () => Promise<T>): Promise<T> {
  const finished = last.then(start);
  last = finished.catch(() => {});
  return finished;
}

async function run(args: readonly string[], env: Env, stdout: Show, stderr: Show): Promise<number> {
  const into = (show: Show) => (chunk: string | Uint8Array) => {
    show(typeof chunk === 'string' ? chunk : Buffer.from(chunk).toString());
    return true;
  };
  using _ = redirect(into(stdout), into(stderr));
  process.exitCode = undefined;
  await Promise.race([runProgram(args, env), timeout(args)]);
  return Number(process.exitCode ?? 0);
}

/** Node.js decides by these properties whether it has a terminal, how wide it is, and whether it shows colours. */
function terminalOf(stdin: NodeJS.ReadableStream, columns: number, env: Env): Disposable {
  const getColorDepth = () => WriteStream.prototype.getColorDepth.call({}, env);
  const properties = { isTTY: true, columns, getColorDepth, hasColors: () => getColorDepth() > 2 };
  const changes = [
    { of: process, name: 'stdin', value: stdin },
    ...[process.stdout, process.stderr].flatMap((of) => Object.entries(properties).map(([name, value]) => ({ of, name, value }))),
  ].map((change) => ({ ...change, before: Object.getOwnPropertyDescriptor(change.of, change.name) }));
  for (const { of, name, value } of changes) Object.defineProperty(of, name, { value, configurable: true, writable: true });
  return {
    [Symbol.dispose]() {
      for (const { of, name, before } of changes) {
        if (before) Object.defineProperty(of, name, before);
        else Reflect.deleteProperty(of, name);
      }
    },
  };
}

type Show = (text: string) => void;
type Write = (chunk: string | Uint8Array) => boolean;

function redirect(stdout: Write, stderr: Write): Disposable {
  const { console: ownConsole } = globalThis;
  const { exitCode } = process;
  // Commander reads these of the process, which has those that the tests were started with.
  const colours = ['FORCE_COLOR', 'NO_COLOR'].map((name) => [name, process.env[name]] as const);
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
  for (const [name] of colours) delete process.env[name];
  return {
    [Symbol.dispose]() {
      globalThis.console = ownConsole;
      [process.stdout.write, process.stderr.write] = writes;
      fs.writeSync = writeSync;
      syncBuiltinESMExports();
      process.exitCode = exitCode;
      for (const [name, value] of colours) if (value !== undefined) process.env[name] = value;
    },
  };
}

function timeout(args: readonly string[]): Promise<never> {
  return new Promise((_, reject) => {
    setTimeout(() => reject(new Error(`homeward ${args.join(' ')} did not end within ${timeoutMs} ms`)), timeoutMs).unref();
  });
}
