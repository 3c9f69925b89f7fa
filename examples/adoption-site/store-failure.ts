import { ConnectionError, HomewardError } from '@homeward/sdk';
import { LimitNear } from './catalogue.ts';

const usualWaitSeconds = 10;

/** How long a visitor should wait if the store is unreachable or the rate limit is used up; undefined for any other error. */
export function retryAfterSecondsOf(error: unknown): number | undefined {
  if (error instanceof LimitNear) return error.retryAfterSeconds;
  if (error instanceof ConnectionError) return usualWaitSeconds;
  if (!(error instanceof HomewardError)) return undefined;
  // A rejected key is for the operator to fix; for visitors the store is unavailable.
  const isTemporary = error.status === 429 || error.status >= 500 || error.status === 401 || error.status === 403;
  return isTemporary ? (error.retryAfterSeconds ?? usualWaitSeconds) : undefined;
}
