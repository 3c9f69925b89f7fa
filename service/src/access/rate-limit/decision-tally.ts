import type { Charge, Outcome, Verdict } from './decide.ts';
import { banLengthsMinutes, ownerOf, type QuotaOwner, quotaOwners } from './plans.ts';

/** Who decided: Redis, or the process by itself. */
type Decider = 'redis' | 'process';

export interface DecisionCount {
  readonly plan: QuotaOwner;
  readonly outcome: Outcome;
  readonly by: Decider;
  count: number;
}

const outcomes: readonly Outcome[] = ['admitted', 'minute', 'day', 'banned'];
/** Only keys are banned, and an address has no limit per day. */
const impossible: Partial<Record<QuotaOwner, readonly Outcome[]>> = { none: ['day', 'banned'], person: ['banned'] };

type Counts = Partial<Record<Outcome, DecisionCount>>;

/** Counts the decisions of a process. Plain numbers: the whole decision takes some microseconds. */
export class DecisionTally {
  readonly #byPlan = new Map<QuotaOwner, Record<Decider, Counts>>();
  #bansStarted = 0;

  constructor() {
    for (const plan of quotaOwners) {
      const possible = outcomes.filter((outcome) => !impossible[plan]?.includes(outcome));
      const counts = (by: Decider): Counts => Object.fromEntries(possible.map((outcome) => [outcome, { plan, outcome, by, count: 0 }]));
      this.#byPlan.set(plan, { redis: counts('redis'), process: counts('process') });
    }
  }

  get bansStarted(): number {
    return this.#bansStarted;
  }

  /** What only reads the counts is no decision. */
  count({ quota, cost }: Charge, { outcome }: Verdict, by: Decider): void {
    const entry = cost === 0 ? undefined : this.#byPlan.get(ownerOf(quota))?.[by][outcome];
    if (entry) entry.count += 1;
  }

  /** Counts a ban that this process sees for the first time, if it began with this decision: another process may have seen it begin. */
  noteBan({ bannedUntilMs, nowMs, banLevel }: Verdict): void {
    const lengthMs = (banLengthsMinutes[banLevel - 1] ?? 0) * 60_000;
    if (bannedUntilMs === nowMs + lengthMs) this.#bansStarted += 1;
  }

  *[Symbol.iterator](): Iterator<DecisionCount> {
    for (const byDecider of this.#byPlan.values()) for (const counts of Object.values(byDecider)) yield* Object.values(counts);
  }
}
