import { execFileSync } from 'node:child_process';

/** Stops or continues a process and its children: PostgreSQL has a process for each connection. */
export function signalTree(pid: number, signal: 'SIGSTOP' | 'SIGCONT'): void {
  // When stopping, the parent comes first, so that it starts no more children.
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
