import type { Quota } from './plans.ts';

export const minuteMs = 60_000;
export const dayMs = 86_400_000;

/** One request to be counted against one subject: a client, or an address. */
export interface Charge {
  readonly subject: string;
  readonly quota: Quota;
  /** 0 only looks. */
  readonly cost: 0 | 1;
  /** A client's key can be banned, and what is remembered of it can be out of date; an address has neither. */
  readonly key?: { readonly id: bigint; readonly epoch: string | undefined };
}

/** How much of the present UTC minute and UTC day is used; the windows are numbered from the epoch. */
export interface Counts {
  readonly minute: number;
  readonly inMinute: number;
  readonly day: number;
  readonly inDay: number;
}

export type Outcome = 'admitted' | 'minute' | 'day' | 'banned';

export interface Verdict extends Counts {
  readonly outcome: Outcome;
  readonly nowMs: number;
  /** Undefined: nobody counts them, since Redis is lost. */
  readonly strikes: number | undefined;
  readonly bannedUntilMs: number;
  /** How many bans the key has had that are not forgotten. */
  readonly banLevel: number;
}

/** The counts as they stand at `nowMs`: a window that is over counts nothing. */
export function countsAt(nowMs: number, known: Counts | undefined): Counts {
  const minute = Math.floor(nowMs / minuteMs);
  const day = Math.floor(nowMs / dayMs);
  return {
    minute: Math.max(minute, known?.minute ?? 0),
    inMinute: known && known.minute >= minute ? known.inMinute : 0,
    day: Math.max(day, known?.day ?? 0),
    inDay: known && known.day >= day ? known.inDay : 0,
  };
}

/** When the window that refused is over; 0: nothing was refused. */
export function msUntilAdmitted({ outcome, nowMs, minute, day, bannedUntilMs }: Verdict): number {
  const endMs = { admitted: nowMs, minute: (minute + 1) * minuteMs, day: (day + 1) * dayMs, banned: bannedUntilMs }[outcome];
  return Math.max(endMs - nowMs, outcome === 'admitted' ? 0 : 1);
}

/** The rule that consume.lua applies in Redis, for a process that has to decide on its own. */
export function decide(counts: Counts, quota: Quota, cost: number): { outcome: 'admitted' | 'minute' | 'day'; counts: Counts } {
  if (quota.perDay !== undefined && counts.inDay + cost > quota.perDay) return { outcome: 'day', counts };
  if (counts.inMinute + cost > quota.perMinute) return { outcome: 'minute', counts };
  return { outcome: 'admitted', counts: { ...counts, inMinute: counts.inMinute + cost, inDay: counts.inDay + cost } };
}
