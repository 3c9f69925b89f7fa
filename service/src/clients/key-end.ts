import type { ApiKey } from './client-queries.ts';

/** Why and since when a key is no longer in force. */
export interface KeyEnd {
  readonly code: 'api_key_revoked' | 'api_key_expired';
  readonly at: Date;
}

/**
 * Undefined: the key is in force. What has ended stays so: a revocation is never taken back, and an expiry is never
 * moved to a later time.
 */
export function endOf({ revokedAt, expiresAt }: Pick<ApiKey, 'revokedAt' | 'expiresAt'>, nowMs: number): KeyEnd | undefined {
  if (revokedAt) return { code: 'api_key_revoked', at: revokedAt };
  return expiresAt && expiresAt.getTime() <= nowMs ? { code: 'api_key_expired', at: expiresAt } : undefined;
}
