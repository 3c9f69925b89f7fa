/** Milliseconds since the epoch. Tests and proofs hand in one that runs faster. */
export interface Clock {
  now(): number;
}

export const systemClock: Clock = { now: () => Date.now() };
