// Judges a history: each finding is a broken promise.
import type { CheckOptions, Facts, Finding, History } from '../history.ts';
import { checkAnimals } from './check-animals.ts';
import { checkConnections, checkLimits, checkRevocations } from './check-clients.ts';
import { checkEvents } from './check-events.ts';

/** Pure. An empty list, or one with only allowed findings, is what a scenario needs. */
export function check(history: History, facts: Facts, options: CheckOptions = {}): Finding[] {
  const originMs = beginOf(history);
  return [
    ...checkAnimals(history, facts, options, originMs),
    ...checkEvents(history, facts, options, originMs),
    ...checkRevocations(history, options, originMs),
    ...checkLimits(history, options, originMs),
    ...checkConnections(options, originMs),
  ];
}

/** The origin of the times in findings. */
export function beginOf({ operations }: History): number {
  let beginMs = Infinity;
  for (const { attempts } of operations) beginMs = Math.min(beginMs, attempts[0]?.beginMs ?? Infinity);
  return Number.isFinite(beginMs) ? beginMs : 0;
}
