/** Seconds between an attempt and the next, over about 75 hours. */
const delaysSeconds = [5, 300, 1_800, 7_200, 18_000, 36_000, 50_400, 72_000, 86_400];

/** Deliveries that failed together must not come back together. */
const jitter = 0.1;

/** How long to wait after the failed attempt number `attempt`, from 1 on; undefined: it was the last. `random` is from 0 to 1. */
export function retryDelaySeconds(attempt: number, random: number): number | undefined {
  const delay = delaysSeconds[attempt - 1];
  return delay === undefined ? undefined : delay * (1 + (2 * random - 1) * jitter);
}

export const attemptsMax = delaysSeconds.length + 1;
