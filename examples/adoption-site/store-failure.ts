import { ConnectionError, HomewardError } from '@homeward/sdk';
import { LimitNear } from './catalogue.ts';

const usualWaitSeconds = 10;
/** Another request is in the way for a moment. The SDK has retried for some seconds. */
const passingConflicts = ['idempotency_in_progress', 'too_many_searches'];

/** How long a visitor should wait if the store is unreachable or the rate limit is used up; undefined for any other error. */
export function retryAfterSecondsOf(error: unknown): number | undefined {
  if (error instanceof LimitNear) return error.retryAfterSeconds;
  if (error instanceof ConnectionError) return usualWaitSeconds;
  if (!(error instanceof HomewardError)) return undefined;
  // A rejected key is for the operator to fix; for visitors the store is unavailable.
  const isTemporary = error.status === 429 || error.status >= 500 || error.status === 401 || error.status === 403;
  return isTemporary || passingConflicts.includes(error.code) ? (error.retryAfterSeconds ?? usualWaitSeconds) : undefined;
}

/** The store rejects what was sent, and would again. */
export const isClientFault = (error: unknown): boolean => error instanceof HomewardError && error.status >= 400 && error.status < 500;
