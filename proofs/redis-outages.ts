// Finds out from the logs when Redis was late, as on a busy machine: exact limits and bans are not promised then.
import { setTimeout as sleep } from 'node:timers/promises';
import type { Store } from '../testkit/store.ts';
import type { Claim } from './proof.ts';

/** At level debug, a process logs that Redis was late, and which requests it decided without Redis. */
export const outageLogLevel = { LOG_LEVEL: 'debug' };

/** How long an outage may have lasted before it is logged: slightly longer than a process waits for Redis. */
const lateMs = 100;
const attemptsMax = 4;
const settleMs = 2_000;

interface Outage {
  readonly fromMs: number;
  readonly toMs: number;
}

/** The periods in which a process of the store got no replies from Redis, in real time. */
export function redisOutages(store: Store): Outage[] {
  return store.processes.flatMap(({ log }) => {
    const outages: Outage[] = [];
    for (const [, time, event] of log().matchAll(/"time":(\d+)[^\n]*"msg":"Redis (late|lost|restored)/g)) {
      const lasting = outages.at(-1)?.toMs === Number.POSITIVE_INFINITY ? outages.pop() : undefined;
      const fromMs = lasting?.fromMs ?? Number(time) - lateMs;
      outages.push({ fromMs, toMs: event === 'lost' || (event === 'late' && lasting) ? Number.POSITIVE_INFINITY : Number(time) });
    }
    return outages;
  });
}

/** The times at which a process of the store decided a request without Redis, in real time. */
export function decidedWithoutRedis(store: Store): number[] {
  return store.processes.flatMap(({ log }) =>
    [...log().matchAll(/"time":(\d+)[^\n]*"msg":"decided without Redis/g)].map(([, time]) => Number(time)),
  );
}

/** Retries an attempt if a claim failed and a process decided without Redis meanwhile. The last attempt always counts. */
export async function retryIfRedisWasLate(store: Store, attempt: (number: number) => Promise<Claim[]>): Promise<Claim[]> {
  for (let number = 1; ; number += 1) {
    const startMs = Date.now();
    const claims = await attempt(number);
    const undisturbed = !decidedWithoutRedis(store).some((timeMs) => timeMs >= startMs);
    if (undisturbed || number === attemptsMax || claims.every(({ holds }) => holds)) return claims;
    await sleep(settleMs);
  }
}
