/** Unix time in milliseconds. Tests and proofs inject their own clocks. */
export interface Clock {
  now(): number;
  /** Not injected: windows then follow Redis's clock, and durations this machine's, which never goes back. */
  readonly isReal?: true;
}

export const systemClock: Clock = { now: () => Date.now(), isReal: true };

/** Whether YYYY-MM-DD is a day that exists. Date accepts 30 February, and turns it into 2 March. */
export function isDay(text: string): boolean {
  const time = Date.parse(`${text}T00:00:00Z`);
  return !Number.isNaN(time) && new Date(time).toISOString().slice(0, 10) === text;
}
