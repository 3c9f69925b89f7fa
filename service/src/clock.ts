/** Unix time in milliseconds. Tests and proofs inject their own clocks. */
export interface Clock {
  now(): number;
}

export const systemClock: Clock = { now: () => Date.now() };
