import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { treeOf } from './running-processes.ts';

/** False where the system does not report CPU time of other processes in /proc. */
export const canReadCpu = existsSync('/proc/self/schedstat');

/** A tick of the CPU times in /proc/PID/stat, which Linux fixes at 100 a second for programs. */
const tickMs = 10;
const treeTriesMax = 10;

/** CPU time that a process has used so far, in all its threads, as counted by the scheduler. */
export function cpuMs(pid: number): number {
  let ns = 0;
  for (const thread of readdirSync(`/proc/${pid}/task`)) {
    const [onCpu = '0'] = readFileSync(`/proc/${pid}/task/${thread}/schedstat`, 'utf8').split(' ');
    ns += Number(onCpu);
  }
  return ns / 1e6;
}

/** CPU time of a process and of all its descendants so far, including those that have ended: PostgreSQL has one for each connection. */
export function treeCpuMs(root: number): number {
  for (let tries = 0; tries < treeTriesMax; tries += 1) {
    const before = treeOf(root);
    const ms = tryToSum(before);
    // A process that ends in between would be missing, or be counted twice.
    const after = treeOf(root);
    if (ms !== undefined && before.length === after.length && before.every((pid) => after.includes(pid))) return ms;
  }
  throw new Error(`processes below ${root} started or ended during each of ${treeTriesMax} tries to read their CPU time`);
}

function tryToSum(pids: readonly number[]): number | undefined {
  try {
    return pids.reduce((ms, pid) => ms + cpuMs(pid) + endedChildrenMs(pid), 0);
  } catch (error) {
    if (['ENOENT', 'ESRCH'].includes((error as NodeJS.ErrnoException).code ?? '')) return undefined;
    throw error;
  }
}

/** CPU time of the children that have ended, and of theirs. */
export function endedChildrenMs(pid: number): number {
  // The second field is the program's name in parentheses, which may contain spaces.
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ').at(-1)?.split(' ') ?? [];
  const [user = '0', system = '0'] = fields.slice(13, 15);
  return (Number(user) + Number(system)) * tickMs;
}
