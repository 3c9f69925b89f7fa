import type { Quota } from './plans.ts';

export const minuteMs = 60_000;
export const dayMs = 86_400_000;

/** One request, counted against one subject: a client or an address. */
export interface Charge {
  readonly subject: string;
  readonly quota: Quota;
  /** 0: read the counts without adding to them. */
  readonly cost: 0 | 1;
  /** Only for a client: its key can be banned, and its cache entry can be stale. */
  readonly key?: { readonly id: bigint; readonly epoch: string | undefined };
}

/** The requests used in the current UTC minute and UTC day. Windows are numbered from the Unix epoch. */
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
  /** Undefined while Redis is lost: strikes are counted only there. */
  readonly strikes: number | undefined;
  readonly bannedUntilMs: number;
  /** The number of recent bans of the key, which sets the length of the next one. */
  readonly banLevel: number;
}

/** The counts at `nowMs`. A window that has ended counts nothing. */
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

/** The later state of two: within a window, a count only grows. */
export function laterCounts(one: Counts, other: Counts): Counts {
  const { minute, inMinute } = (one.minute - other.minute || one.inMinute - other.inMinute) >= 0 ? one : other;
  const { day, inDay } = (one.day - other.day || one.inDay - other.inDay) >= 0 ? one : other;
  return { minute, inMinute, day, inDay };
}

/** Adds or subtracts the counts of the same windows; those of other windows are ignored. */
export const combine = (counts: Counts, other: Counts | undefined, sign: 1 | -1): Counts => ({
  ...counts,
  inMinute: Math.max(counts.inMinute + (other?.minute === counts.minute ? sign * other.inMinute : 0), 0),
  inDay: Math.max(counts.inDay + (other?.day === counts.day ? sign * other.inDay : 0), 0),
});

/** The time until the window or ban that rejected the request ends; 0: the request was admitted. */
export function msUntilAdmitted({ outcome, nowMs, minute, day, bannedUntilMs }: Verdict): number {
  const endMs = { admitted: nowMs, minute: (minute + 1) * minuteMs, day: (day + 1) * dayMs, banned: bannedUntilMs }[outcome];
  return Math.max(endMs - nowMs, outcome === 'admitted' ? 0 : 1);
}

/** The rule that consume.lua applies in Redis, for a process that decides without Redis. */
export function decide(counts: Counts, quota: Quota, cost: number): { outcome: 'admitted' | 'minute' | 'day'; counts: Counts } {
  if (quota.perDay !== undefined && counts.inDay + cost > quota.perDay) return { outcome: 'day', counts };
  if (counts.inMinute + cost > quota.perMinute) return { outcome: 'minute', counts };
  return { outcome: 'admitted', counts: { ...counts, inMinute: counts.inMinute + cost, inDay: counts.inDay + cost } };
}
