// What the samples beside a loss of Redis say: of the windows of a limit, and of the limiter's step.

import type { Sample } from '../../testkit/steady-load.ts';
import type { Store } from '../../testkit/store.ts';
import { redisOutages } from '../redis-outages.ts';

/** After Redis's return the limits are exact again. */
export const exactAfterMs = 2_000;
/** Near the deadline within which Redis must decide. */
const lateMs = 45;
/** Where liveness takes longer, the machine is too busy to tell what the limiter takes. */
const liveMsMax = 20;
const liveGapMsMax = 50;

/** A fault of Redis, by Date.now(). */
export interface Outage {
  readonly faultMs: number;
  readonly returnMs: number;
  readonly endMs: number;
}

/** By Date.now(). */
export interface Window {
  readonly startMs: number;
  readonly endMs: number;
  readonly admitted: number;
  readonly refused: number;
}

/** By Date.now(). */
export interface Step {
  readonly sentAtMs: number;
  readonly ms: number;
}

/** The windows that answers name by their Reset, in real time. */
export function windowsOf(store: Store, samples: readonly Sample[], clockRate: number): Window[] {
  const storeMs = store.now();
  const nowMs = Date.now();
  const responses = samples.flatMap(({ answer: response }) => response ?? []);
  return [...Map.groupBy(responses, ({ headers }) => Number(headers['x-ratelimit-reset']) * 1_000)].map(([resetMs, list]) => {
    const endMs = nowMs + (resetMs - storeMs) / clockRate;
    const admitted = list.filter(({ status }) => status === 200).length;
    return { startMs: endMs - 60_000 / clockRate, endMs, admitted, refused: list.length - admitted };
  });
}

/** The whole windows for which exactness is promised: used up, after a return, and while every process had Redis's answers in time. */
export function exactWindows(store: Store, samples: readonly Sample[], outages: readonly Outage[], clockRate: number): Window[] {
  return windowsOf(store, samples, clockRate).filter(
    (window) =>
      window.refused > 0 &&
      outages.some(({ returnMs, endMs }) => window.startMs >= returnMs + exactAfterMs && window.endMs <= endMs) &&
      !wasDisturbed(store, window, samples, outages),
  );
}

/** Whether a process lost Redis then for another reason than the fault, or waited long: a machine with too much to do. */
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

/** What preflights take beyond liveness at the same process in the same time, where that is quick, and asked for all along. */
export function stepsOf(preflights: readonly Sample[], lives: readonly Sample[]): Step[] {
  const offsetMs = Date.now() - performance.now();
  return preflights.flatMap(({ sentAtMs, tookMs }) => {
    const beside = lives.filter((live) => live.sentAtMs < sentAtMs + tookMs && live.sentAtMs + live.tookMs > sentAtMs - liveMsMax);
    const liveMs = Math.max(0, ...beside.map((live) => live.tookMs));
    const wasStalled = beside.length < tookMs / liveGapMsMax;
    return liveMs > liveMsMax || wasStalled ? [] : { sentAtMs: sentAtMs + offsetMs, ms: tookMs - liveMs };
  });
}
