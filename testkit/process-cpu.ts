import { readdirSync, readFileSync } from 'node:fs';

/** Processor time that a process has had so far, by all its threads, from the scheduler's own account. */
export function cpuMs(pid: number): number {
  let ns = 0;
  for (const thread of readdirSync(`/proc/${pid}/task`)) {
    const [onCpu = '0'] = readFileSync(`/proc/${pid}/task/${thread}/schedstat`, 'utf8').split(' ');
    ns += Number(onCpu);
  }
  return ns / 1e6;
}
