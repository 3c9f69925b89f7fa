import { recordTransitions } from '../../animals/history/history.ts';
import type { Catalogue, CatalogueTransaction } from '../../animals/list-cache/catalogue.ts';
import { petEvent } from '../../animals/pets/pet-json.ts';
import { acknowledgeChanges, petNotFound } from '../../animals/pets/pet-locks.ts';
import { lockPet, updateShelterId } from '../../animals/pets/pets.ts';
import { recordEvents } from '../../changes/events/events.ts';
import type { Actor } from '../../domain/actor.ts';
import type { Db } from '../../platform/db/handles.ts';
import { violates } from '../../platform/db/pool.ts';
import { AppError, show } from '../../platform/errors.ts';
import { lockOrdersOfPet } from '../orders/orders.ts';
import { shelterNotFound } from '../questions/questions.ts';
import { findPetWithSameExternalId } from './shelter-queries.ts';

/**
 * Places an animal in a shelter. Its orders, open or not, and its profile follow, so the staff of that shelter act on them from then on,
 * and a client that has added it without a shelter no longer changes it. Returns false if the animal has been placed there already.
 */
export async function movePetToShelter(
  { db, catalogue }: { readonly db: Db; readonly catalogue: Catalogue },
  petId: bigint,
  shelterId: bigint,
  actor: Actor,
): Promise<boolean> {
  try {
    return await catalogue.transaction((tx) => movePetWithin(tx, petId, shelterId, actor), actor);
  } catch (error) {
    if (violates(error, 'pets_shelter_id_fkey')) throw shelterNotFound(String(shelterId));
    if (!violates(error, 'profiles_external_id')) throw error;
    const other = await findPetWithSameExternalId(db, petId, shelterId);
    throw new AppError(
      'external_id_taken',
      other
        ? `${other.name} (id ${other.id}) of shelter ${shelterId} already has the externalId ${show(other.externalId)}. Change it there or here first.`
        : `Another animal of shelter ${shelterId} had the same externalId. Retry the request.`,
      { cause: error },
    );
  }
}

/** The same in a transaction. Indexes and keys reject a shelter that doesn't exist, and an externalId that another of its animals has. */
export async function movePetWithin(tx: CatalogueTransaction, petId: bigint, shelterId: bigint, actor: Actor): Promise<boolean> {
  const locked = await lockPet(tx, petId);
  if (!locked) throw petNotFound(String(petId));
  const { pet, shelterId: from, ownerId } = locked;
  if (from === shelterId) {
    await acknowledgeChanges(tx, petId);
    if (ownerId === null) return false;
    await updateShelterId(tx, pet, shelterId);
    // Nothing that partners see has changed, so there is no event.
    const why = `placed in shelter ${shelterId}, where it was`;
    await recordTransitions(tx, actor, { kind: 'pet_edited', petId, from: pet.status, to: pet.status, why });
    return true;
  }
  await lockOrdersOfPet(tx, pet);
  await updateShelterId(tx, pet, shelterId);
  const why = `moved from shelter ${from} to shelter ${shelterId}`;
  const move = { from, to: shelterId };
  await recordEvents(tx, petEvent('pet.moved', pet, `,"shelterId":${shelterId},"previousShelterId":${from}`));
  await recordTransitions(tx, actor, { kind: 'pet_moved', petId, from: pet.status, to: pet.status, move, why });
  return true;
}
