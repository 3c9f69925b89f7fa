import { ConnectionError, HomewardError } from '@homeward/sdk';
import { LimitNear } from './catalogue.ts';

const usualWaitSeconds = 10;

/** How long a visitor should wait, where the store is out of reach or out of requests; undefined: that is not what went wrong. */
export function retryAfterSecondsOf(error: unknown): number | undefined {
  if (error instanceof LimitNear) return error.retryAfterSeconds;
  if (error instanceof ConnectionError) return usualWaitSeconds;
  if (!(error instanceof HomewardError)) return undefined;
  // A key that is refused is the operator's to mend; to a visitor the store is out of reach.
  const isPassing = error.status === 429 || error.status >= 500 || error.status === 401 || error.status === 403;
  return isPassing ? (error.retryAfterSeconds ?? usualWaitSeconds) : undefined;
}
