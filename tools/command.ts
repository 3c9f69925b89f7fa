import { type ChildProcess, spawn } from 'node:child_process';

export interface Finished {
  /** The exit status; 128 if a signal ended the command or it timed out. */
  readonly status: number;
  readonly stdout: string;
  /** Standard output and standard error, interleaved. */
  readonly output: string;
}

/** How long a command may take to clean up after SIGTERM. */
const graceMs = 10_000;

const running = new Set<ChildProcess>();
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
  process.once(signal, () => {
    for (const child of running) signalGroup(child, 'SIGTERM');
    process.exit(130);
  });
}

/** Runs a command to its end; after `timeoutMs`, ends it and everything that it has started. */
export async function runCommand(file: string, args: readonly string[], options: { timeoutMs: number }): Promise<Finished> {
  // The command writes to a pipe, so it can't detect a terminal: request colours if this process has one.
  const { NO_COLOR, FORCE_COLOR, ...rest } = process.env;
  const env = process.stdout.isTTY && !NO_COLOR ? { ...rest, FORCE_COLOR: FORCE_COLOR ?? '1' } : { ...rest, NO_COLOR: '1' };
  // A separate process group, so that its servers can be ended with it.
  const child = spawn(file, args, { env, stdio: ['ignore', 'pipe', 'pipe'], detached: true });
  running.add(child);
  let late = false;
  const deadline = setTimeout(() => {
    late = true;
    signalGroup(child, 'SIGTERM');
  }, options.timeoutMs);
  // Some commands ignore SIGTERM; tsc is one.
  const lastDeadline = setTimeout(() => signalGroup(child, 'SIGKILL'), options.timeoutMs + graceMs);
  let stdout = '';
  let output = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    stdout += text;
    output += text;
  });
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    output += text;
  });
  try {
    const status = await new Promise<number>((resolve, reject) => {
      child.once('error', reject);
      child.once('close', (code) => resolve(code ?? 128));
    });
    return late ? { status: 128, stdout, output: `${output}\ntimed out after ${options.timeoutMs / 1_000} s` } : { status, stdout, output };
  } finally {
    clearTimeout(deadline);
    clearTimeout(lastDeadline);
    running.delete(child);
  }
}

function signalGroup({ pid }: ChildProcess, signal: NodeJS.Signals): void {
  if (pid === undefined) return;
  try {
    process.kill(-pid, signal);
  } catch (error) {
    // The group may have ended in the meantime.
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}
