import { type ActingKey, requireAccess, type ShelterPermission } from '../../access/admission/access.ts';
import type { Transaction } from '../../platform/db/handles.ts';
import { AppError } from '../../platform/errors.ts';
import { findRecentTransactions } from '../history/history.ts';
import type { CatalogueTransaction } from '../list-cache/catalogue.ts';
import { findPlacement, type LockedPet, lockPet } from './pet-queries.ts';
import type { Pet } from './pet-schemas.ts';

/** Locks an animal until the transaction ends. Throws if it does not exist, or if the key may not do this with it. */
export async function lockPetFor(tx: Transaction, id: bigint, key: ActingKey, permission: ShelterPermission): Promise<Pet> {
  return (await lockPlacedPetFor(tx, id, key, permission)).pet;
}

/** The same, with what decides who may change it and whether it is held. */
export async function lockPlacedPetFor(tx: Transaction, id: bigint, key: ActingKey, permission: ShelterPermission): Promise<LockedPet> {
  // A key that may not change the animal doesn't lock it either: others who ask for it would wait.
  const placement = await findPlacement(tx, id);
  if (placement) requireAccess(key, permission, placement);
  const locked = await lockPet(tx, id);
  if (!locked) throw petNotFound(String(id));
  requireAccess(key, permission, { petId: id, ...locked });
  return locked;
}

/** For a write that changes nothing: what has made the animal so is announced if it was not, since this may be a retry. */
export async function acknowledgeChanges(tx: CatalogueTransaction, petId: bigint): Promise<void> {
  for (const transactionId of await findRecentTransactions(tx, petId)) tx.acknowledge(transactionId);
}

export function petNotFound(id: string): AppError {
  const advice = /^-?\d+$/.test(id) ? '' : ' An id is an integer. GET /v1/pets lists the animals, and GET /v1/listings searches them.';
  return new AppError('pet_not_found', `There is no animal with id ${id.slice(0, 40)}.${advice}`);
}
