import { type NewEvent, recordEvents } from '../../changes/events/events.ts';
import type { Actor, Author } from '../../domain/actor.ts';
import { closedBy } from '../../domain/application-states.ts';
import type { PublicEventType } from '../../domain/event-types.ts';
import type { KeyRights } from '../../domain/key-rights.ts';
import { placing } from '../../domain/order-states.ts';
import { type PetStatus, removed } from '../../domain/pet-statuses.ts';
import type { Visibility } from '../../domain/visibility.ts';
import { requireAccess, type ShelterPermission } from '../../partners/admission/access.ts';
import type { AdvisoryLock, Db, Transaction } from '../../platform/db/handles.ts';
import { violates } from '../../platform/db/pool.ts';
import { AppError, type ErrorCode, retryLater } from '../../platform/errors.ts';
import { petsCategoryConstraint, type Registrant, registerCategory } from '../categories/categories.ts';
import { findRecentTransactions, recordTransitions } from '../history/history.ts';
import type { Catalogue, CatalogueTransaction } from '../list-cache/catalogue.ts';
import { petJson } from './pet-json.ts';
import {
  findPet,
  findPetToOrder,
  insertPet,
  lockAndMovePet,
  lockFreePetRows,
  lockPet,
  lockPetRows,
  markPetRemoved,
  movePets,
  type PetToOrder,
  readShelterId,
  updatePet,
  updateShelterId,
} from './pet-queries.ts';
import type { NewPet, Pet, PetChanges } from './pet-schemas.ts';

export { findPet, findPetToOrder, lockFreePetRows, lockPet, lockPetRows, type PetToOrder, readShelterId, updateShelterId };

type Categories = 'open' | 'closed';

/** The errors of the operations, for the documents. */
export const petErrors = {
  create: ['category_not_found', 'category_limit'],
  get: ['pet_not_found'],
  change: ['category_not_found', 'pet_not_found', 'pet_has_open_order'],
  remove: ['pet_not_found', 'pet_has_open_order'],
} as const satisfies Record<string, readonly ErrorCode[]>;

/** Where an animal is added without a key that is bound to a shelter. It is there from the start. */
export const firstShelterId = 1n;

/** Throws if the locked animal is not the version that the caller expects. */
type Expectation = (pet: Pet) => void;

/** Finds the open order of an animal. Passed as an argument, since the folder orders imports pets and not the other way round. */
export type FindOpenOrder = (tx: Transaction, petId: bigint) => Promise<bigint | undefined>;

/** Lets the applications for an animal follow it, in the transaction that has sold or removed it. Passed as an argument for the same reason. */
export type SettleApplications = (tx: Transaction, petId: bigint, author: Author) => Promise<void>;

/** What is built on animals, and concerns those who change one. */
export interface Adoptions {
  readonly findOpenOrder: FindOpenOrder;
  readonly settleApplications: SettleApplications;
}

export async function getPet(db: Db, id: bigint): Promise<Pet> {
  const pet = await findPet(db, id);
  if (!pet) throw petNotFound(String(id));
  return pet;
}

/**
 * Adds an animal to an existing category, with one statement. Returns undefined, and stores nothing, if the category does not
 * exist; createPet can register it.
 */
export async function addPetToCategory(
  catalogue: Pick<Catalogue, 'writerOf'>,
  pet: NewPet,
  actor: Actor,
  { categories, shelterId }: { categories: Categories; shelterId: bigint },
): Promise<Pet | undefined> {
  try {
    const added = await insertPet(catalogue.writerOf(actor.clientId ?? undefined), withStatus(pet), actor, shelterId);
    if (!added && categories === 'closed') throw categoryNotFound(pet.categoryId);
    return added;
  } catch (error) {
    // The category was removed after the statement had found it.
    if (violates(error, petsCategoryConstraint)) return undefined;
    throw error;
  }
}

