import { readdirSync, readFileSync } from 'node:fs';

/** CPU time that a process has used so far, in all its threads, as counted by the scheduler. */
export function cpuMs(pid: number): number {
  let ns = 0;
  for (const thread of readdirSync(`/proc/${pid}/task`)) {
    const [onCpu = '0'] = readFileSync(`/proc/${pid}/task/${thread}/schedstat`, 'utf8').split(' ');
    ns += Number(onCpu);
  }
  return ns / 1e6;
}
