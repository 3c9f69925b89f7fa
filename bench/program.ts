// A program that serves HTTP on a port of this machine, and ends with this process.
import { spawn } from 'node:child_process';
import path from 'node:path';
import { endProcess } from '../testkit/running-processes.ts';
import { accepts, freePort } from '../testkit/servers.ts';

export interface Program extends AsyncDisposable {
  readonly origin: string;
  readonly pid: number;
  /** The last part of its log. */
  log(): string;
}

const startTimeoutMs = 30_000;
const logCharsMax = 100_000;
const shownCharsMax = 2_000;

/** `command` is a script and its arguments; it listens on `PORT`. */
export async function startProgram(command: readonly [string, ...string[]], env: NodeJS.ProcessEnv): Promise<Program> {
  const port = await freePort();
  const name = path.basename(command[0]);
  // The IPC channel closes when this process ends, even by SIGKILL: that notifies the program.
  const child = spawn(process.execPath, command, { env: { ...env, PORT: String(port) }, stdio: ['ignore', 'pipe', 'pipe', 'ipc'] });
  child.channel?.unref();
  let output = '';
  const append = (text: string) => {
    output = (output + text).slice(-logCharsMax);
  };
  child.stdout?.setEncoding('utf8').on('data', append);
  child.stderr?.setEncoding('utf8').on('data', append);
  const deadline = Date.now() + startTimeoutMs;
  while (!(await accepts(port))) {
    if (child.exitCode !== null || Date.now() > deadline) {
      await endProcess(child);
      throw new Error(`${name} did not start: ${output.slice(-shownCharsMax)}`);
    }
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  child.once('exit', (code) => code !== null && console.error(`${name} ended with status ${code}: ${output.slice(-shownCharsMax)}`));
  return { origin: `http://127.0.0.1:${port}`, pid: child.pid ?? 0, log: () => output, [Symbol.asyncDispose]: () => endProcess(child) };
}

/** The messages in the log of a service at level warn. */
export const warningsIn = (log: string): string[] => log.split('\n').flatMap(readWarning);

function readWarning(line: string): string[] {
  if (!line.startsWith('{') || !line.endsWith('}')) return [];
  const { msg, err } = JSON.parse(line) as { msg: string; err?: { message: string } };
  return [err ? `${msg}: ${err.message}` : msg];
}