/** Adds an animal, and registers its category if that is new and the list of categories is open. */
export async function createPet(
  tx: CatalogueTransaction,
  pet: NewPet,
  actor: Actor,
  { categories, shelterId, registrant }: { categories: Categories; shelterId: bigint; registrant: Registrant | undefined },
): Promise<Pet> {
  try {
    const added = await insertPet(tx, withStatus(pet), actor, shelterId);
    if (added) return added;
    if (categories === 'closed') throw categoryNotFound(pet.categoryId);
    await registerCategory(tx, pet.categoryId, registrant);
    const addedToNew = await insertPet(tx, withStatus(pet), actor, shelterId);
    if (addedToNew) return addedToNew;
  } catch (error) {
    if (!violates(error, petsCategoryConstraint)) throw error;
  }
  // Staff removed the category after it was found or registered. The transaction may be aborted, so the caller must retry.
  throw retryLater(`Category ${pet.categoryId} has just been removed. Retry in 1 s.`);
}

const withStatus = (pet: NewPet): Omit<Pet, 'id'> => ({ ...pet, status: pet.status ?? 'available' });

/** Updates an animal for staff. The status can't be changed while the animal has an open order. */
export async function changePet(
  catalogue: Catalogue,
  id: bigint,
  changes: PetChanges,
  actor: Actor,
  options: Adoptions & { expect: Expectation; categories: Categories },
): Promise<Pet> {
  return catalogue.transaction(async (tx) => {
    const pet = await lockPetFor(tx, id, actor, 'changePets');
    options.expect(pet);
    // Field by field, since the body may contain other fields, such as an id.
    const { name = pet.name, categoryId = pet.categoryId, status = pet.status } = changes;
    const updated = { name, categoryId, status };
    const isStatusChanged = updated.status !== pet.status;
    const isEdited = updated.name !== pet.name || updated.categoryId !== pet.categoryId;
    if (!isStatusChanged && !isEdited) {
      await acknowledgeChanges(tx, id);
      return pet;
    }
    if (isStatusChanged) rejectIfOrdered(await options.findOpenOrder(tx, id), pet, `its status can't be set to ${updated.status}`);
    if (options.categories === 'open' && updated.categoryId !== pet.categoryId) await registerCategory(tx, updated.categoryId, undefined);
    const changed = await rejectUnknownCategory(updated.categoryId, () => updatePet(tx, pet, updated, actor));
    const what = isStatusChanged
      ? ({ kind: 'pet_status', why: 'status set by staff' } as const)
      : ({ kind: 'pet_edited', why: 'edited by staff' } as const);
    await recordTransitions(tx, actor, { petId: id, from: pet.status, to: changed.status, ...what });
    await recordEvents(
      tx,
      ...(isEdited ? [petUpdated(changed, pet)] : []),
      ...(isStatusChanged ? [petStatusChanged(changed, pet.status)] : []),
    );
    if (isStatusChanged && closedBy[changed.status]) await options.settleApplications(tx, id, actor);
    return changed;
  }, actor.clientId ?? undefined);
}

/** Removes an animal that was added by mistake. It disappears from every list; its history is kept. */
export async function removePet(
  catalogue: Catalogue,
  id: bigint,
  actor: Actor,
  { expect, findOpenOrder, settleApplications }: Adoptions & { expect: Expectation },
): Promise<void> {
  await catalogue.transaction(async (tx) => {
    const pet = await lockPetFor(tx, id, actor, 'changePets');
    expect(pet);
    rejectIfOrdered(await findOpenOrder(tx, id), pet, "it can't be removed");
    await markPetRemoved(tx, pet);
    // In the words of earlier releases: rows of history are compared over the years.
    await recordTransitions(tx, actor, { kind: 'pet_removed', petId: id, from: pet.status, to: removed, why: 'taken back by staff' });
    await recordEvents(tx, petEvent('pet.removed', pet));
    await settleApplications(tx, id, actor);
  });
}

/**
 * Reserves an animal for an order, for someone who manages these orders. If two callers do so at once, the second finds it pending. Takes
 * the caller's advisory lock in the same statement, because a separate one would add a tenth to the cost of an order.
 */
export async function reservePet(tx: CatalogueTransaction, id: bigint, lock: AdvisoryLock, managed: Visibility): Promise<Pet> {
  const move = { ...placing.pet, managed };
  const reserved = await lockAndMovePet(tx, lock, id, move);
  if (reserved) return reserved;
  const found = await findPetToOrder(tx, id);
  if (!found) throw petNotFound(String(id));
  const rejection = whyNotOrdered(found, managed);
  if (rejection) throw rejection;
  // It has become possible in the meantime: try once more, because no reason would be right.
  const retried = await lockAndMovePet(tx, lock, id, move);
  if (retried) return retried;
  throw petNotAvailable(found.pet);
}

