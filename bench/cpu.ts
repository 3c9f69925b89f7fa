// What a request costs: CPU time holds on a shared machine where throughput does not.
import { canReadCpu, cpuMs, treeCpuMs } from '../testkit/process-cpu.ts';
import type { Store } from '../testkit/store.ts';
import type { CpuUs, Measure } from './rounds.ts';

/** Adds to each sample what a request took of the CPU in the contender's process, in Redis and in PostgreSQL. */
export function withCpu(measure: Measure, { postgres, redis }: Pick<Store, 'postgres' | 'redis'>, own?: number): Measure {
  if (!canReadCpu) return measure;
  const read = () => ({ own: own === undefined ? 0 : cpuMs(own), redis: cpuMs(redis.pid), postgres: treeCpuMs(postgres.pid) });
  return async (seconds) => {
    const before = read();
    const sample = await measure(seconds);
    const after = read();
    const us = (part: keyof CpuUs) => ((after[part] - before[part]) * 1_000) / sample.requests;
    return { ...sample, cpuUs: { ...(own !== undefined && { own: us('own') }), redis: us('redis'), postgres: us('postgres') } };
  };
}
