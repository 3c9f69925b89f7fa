import type { Scope } from './scopes.ts';

/** What a key may do, and where. */
export interface KeyRights {
  /** The shelter that the key is bound to; null: none. */
  readonly shelterId: bigint | null;
  readonly scopes: readonly Scope[];
}
