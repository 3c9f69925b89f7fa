import type { FoundKey } from './client-queries.ts';

/** Why a key is not valid, and since when. */
export interface Invalidity {
  readonly code: 'api_key_revoked' | 'api_key_expired' | 'client_suspended';
  readonly at: Date;
  /** True for a revocation and an expiry, which are never undone. A suspension can end. */
  readonly isFinal: boolean;
}

/** The only check of a key's validity. Undefined: the key is valid. */
export function invalidityOf(key: Pick<FoundKey, 'revokedAt' | 'expiresAt' | 'suspension'>, nowMs: number): Invalidity | undefined {
  const { revokedAt, expiresAt, suspension } = key;
  if (revokedAt) return { code: 'api_key_revoked', at: revokedAt, isFinal: true };
  if (expiresAt && expiresAt.getTime() <= nowMs) return { code: 'api_key_expired', at: expiresAt, isFinal: true };
  return suspension ? { code: 'client_suspended', at: suspension.at, isFinal: false } : undefined;
}
