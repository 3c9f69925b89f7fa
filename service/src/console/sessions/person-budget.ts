import { LRUCache } from 'lru-cache';
import { charge, type Limiter } from '../../access/rate-limit/limiter.ts';
import { msUntilAdmitted, personQuotas } from '../../access/rate-limit/plans.ts';
import type { Clock } from '../../platform/clock.ts';

/** What a person has used up, and for how long. */
export interface UsedUp {
  readonly what: keyof typeof personQuotas;
  readonly limit: number;
  readonly window: 'minute' | 'day';
  readonly waitMs: number;
}

interface Pause extends UsedUp {
  readonly endsAtMs: number;
  /** Forms that were shown again in it. */
  shownAgain: number;
}

const pausesMax = 10_000;
/** Forms of a session that are shown again while its person has no requests left: they are read, and cost time. */
const shownAgainMax = 60;

/**
 * What people may ask for and do, over all their sessions and all consoles. That somebody has no requests left is cached by the session until the
 * window ends, so that what still comes costs no query and no call to Redis. People are not banned: what is rejected costs nothing.
 */
export class PersonBudget {
  readonly #limiter: Pick<Limiter, 'consume'>;
  readonly #clock: Clock;
  /** By the tokens of sessions. */
  readonly #pauses = new LRUCache<string, Pause>({ max: pausesMax });

  constructor(limiter: Pick<Limiter, 'consume'>, clock: Clock) {
    this.#limiter = limiter;
    this.#clock = clock;
  }

  /** Before it is known whose session it is. Undefined: go on. */
  findPause(sessionToken: string): UsedUp | undefined {
    const pause = this.#pauses.get(sessionToken);
    if (!pause) return undefined;
    const waitMs = pause.endsAtMs - this.#clock.now();
    if (waitMs > 0) return { ...pause, waitMs };
    this.#pauses.delete(sessionToken);
    return undefined;
  }

  async chargeRequest(personId: bigint, sessionToken: string): Promise<UsedUp | undefined> {
    const usedUp = await this.#charge(personId, 'requests');
    // What was on its way meanwhile begins no other pause.
    if (usedUp && !this.findPause(sessionToken))
      this.#pauses.set(sessionToken, { ...usedUp, endsAtMs: this.#clock.now() + usedUp.waitMs, shownAgain: 0 });
    return usedUp;
  }

  /** After its request was charged. */
  chargeAct(personId: bigint): Promise<UsedUp | undefined> {
    return this.#charge(personId, 'acts');
  }

  /** Whether a form that a pause rejects may be read, to show it again. */
  mayShowAgain(sessionToken: string): boolean {
    const pause = this.#pauses.get(sessionToken);
    if (!pause || pause.shownAgain >= shownAgainMax) return false;
    pause.shownAgain += 1;
    return true;
  }

  async #charge(personId: bigint, what: keyof typeof personQuotas): Promise<UsedUp | undefined> {
    const verdict = await charge(this.#limiter, { personId, purpose: what });
    const waitMs = msUntilAdmitted(verdict);
    if (waitMs === 0) return undefined;
    const { perMinute, perDay } = personQuotas[what];
    const window = verdict.outcome === 'day' ? 'day' : 'minute';
    return { what, window, limit: window === 'day' ? (perDay ?? perMinute) : perMinute, waitMs };
  }
}
