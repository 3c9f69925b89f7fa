import type { Scope } from './scopes.ts';

/** Which clients' orders a caller may see. */
export type Visibility = 'all' | { readonly clientId: bigint };

/** Keys with store:manage see every order. Other keys see the orders of their client. */
export const visibilityOf = ({ clientId, scopes }: { readonly clientId: bigint; readonly scopes: readonly Scope[] }): Visibility =>
  scopes.includes('store:manage') ? 'all' : { clientId };
