import { type ChildProcess, execFileSync } from 'node:child_process';
import { once } from 'node:events';

interface Row {
  readonly pid: number;
  readonly parent: number;
  readonly state: string;
}

/** Returns the ids of the process and all its descendants. */
export function treeOf(root: number): number[] {
  const rows = listProcesses();
  const found = [root];
  for (const pid of found) found.push(...rows.filter(({ parent }) => parent === pid).map((row) => row.pid));
  return found;
}

/** Returns those of `pids` that are still running. Zombies, which their parents have not reaped yet, don't count. */
export function stillRunning(pids: readonly number[]): number[] {
  const rows = listProcesses().filter(({ state }) => !state.startsWith('Z'));
  return pids.filter((pid) => rows.some((row) => row.pid === pid));
}

function listProcesses(): Row[] {
  const lines = execFileSync('ps', ['-A', '-o', 'pid=,ppid=,stat='], { encoding: 'utf8' }).trim().split('\n');
  return lines.map((line) => {
    const [pid = '', parent = '', state = ''] = line.trim().split(/\s+/);
    return { pid: Number(pid), parent: Number(parent), state };
  });
}

/** Also true if it did not start. */
export const hasEnded = ({ pid, exitCode, signalCode }: ChildProcess) => pid === undefined || exitCode !== null || signalCode !== null;

/** Resolves once the process has ended. With `killAfterMs`, it is killed if it takes longer. */
export async function endProcess(child: ChildProcess, signal: NodeJS.Signals = 'SIGKILL', killAfterMs?: number): Promise<void> {
  if (hasEnded(child)) return;
  const ended = once(child, 'exit');
  child.kill(signal);
  const late = killAfterMs === undefined ? undefined : setTimeout(() => child.kill('SIGKILL'), killAfterMs);
  await ended;
  clearTimeout(late);
}
