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

/**
 * What was granted to a subject in the current windows, and what processes have returned of it. Both only grow within a window; what
 * is used is the difference.
 */
export interface Ledger {
  readonly minute: number;
  readonly grantedInMinute: number;
  readonly returnedInMinute: number;
  readonly day: number;
  readonly grantedInDay: number;
  readonly returnedInDay: number;
}

export const emptyLedger: Ledger = {
  minute: 0,
  grantedInMinute: 0,
  returnedInMinute: 0,
  day: 0,
  grantedInDay: 0,
  returnedInDay: 0,
};

export const usedOf = (ledger: Ledger): Counts => ({
  minute: ledger.minute,
  inMinute: ledger.grantedInMinute - ledger.returnedInMinute,
  day: ledger.day,
  inDay: ledger.grantedInDay - ledger.returnedInDay,
});

/** The ledger in later windows: a window that has ended counts nothing. */
export function ledgerAt(ledger: Ledger, { minute, day }: Pick<Counts, 'minute' | 'day'>): Ledger {
  const inMinute = minute > ledger.minute ? { minute, grantedInMinute: 0, returnedInMinute: 0 } : {};
  const inDay = day > ledger.day ? { day, grantedInDay: 0, returnedInDay: 0 } : {};
  return { ...ledger, ...inMinute, ...inDay };
}

/** Of two states of a ledger, the later: by window, the one with more granted, or else with more returned. */
export function laterLedger(one: Ledger, other: Ledger): Ledger {
  const byMinute =
    one.minute - other.minute || one.grantedInMinute - other.grantedInMinute || one.returnedInMinute - other.returnedInMinute;
  const byDay = one.day - other.day || one.grantedInDay - other.grantedInDay || one.returnedInDay - other.returnedInDay;
  const { minute, grantedInMinute, returnedInMinute } = byMinute >= 0 ? one : other;
  const { day, grantedInDay, returnedInDay } = byDay >= 0 ? one : other;
  return { minute, grantedInMinute, returnedInMinute, day, grantedInDay, returnedInDay };
}

/** Adds to what was granted in the windows of `counts`, or subtracts from it; other windows than the ledger's are ignored. */
export function grant(ledger: Ledger, counts: Counts, sign: 1 | -1 = 1): Ledger {
  const inMinute = counts.minute === ledger.minute ? sign * counts.inMinute : 0;
  const inDay = counts.day === ledger.day ? sign * counts.inDay : 0;
  return {
    ...ledger,
    grantedInMinute: Math.max(ledger.grantedInMinute + inMinute, ledger.returnedInMinute),
    grantedInDay: Math.max(ledger.grantedInDay + inDay, ledger.returnedInDay),
  };
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
