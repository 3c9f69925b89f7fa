// What is promised of limits and bans is for the time that Redis answers, and on a machine with too much to do it may not.
import { setTimeout as sleep } from 'node:timers/promises';
import type { Store } from '../testkit/store.ts';
import type { Claim } from './proof.ts';

/** A process says at level debug that an answer was late, and which requests it decided itself. */
export const outageLogLevel = { LOG_LEVEL: 'debug' };

/** How long a process waits for Redis before it says so, and a little more. */
const lateMs = 100;
const attemptsMax = 4;
const settleMs = 2_000;

interface Outage {
  readonly fromMs: number;
  readonly toMs: number;
}

/** When a process of the store decided without Redis, by the real clock. */
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

/** The times at which a process of the store decided a request without Redis, by the real clock. */
export function decidedAlone(store: Store): number[] {
  return store.processes.flatMap(({ log }) =>
    [...log().matchAll(/"time":(\d+)[^\n]*"msg":"decided without Redis/g)].map(([, time]) => Number(time)),
  );
}

/** Repeats what did not hold while a process decided without Redis; the last attempt counts in any case. */
export async function whileRedisResponses(store: Store, attempt: (number: number) => Promise<Claim[]>): Promise<Claim[]> {
  for (let number = 1; ; number += 1) {
    const startMs = Date.now();
    const claims = await attempt(number);
    const undisturbed = !decidedAlone(store).some((timeMs) => timeMs >= startMs);
    if (undisturbed || number === attemptsMax || claims.every(({ holds }) => holds)) return claims;
    await sleep(settleMs);
  }
}
