import type { Scope } from './scopes.ts';

/** Which orders a caller may see: all, or those of its client and, if it manages a shelter, those of that shelter's animals. */
export type Visibility = 'all' | { readonly clientId: bigint; readonly shelterId?: bigint | undefined };

/** Which orders a caller may act on as staff: all, or those of the animals of a shelter; undefined: none. */
export type ManagedOrders = 'all' | { readonly clientId?: undefined; readonly shelterId: bigint | undefined };

export interface KeyOfClient {
  readonly clientId: bigint;
  /** The shelter that the key is bound to; null: none. */
  readonly shelterId: bigint | null;
  readonly scopes: readonly Scope[];
}

export function visibilityOf({ clientId, shelterId, scopes }: KeyOfClient): Visibility {
  if (scopes.includes('store:manage')) return 'all';
  return shelterId !== null && scopes.includes('shelter:manage') ? { clientId, shelterId } : { clientId };
}

/** A key that manages a shelter sees its client's orders for animals of other shelters, but does not manage them. */
export const managedOrders = (visibility: Visibility): ManagedOrders =>
  visibility === 'all' ? 'all' : { shelterId: visibility.shelterId };

/** Whether a key may read events of orders, of those that are visible to it. */
export const maySeeOrderEvents = (scopes: readonly Scope[]): boolean =>
  (['orders:read', 'shelter:manage', 'store:manage'] as const).some((scope) => scopes.includes(scope));
