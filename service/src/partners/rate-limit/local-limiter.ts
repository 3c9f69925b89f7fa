import type { Clock } from '../../platform/clock.ts';
import {
  type Charge,
  type Counts,
  countsAt,
  decide,
  emptyLedger,
  grant,
  type Ledger,
  laterLedger,
  ledgerAt,
  usedOf,
  type Verdict,
} from './decide.ts';
import { type Grant, Lease } from './lease.ts';

const subjectsMax = 100_000;
/** A client that sends requests this close together is leased several at once. */
const busyMs = 100;
/** The script leases a 64th of what remains: a smaller limit never yields a lease of more than one request. */
const leasedPerMinuteMin = 128;

interface Account {
  /** The latest state that this process has seen, with what it has admitted without Redis since. */
  ledger: Ledger;
  /** Requests that this process admitted without Redis, and that Redis has not counted yet. */
  owed: Counts | undefined;
  quota: Charge['quota'];
  /** The bans that this process has seen, by key id. */
  bans: Map<bigint, { untilMs: number; level: number }> | undefined;
  lease: Lease | undefined;
  /** The number of requests in the last lease. */
  leaseSize: number;
  /** A lease was asked for, and the reply has not come. */
  isAsking: boolean;
  requestedAtMs: number;
}

/** The requests that a process admitted without Redis (`owed`), in addition to what it had seen before (`seen`). */
export interface Debt {
  readonly subject: string;
  readonly quota: Charge['quota'];
  readonly owed: Counts;
  readonly seen: Ledger;
}

/** What a process returns of a lease. */
export interface Return {
  readonly subject: string;
  readonly quota: Charge['quota'];
  readonly back: Counts;
}

/** A request for a lease, made with a charge. */
export interface Ask {
  readonly atMs: number;
  /** What is left of the lease before. */
  readonly back: Counts | undefined;
}

/**
 * The counts and leases that one process has, by subject. Counts are sent along with every call to Redis, and they decide while Redis
 * is lost. Invariants:
 * - Within a window, what was granted only grows.
 * - `#indebted` contains every subject with `owed`. A debt is in the account until `takeDebts`, then with its caller, who
 *   sends it to Redis or returns it. So it is never sent twice.
 * - `#leased` contains every subject with a lease. A client has one lease at most, and asks for the next when it has ended. What is
 *   left of it is handed out once, by `ask` or `takeReturns`.
 */
export class LocalLimiter {
  readonly #clock: Clock;
  /** For leases: the process's own clock, which never goes back, unless a test has injected one. */
  readonly #elapsedMs: () => number;
  readonly #accounts = new Map<string, Account>();
  readonly #indebted = new Set<string>();
  readonly #leased = new Set<string>();

  constructor(clock: Clock) {
    this.#clock = clock;
    this.#elapsedMs = clock.isReal ? () => performance.now() : () => clock.now();
  }

  get hasLeases(): boolean {
    return this.#leased.size > 0;
  }

  /** Decides without Redis: by the client's lease while there is one, then by the counts. Only what the latter admit is owed. */
  consume(charge: Charge): { verdict: Verdict; isOwed: boolean } {
    const leased = this.takeLeased(charge);
    if (leased) return { verdict: leased, isOwed: false };
    const nowMs = this.#clock.now();
    const account = this.#account(charge);
    const ban = charge.key && account.bans?.get(charge.key.id);
    const before = countsAt(nowMs, usedOf(account.ledger));
    const banned = ban !== undefined && ban.untilMs > nowMs;
    const { outcome, counts } = banned ? { outcome: 'banned' as const, counts: before } : decide(before, charge.quota, charge.cost);
    account.ledger = ledgerAt(account.ledger, counts);
    const isOwed = outcome === 'admitted' && charge.cost > 0;
    if (isOwed) {
      // Use the windows of `counts`, not of `nowMs`: if this process's clock is behind Redis's, Redis is already in a later window.
      const admitted = { ...counts, inMinute: charge.cost, inDay: charge.cost };
      account.ledger = grant(account.ledger, admitted);
      account.owed = combine(admitted, account.owed, 1);
      this.#indebted.add(charge.subject);
    }
    // Only Redis counts strikes: without it a request is rejected, but no new ban begins.
    const verdict = { ...counts, outcome, nowMs, strikes: undefined, bannedUntilMs: ban?.untilMs ?? 0, banLevel: ban?.level ?? 0 };
    return { verdict, isOwed };
  }