/** Why someone who manages these orders can't order the animal. That it is adopted by application holds whatever its status. */
export function whyNotOrdered({ pet, shelterId, adoption }: PetToOrder, managed: Visibility): AppError | undefined {
  const isManaged = managed === 'all' || managed.shelterId === shelterId;
  if (adoption === 'application' && !isManaged) return adoptedByApplication(pet, shelterId);
  return pet.status === placing.pet.from ? undefined : petNotAvailable(pet);
}

/**
 * Changes the status of animals together with their orders. Nothing else changes an animal with an open order, so all must have the
 * status `from`.
 */
export async function movePetsWithOrders(
  tx: CatalogueTransaction,
  ids: readonly bigint[],
  move: { from: PetStatus; to: PetStatus },
): Promise<Pet[]> {
  const moved = await movePets(tx, ids, move.from, move.to);
  if (moved.length !== ids.length) throw new Error(`not all of the animals ${ids.join(', ')} are ${move.from}, though their orders say so`);
  return moved;
}

/** The event for a changed name or category. */
const petUpdated = (pet: Pet, before: Pet): NewEvent =>
  petEvent('pet.updated', pet, pet.categoryId === before.categoryId ? '' : `,"previousCategoryId":${before.categoryId}`);

/** The event for a changed status. The caller records it together with the other events of the change. */
export const petStatusChanged = (pet: Pet, previous: PetStatus): NewEvent =>
  petEvent('pet.status_changed', pet, `,"previousStatus":"${previous}"`);

/** The event for a change of an animal. The caller records it while it holds the animal's lock. */
export const petEvent = (type: PublicEventType, pet: Pet, more = ''): NewEvent => ({
  type,
  petId: pet.id,
  clientId: null,
  data: `{"pet":${petJson(pet)}${more}}`,
});

/** Locks an animal until the transaction ends. Throws if it does not exist, or if the key may not do this with it. */
export async function lockPetFor(tx: Transaction, id: bigint, key: KeyRights, permission: ShelterPermission): Promise<Pet> {
  const locked = await lockPet(tx, id);
  if (!locked) throw petNotFound(String(id));
  requireAccess(key, permission, { petId: id, shelterId: locked.shelterId });
  return locked.pet;
}

/** For a write that changes nothing: what has made the animal so is announced if it was not, since this may be a retry. */
export async function acknowledgeChanges(tx: CatalogueTransaction, petId: bigint): Promise<void> {
  for (const transactionId of await findRecentTransactions(tx, petId)) tx.acknowledge(transactionId);
}

export const petNotAvailable = ({ id, name, status }: Pet) =>
  new AppError('pet_not_available', `${name} (id ${id}) is ${status}. Only an available animal can be ordered.`);

const adoptedByApplication = ({ id, name }: Pet, shelterId: bigint) =>
  new AppError(
    'orders_by_application',
    `${name} (id ${id}) is adopted by application: the staff of shelter ${shelterId} choose among those who apply. Send POST /v1/applications in place of an order.`,
  );

export const petNotFound = (id: string) => new AppError('pet_not_found', `There is no animal with id ${id.slice(0, 40)}.`);

function rejectIfOrdered(order: bigint | undefined, pet: Pet, what: string): void {
  if (order === undefined) return;
  throw new AppError(
    'pet_has_open_order',
    `${pet.name} (id ${pet.id}) is reserved by order ${order}, so ${what}. Cancel or complete the order first.`,
  );
}

async function rejectUnknownCategory<T>(categoryId: bigint, write: () => Promise<T>): Promise<T> {
  try {
    return await write();
  } catch (error) {
    if (!violates(error, petsCategoryConstraint)) throw error;
    throw categoryNotFound(categoryId, error);
  }
}

const categoryNotFound = (categoryId: bigint, cause?: unknown) =>
  new AppError('category_not_found', `Category ${categoryId} does not exist in this store.`, { cause });
