import type { Clock } from '../clock.ts';
import { type Charge, type Counts, countsAt, decide, type Verdict } from './decide.ts';

const subjectsMax = 100_000;

interface Account {
  /** The highest counts that this process has seen. */
  counts: Counts;
  /** What it admitted while Redis was lost and has not told Redis. */
  owed: Counts | undefined;
  quota: Charge['quota'];
  /** Bans that it has seen, by key. */
  bans: Map<bigint, { untilMs: number; level: number }> | undefined;
}

/** What a process admitted on its own, on top of the counts that it had seen before. */
export interface Debt {
  readonly subject: string;
  readonly quota: Charge['quota'];
  readonly owed: Counts;
  readonly seen: Counts;
}

/** What one process knows of its callers' counts: sent along to Redis, and decided on while Redis is lost. */
export class LocalLimiter {
  readonly #clock: Clock;
  readonly #accounts = new Map<string, Account>();
  readonly #indebted = new Set<string>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  consume(charge: Charge): Verdict {
    const nowMs = this.#clock.now();
    const account = this.#account(charge);
    const ban = charge.key && account.bans?.get(charge.key.id);
    const before = countsAt(nowMs, account.counts);
    const banned = ban !== undefined && ban.untilMs > nowMs;
    const { outcome, counts } = banned ? { outcome: 'banned' as const, counts: before } : decide(before, charge.quota, charge.cost);
    account.counts = counts;
    if (outcome === 'admitted' && charge.cost > 0) {
      // Owed in the windows that it was admitted in, which are Redis's where this process's clock is behind.
      account.owed = combine({ ...counts, inMinute: charge.cost, inDay: charge.cost }, account.owed, 1);
      this.#indebted.add(charge.subject);
    }
    // Strikes are counted in Redis alone: without it a key is refused, and banned only where it was already.
    return { ...counts, outcome, nowMs, strikes: undefined, bannedUntilMs: ban?.untilMs ?? 0, banLevel: ban?.level ?? 0 };
  }

  /** Takes note of what Redis answered. */
  learn(charge: Charge, verdict: Verdict): void {
    const account = this.#account(charge);
    const { minute, inMinute, day, inDay } = verdict;
    const known = account.counts;
    // Answers can overtake each other: within a window a count only grows.
    account.counts = {
      minute: Math.max(minute, known.minute),
      inMinute: minute < known.minute ? known.inMinute : minute > known.minute ? inMinute : Math.max(inMinute, known.inMinute),
      day: Math.max(day, known.day),
      inDay: day < known.day ? known.inDay : day > known.day ? inDay : Math.max(inDay, known.inDay),
    };
    if (!charge.key) return;
    if (verdict.outcome === 'banned') {
      account.bans ??= new Map();
      account.bans.set(charge.key.id, { untilMs: verdict.bannedUntilMs, level: verdict.banLevel });
    } else account.bans?.delete(charge.key.id);
  }

  /** Redis counted after all, in these windows, what this process has admitted too: it owes it no more. */
  cancelDebt(charge: Charge, { minute, day }: Pick<Counts, 'minute' | 'day'>): void {
    const account = this.#accounts.get(charge.subject);
    if (!account?.owed) return;
    account.owed = combine(account.owed, { minute, inMinute: charge.cost, day, inDay: charge.cost }, -1);
  }

  seen(subject: string): Counts | undefined {
    return this.#accounts.get(subject)?.counts;
  }

  /** Hands over the debts; from then on they are the caller's to deliver, or to hand back. */
  takeDebts(): Debt[] {
    const debts: Debt[] = [];
    for (const subject of this.#indebted) {
      const account = this.#accounts.get(subject);
      if (!account?.owed) continue;
      debts.push({ subject, quota: account.quota, owed: account.owed, seen: combine(account.counts, account.owed, -1) });
      account.owed = undefined;
    }
    this.#indebted.clear();
    return debts;
  }

  returnDebt(debt: Debt): void {
    const account = this.#account(debt);
    account.owed = account.owed ? combine(account.owed, debt.owed, 1) : debt.owed;
    this.#indebted.add(debt.subject);
  }

  #account(charge: Pick<Charge, 'subject' | 'quota'>): Account {
    let account = this.#accounts.get(charge.subject);
    if (account) {
      account.quota = charge.quota;
      return account;
    }
    account = { counts: { minute: 0, inMinute: 0, day: 0, inDay: 0 }, owed: undefined, quota: charge.quota, bans: undefined };
    this.#accounts.set(charge.subject, account);
    if (this.#accounts.size > subjectsMax) this.#evictOldest();
    return account;
  }

  /** Oldest first, but never one whose debt Redis has not heard of, unless all have one. */
  #evictOldest(): void {
    let skipped = 0;
    for (const subject of this.#accounts.keys()) {
      if (!this.#indebted.has(subject) || ++skipped > 100) {
        this.#accounts.delete(subject);
        this.#indebted.delete(subject);
        return;
      }
    }
  }
}

/** Adds or takes away what lies in the same windows. */
const combine = (counts: Counts, other: Counts | undefined, sign: 1 | -1): Counts => ({
  ...counts,
  inMinute: Math.max(counts.inMinute + (other?.minute === counts.minute ? sign * other.inMinute : 0), 0),
  inDay: Math.max(counts.inDay + (other?.day === counts.day ? sign * other.inDay : 0), 0),
});
