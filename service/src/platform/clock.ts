/** Unix time in milliseconds. Tests and proofs inject their own clocks. */
export interface Clock {
  now(): number;
  /** Not injected: windows then follow Redis's clock, and durations this machine's, which never goes back. */
  readonly isReal?: true;
}

export const systemClock: Clock = { now: () => Date.now(), isReal: true };
