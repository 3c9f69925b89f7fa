import type { ApiKey, Client } from './client-queries.ts';

/** Why a key is not valid, and since when. */
export interface Invalidity {
  readonly code: 'api_key_revoked' | 'api_key_expired' | 'client_suspended';
  readonly at: Date;
  /** True for a revocation and an expiry, which are never undone. A suspension can end. */
  readonly isFinal: boolean;
}

/** The only check of a key's validity. Undefined: the key is valid. */
export function invalidityOf({ key, client }: { readonly key: ApiKey; readonly client: Client }, nowMs: number): Invalidity | undefined {
  const { revokedAt, expiresAt } = key;
  if (revokedAt) return { code: 'api_key_revoked', at: revokedAt, isFinal: true };
  if (expiresAt && expiresAt.getTime() <= nowMs) return { code: 'api_key_expired', at: expiresAt, isFinal: true };
  return client.suspendedAt ? { code: 'client_suspended', at: client.suspendedAt, isFinal: false } : undefined;
}
