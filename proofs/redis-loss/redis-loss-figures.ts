// Figures from the samples taken while Redis was lost: the windows of a limit, and the time that the limiter takes.
import type { Sample } from '../../testkit/steady-load.ts';
import type { Store } from '../../testkit/store.ts';
import { redisOutages } from '../redis-outages.ts';

/** How long after Redis's return the limits are exact again. */
export const exactAfterMs = 2_000;
/** A response that took this long may have waited for Redis until the limiter's deadline. */
const lateMs = 45;
/** If liveness takes longer, the machine is too busy to measure the limiter. */
const liveMsMax = 20;
const liveGapMsMax = 50;

/** A fault of Redis; times are from Date.now(). */
export interface Outage {
  readonly faultMs: number;
  readonly returnMs: number;
  readonly endMs: number;
}

/** Times are from Date.now(). */
export interface Window {
  readonly startMs: number;
  readonly endMs: number;
  readonly admitted: number;
  readonly rejected: number;
}

/** The time that the limiter took for one request; `sentAtMs` is from Date.now(). */
export interface LimiterTime {
  readonly sentAtMs: number;
  readonly ms: number;
}

/** The windows that the responses state in X-RateLimit-Reset, in real time. */
export function windowsOf(store: Store, samples: readonly Sample[], clockRate: number): Window[] {
  const storeMs = store.now();
  const nowMs = Date.now();
  const responses = samples.flatMap(({ response }) => response ?? []);
  return [...Map.groupBy(responses, ({ headers }) => Number(headers['x-ratelimit-reset']) * 1_000)].map(([resetMs, list]) => {
    const endMs = nowMs + (resetMs - storeMs) / clockRate;
    const admitted = list.filter(({ status }) => status === 200).length;
    return { startMs: endMs - 60_000 / clockRate, endMs, admitted, rejected: list.length - admitted };
  });
}

/**
 * The windows in which exact limits are promised: they lie after a return, the limit was used up, and Redis was never late
 * for any process.
 */
export function exactWindows(store: Store, samples: readonly Sample[], outages: readonly Outage[], clockRate: number): Window[] {
  return windowsOf(store, samples, clockRate).filter(
    (window) =>
      window.rejected > 0 &&
      outages.some(({ returnMs, endMs }) => window.startMs >= returnMs + exactAfterMs && window.endMs <= endMs) &&
      !wasDisturbed(store, window, samples, outages),
  );
}

/** True if, because the machine was busy, a process lost Redis in this window without a fault, or waited long for it. */
function wasDisturbed(store: Store, { startMs, endMs }: Window, samples: readonly Sample[], outages: readonly Outage[]): boolean {
  const offsetMs = Date.now() - performance.now();
  const late = samples.filter(({ tookMs }) => tookMs >= lateMs).map(({ sentAtMs, tookMs }) => sentAtMs + tookMs + offsetMs);
  const others = redisOutages(store).filter(
    ({ fromMs }) => !outages.some(({ faultMs, returnMs }) => fromMs >= faultMs && fromMs < returnMs),
  );
  return (
    others.some(({ fromMs, toMs }) => fromMs < endMs && toMs + exactAfterMs > startMs) ||
    late.some((ms) => ms > startMs && ms < endMs + lateMs)
  );
}

/**
 * The time that preflights take in addition to liveness requests on the same process at the same time. Preflights are left
 * out if liveness responses were slow or rare at that time.
 */
export function limiterTimes(preflights: readonly Sample[], lives: readonly Sample[]): LimiterTime[] {
  const offsetMs = Date.now() - performance.now();
  return preflights.flatMap(({ sentAtMs, tookMs }) => {
    const beside = lives.filter((live) => live.sentAtMs < sentAtMs + tookMs && live.sentAtMs + live.tookMs > sentAtMs - liveMsMax);
    const liveMs = Math.max(0, ...beside.map((live) => live.tookMs));
    const wasStalled = beside.length < tookMs / liveGapMsMax;
    return liveMs > liveMsMax || wasStalled ? [] : { sentAtMs: sentAtMs + offsetMs, ms: tookMs - liveMs };
  });
}
