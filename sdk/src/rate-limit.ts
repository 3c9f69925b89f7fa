/** The window with the fewest requests remaining, from the last response. */
export interface RateLimit {
  readonly limit: number;
  readonly remaining: number;
  readonly resetAt: Date;
}

export function readRateLimit(headers: Headers): RateLimit | undefined {
  const [limit, remaining, reset] = ['limit', 'remaining', 'reset'].map((name) => headers.get(`x-ratelimit-${name}`));
  if (!limit || !remaining || !reset) return undefined;
  return { limit: Number(limit), remaining: Number(remaining), resetAt: new Date(Number(reset) * 1_000) };
}

/** From the RateLimit header, which counts seconds from now: the clocks of store and caller may differ. */
export function secondsLeft(headers: Headers, remaining: number): number {
  const windows = [...(headers.get('ratelimit') ?? '').matchAll(/r=(\d+);t=(\d+)/g)];
  return Number(windows.findLast(([, left]) => Number(left) === remaining)?.[2] ?? 0);
}
