import { hasOne, type Permission, type Scope, scopesThat } from './scopes.ts';

/** What a key may do, and where. */
export interface KeyRights {
  /** The shelter that the key is bound to; null: none. */
  readonly shelterId: bigint | null;
  readonly scopes: readonly Scope[];
}

/** Who has made a change, as it is recorded: a client with one of its keys, a person for a client, or the service itself. */
export interface Author {
  readonly clientId: bigint | null;
  readonly keyId: bigint | null;
  /** Who has made it in the console. */
  readonly personId: bigint | null;
}

/**
 * By whose right a transaction acts: that of a key, of a person's session, or of a link. It is read again in the transaction, so that what
 * has ended can't act in one that begins later.
 */
export interface Authority {
  /** An expression of SQL: null while it holds, else a word that says why not. It is written into a statement as it is. */
  readonly ended: string;
  error(why: string): Error;
}

/** Who acts, as far as a transaction must know. */
export interface Acting {
  /** In whose turn; null: the store's own. */
  readonly clientId: bigint | null;
  /** Null: the service itself, which nothing ends. */
  readonly authority: Authority | null;
}

/** Who makes a change, with what it may do. */
export interface Actor extends Author, KeyRights, Acting {}

/** It acts for the store's staff: commands, and the worker. */
export const theService: Actor = {
  clientId: null,
  keyId: null,
  personId: null,
  shelterId: null,
  scopes: ['store:manage'],
  authority: null,
};

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