  /** Decides by the client's lease. Undefined: only Redis can decide. */
  takeLeased(charge: Charge): Verdict | undefined {
    const account = charge.key && this.#accounts.get(charge.subject);
    if (!account?.lease || this.#isBanned(account, charge)) return undefined;
    const elapsedMs = this.#elapsedMs();
    const verdict = account.lease.take(charge, elapsedMs, account.ledger);
    if (verdict) account.requestedAtMs = elapsedMs;
    return verdict;
  }

  /** A verdict of Redis without what this process has leased and not used: to the client that is not used yet. */
  withoutLease(charge: Charge, verdict: Verdict): Verdict {
    const left = this.#accounts.get(charge.subject)?.lease?.leftIn(verdict) ?? 0;
    return left === 0 ? verdict : { ...verdict, inMinute: verdict.inMinute - left, inDay: verdict.inDay - left };
  }

  /** Undoes `takeLeased`. */
  putBack(charge: Charge): void {
    this.#accounts.get(charge.subject)?.lease?.putBack();
  }

  /** Whether this request should ask for a lease: the client is busy, and has none. */
  ask(charge: Charge): Ask | undefined {
    if (charge.key?.epoch === undefined || charge.cost === 0 || charge.quota.perMinute < leasedPerMinuteMin) return undefined;
    const account = this.#account(charge);
    const atMs = this.#elapsedMs();
    const isBusy = atMs - account.requestedAtMs < busyMs;
    account.requestedAtMs = atMs;
    if (!isBusy || account.isAsking || account.lease?.hasEnded(atMs) === false) return undefined;
    account.isAsking = true;
    const back = account.lease?.close();
    this.#drop(charge.subject, account);
    return { atMs, back };
  }

  /** How many requests may wait for the reply of one that asks: so many were granted the last time. */
  expectedOf(charge: Charge): number {
    return (this.#accounts.get(charge.subject)?.leaseSize ?? 1) - 1;
  }

  /** The reply has come, or it will not. */
  endAsk(charge: Charge): void {
    const account = this.#accounts.get(charge.subject);
    if (account) account.isAsking = false;
  }

  addLease(charge: Charge, granted: Grant, minuteEndsInMs: number): void {
    const account = this.#account(charge);
    account.leaseSize = granted.size + 1;
    if (granted.size === 0) return;
    account.lease = new Lease(granted, minuteEndsInMs);
    this.#leased.add(charge.subject);
  }

  /** Hands out what is left of leases that have ended. The caller sends it to Redis, once. */
  takeReturns(): Return[] {
    const elapsedMs = this.#elapsedMs();
    const returns: Return[] = [];
    for (const subject of this.#leased) {
      const account = this.#accounts.get(subject);
      if (account?.lease && !account.lease.hasEnded(elapsedMs)) continue;
      const back = account?.lease?.close();
      if (account && back) returns.push({ subject, quota: account.quota, back });
      this.#drop(subject, account);
    }
    return returns;
  }

  /** Updates the counts and bans from a decision by Redis. Returns true if the key is banned, and this process did not know. */
  learn(charge: Charge, verdict: Verdict, ledger: Ledger): boolean {
    const account = this.#account(charge);
    // Replies can arrive out of order.
    account.ledger = laterLedger(account.ledger, ledger);
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
  seen(subject: string): Ledger | undefined {
    const account = this.#accounts.get(subject);
    return account?.owed ? grant(account.ledger, account.owed, -1) : account?.ledger;
  }

  /** Hands the debts to the caller, who must send them to Redis or call `returnDebt`. */
  takeDebts(): Debt[] {
    const debts: Debt[] = [];
    for (const subject of this.#indebted) {
      const account = this.#accounts.get(subject);
      if (!account?.owed) continue;
      debts.push({ subject, quota: account.quota, owed: account.owed, seen: grant(account.ledger, account.owed, -1) });
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

  /** Redis decides about such a key: the ban may have been lifted. */
  #isBanned({ bans }: Account, { key }: Charge): boolean {
    return bans !== undefined && key !== undefined && bans.has(key.id);
  }

  #drop(subject: string, account: Account | undefined): void {
    if (account) account.lease = undefined;
    this.#leased.delete(subject);
  }

  #account(charge: Pick<Charge, 'subject' | 'quota'>): Account {
    let account = this.#accounts.get(charge.subject);
    if (account) {
      account.quota = charge.quota;
      return account;
    }
    account = {
      ledger: emptyLedger,
      owed: undefined,
      quota: charge.quota,
      bans: undefined,
      lease: undefined,
      leaseSize: 1,
      isAsking: false,
      requestedAtMs: Number.NEGATIVE_INFINITY,
    };
    this.#accounts.set(charge.subject, account);
    if (this.#accounts.size > subjectsMax) this.#evictOldest();
    return account;
  }

  /** Evicts the oldest subject without a debt, which no LRU could. If the 100 oldest all have one, evicts the next. Its lease is lost with it. */
  #evictOldest(): void {
    let skipped = 0;
    for (const subject of this.#accounts.keys()) {
      if (!this.#indebted.has(subject) || ++skipped > 100) {
        this.#accounts.delete(subject);
        this.#indebted.delete(subject);
        this.#leased.delete(subject);
        return;
      }
    }
  }
}

/** Adds or subtracts the counts of the same windows; those of other windows are ignored. */
const combine = (counts: Counts, other: Counts | undefined, sign: 1 | -1): Counts => ({
  ...counts,
  inMinute: Math.max(counts.inMinute + (other?.minute === counts.minute ? sign * other.inMinute : 0), 0),
  inDay: Math.max(counts.inDay + (other?.day === counts.day ? sign * other.inDay : 0), 0),
});
