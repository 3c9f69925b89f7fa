import type { Scope } from './scopes.ts';

interface KeyRights {
  /** The shelter that the key is bound to; null: none. */
  readonly shelterId: bigint | null;
  readonly scopes: readonly Scope[];
}

/** Whether a key may do what staff do with an animal of this shelter, and with its orders. */
export const managesShelter = ({ shelterId, scopes }: KeyRights, ofPet: bigint): boolean =>
  scopes.includes('store:manage') || (shelterId === ofPet && scopes.includes('shelter:manage'));

/** A key needs one of these to write the profile and the photos of any animal. */
export const profileWriteScopes: readonly Scope[] = ['pets:write', 'shelter:manage', 'store:manage'];

/** Whether a key may write the profile and the photos of an animal of this shelter. */
export const describesAnimalsOf = (key: KeyRights, ofPet: bigint): boolean =>
  managesShelter(key, ofPet) || (key.shelterId === ofPet && key.scopes.includes('pets:write'));
