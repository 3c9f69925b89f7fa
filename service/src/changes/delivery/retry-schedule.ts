/** The delay in seconds after each failed attempt, over about 75 hours in total. */
const delaysSeconds = [5, 300, 1_800, 7_200, 18_000, 36_000, 50_400, 72_000, 86_400];

/** Spreads the retries of deliveries that failed at the same time. */
const jitter = 0.1;

/** The delay after a failed attempt, counted from 1. Undefined after the last attempt. `random` is from 0 to 1. */
export function retryDelaySeconds(attempt: number, random: number): number | undefined {
  const delay = delaysSeconds[attempt - 1];
  return delay === undefined ? undefined : delay * (1 + (2 * random - 1) * jitter);
}

export const attemptsMax = delaysSeconds.length + 1;
