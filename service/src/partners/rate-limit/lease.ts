import type { Charge, Counts, Ledger, Verdict } from './decide.ts';

/** Bounds how long a change of a client, or of what others have used, goes unnoticed. */
const leaseMs = 500;

export interface Grant {
  /** When this process asked, on its own clock. */
  readonly askedAtMs: number;
  /** The decision about the request that asked. Its counts include that request, and none of the others that were granted. */
  readonly verdict: Verdict;
  readonly epoch: string | undefined;
  /** The requests granted, without the one that asked. */
  readonly size: number;
  readonly bannedKeys: readonly string[];
}

/**
 * Requests of a client that Redis has granted to this process in advance. It ends after `leaseMs`, or with its minute. The end is
 * computed from the time of asking, which is earlier than the time of the script: so it is never too late, whatever the clocks say.
 */
export class Lease {
  readonly #grant: Grant;
  readonly #endsAtMs: number;
  #used = 0;

  constructor(grant: Grant, minuteEndsInMs: number) {
    this.#grant = grant;
    this.#endsAtMs = grant.askedAtMs + Math.min(leaseMs, minuteEndsInMs);
  }

  hasEnded(elapsedMs: number): boolean {
    return elapsedMs >= this.#endsAtMs || this.left === 0;
  }

  get left(): number {
    return this.#grant.size - this.#used;
  }

  /**
   * Decides a request. Undefined: only Redis can, since the lease has ended or was given for another state of the client. `ledger`
   * is the latest that this process has seen: what was used since the lease was given is shown as used.
   */
  take({ key }: Charge, elapsedMs: number, ledger: Ledger): Verdict | undefined {
    const { verdict, epoch, bannedKeys, askedAtMs } = this.#grant;
    if (this.hasEnded(elapsedMs) || !key || key.epoch !== epoch) return undefined;
    if (bannedKeys.length > 0 && bannedKeys.includes(String(key.id))) return undefined;
    this.#used += 1;
    const { left } = this;
    const inMinute = ledger.minute === verdict.minute ? ledger.grantedInMinute - ledger.returnedInMinute - left : 0;
    const inDay = ledger.day === verdict.day ? ledger.grantedInDay - ledger.returnedInDay - left : 0;
    return {
      ...verdict,
      inMinute: Math.max(verdict.inMinute + this.#used, inMinute),
      inDay: Math.max(verdict.inDay + this.#used, inDay),
      nowMs: verdict.nowMs + (elapsedMs - askedAtMs),
    };
  }

  /** What is left, if the lease is of the same minute. */
  leftIn({ minute }: Pick<Counts, 'minute'>): number {
    return minute === this.#grant.verdict.minute ? this.left : 0;
  }

  /** Undoes `take`: the request is to be decided in another way. A lease that was given since has nothing to undo. */
  putBack(): void {
    if (this.#used > 0) this.#used -= 1;
  }

  /** What is left, in the windows of the lease. Nothing can be taken any more. */
  close(): Counts | undefined {
    const { left } = this;
    this.#used = this.#grant.size;
    const { minute, day } = this.#grant.verdict;
    return left > 0 ? { minute, inMinute: left, day, inDay: left } : undefined;
  }
}
