import type { Actor } from './actor.ts';
import { hasOne, type Permission, scopesThat } from './scopes.ts';

/** Some orders: all, or those of a client and those for animals of a shelter. Null: of none. */
export type Visibility = 'all' | { readonly clientId: bigint | null; readonly shelterId: bigint | null };

type Reader = Omit<Actor, 'keyId' | 'personId'>;

/** Which orders a key may see. Those of its client are always among them: each operation also needs a scope. */
export const visibilityOf = (reader: Reader): Visibility => reachOf(reader, 'seeOrders', reader.clientId);

/** Which orders a key may decide on as staff. Those of its client for animals of other shelters are not among them. */
export const managedOrders = (reader: Reader): Visibility => reachOf(reader, 'manageOrders', null);

/** Where staff may do this: in every shelter, or in their own. Null: nowhere. */
export function staffReach(staff: Pick<Reader, 'shelterId' | 'scopes'>, permission: Permission): 'all' | bigint | null {
  const reach = reachOf(staff, permission, null);
  return reach === 'all' ? reach : reach.shelterId;
}

function reachOf({ shelterId, scopes }: Pick<Reader, 'shelterId' | 'scopes'>, permission: Permission, clientId: bigint | null): Visibility {
  if (hasOne(scopes, scopesThat(permission, 'any shelter'))) return 'all';
  return { clientId, shelterId: hasOne(scopes, scopesThat(permission, 'own shelter')) ? shelterId : null };
}
