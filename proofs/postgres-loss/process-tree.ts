import { execFileSync } from 'node:child_process';

/** Freezes or wakes a process and its children: each connection of PostgreSQL is a process of its own. */
export function signalTree(pid: number, signal: 'SIGSTOP' | 'SIGCONT'): void {
  // The parent first when stopping, so that it makes no more of them.
  if (signal === 'SIGSTOP') process.kill(pid, signal);
  for (const child of childrenOf(pid)) signalIfAlive(child, signal);
  if (signal === 'SIGCONT') process.kill(pid, signal);
}

function childrenOf(pid: number): number[] {
  const rows = execFileSync('ps', ['-A', '-o', 'pid=,ppid='], { encoding: 'utf8' }).trim().split('\n');
  return rows.map((row) => row.trim().split(/\s+/).map(Number)).flatMap(([child, parent]) => (parent === pid && child ? [child] : []));
}

function signalIfAlive(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}
