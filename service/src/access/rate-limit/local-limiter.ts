import type { Clock } from '../../platform/clock.ts';
import { type Charge, type Counts, combine, countsAt, decide, laterCounts, type Verdict } from './plans.ts';

const subjectsMax = 100_000;

interface Account {
  /** The highest counts that this process has seen, with what it has admitted without Redis since. */
  counts: Counts;
  /** Requests that this process admitted without Redis, and that Redis has not counted yet. */
  owed: Counts | undefined;
  quota: Charge['quota'];
  /** The bans that this process has seen, by key id. */
  bans: Map<bigint, { untilMs: number; level: number }> | undefined;
}

/** The requests that a process admitted without Redis (`owed`), in addition to the counts that it had seen before (`seen`). */
export interface Debt {
  readonly subject: string;
  readonly quota: Charge['quota'];
  readonly owed: Counts;
  readonly seen: Counts;
}

/**
 * The counts that one process knows, by subject. They are sent along with every call to Redis, and they decide while Redis
 * is lost. Invariants:
 * - Within a window, `counts` only grows.
 * - `#indebted` contains every subject with `owed`. A debt is in the account until `takeDebts`, then with its caller, who
 *   sends it to Redis or returns it. So it is never sent twice.
 */
export class LocalLimiter {
  readonly #clock: Clock;
  readonly #accounts = new Map<string, Account>();
  readonly #indebted = new Set<string>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Decides without Redis, by the counts. What it admits is owed. */
  consume(charge: Charge): Verdict {
    const nowMs = this.#clock.now();
    const account = this.#account(charge);
    const ban = charge.key && account.bans?.get(charge.key.id);
    const before = countsAt(nowMs, account.counts);
    const banned = ban !== undefined && ban.untilMs > nowMs;
    const { outcome, counts } = banned ? { outcome: 'banned' as const, counts: before } : decide(before, charge.quota, charge.cost);
    account.counts = counts;
    if (outcome === 'admitted' && charge.cost > 0) {
      // Use the windows of `counts`, not of `nowMs`: if this process's clock is behind Redis's, Redis is already in a later window.
      account.owed = combine({ ...counts, inMinute: charge.cost, inDay: charge.cost }, account.owed, 1);
      this.#indebted.add(charge.subject);
    }
    // Only Redis counts strikes: without it a request is rejected, but no new ban begins.
    return { ...counts, outcome, nowMs, strikes: undefined, bannedUntilMs: ban?.untilMs ?? 0, banLevel: ban?.level ?? 0 };
  }

  /** Updates the counts and bans from a decision by Redis. Returns true if the key is banned, and this process did not know. */
  learn(charge: Charge, verdict: Verdict): boolean {
    const account = this.#account(charge);
    // Replies can arrive out of order.
    account.counts = laterCounts(account.counts, verdict);
    if (!charge.key) return false;
    const known = account.bans?.get(charge.key.id);
    if (verdict.outcome === 'banned') {
      account.bans ??= new Map();
      account.bans.set(charge.key.id, { untilMs: verdict.bannedUntilMs, level: verdict.banLevel });
      return known?.untilMs !== verdict.bannedUntilMs;
    }
    if (known) account.bans?.delete(charge.key.id);
    return false;
  }

  /** Removes a request from the debt: Redis has counted it too, in these windows. */
  cancelDebt(charge: Charge, { minute, day }: Pick<Counts, 'minute' | 'day'>): void {
    const account = this.#accounts.get(charge.subject);
    if (!account?.owed) return;
    account.owed = combine(account.owed, { minute, inMinute: charge.cost, day, inDay: charge.cost }, -1);
  }

  /** Without what is owed: Redis is told of that once, by the debt. */
  seen(subject: string): Counts | undefined {
    const account = this.#accounts.get(subject);
    return account?.owed ? combine(account.counts, account.owed, -1) : account?.counts;
  }

  /** Hands the debts to the caller, who must send them to Redis or call `returnDebt`. */
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

  /** Evicts the oldest subject without a debt, which no LRU could. If the 100 oldest all have one, evicts the next. */
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
