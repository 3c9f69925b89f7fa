import { type ActingKey, hasAccess, insufficientScope, whoMay } from '../../access/admission/access.ts';
import { type NewEvent, recordEvents } from '../../changes/events/events.ts';
import type { Actor, Author, Visibility } from '../../domain/actor.ts';
import { closedBy } from '../../domain/application-states.ts';
import { endsHold, heldStatus, holdChanges } from '../../domain/holds.ts';
import { placing } from '../../domain/order-states.ts';
import { type PetStatus, removed } from '../../domain/pet-statuses.ts';
import { scopesThat } from '../../domain/scopes.ts';
import type { AdvisoryLock, Db, Transaction } from '../../platform/db/handles.ts';
import { violates } from '../../platform/db/pool.ts';
import { AppError, type ErrorCode, retryLater } from '../../platform/errors.ts';
import { petsCategoryConstraint, type Registrant, registerCategory } from '../categories/categories.ts';
import { recordTransitions } from '../history/history.ts';
import { recordTexts } from '../history/texts.ts';
import type { Catalogue, CatalogueTransaction } from '../list-cache/catalogue.ts';
import { endIfOver, endSoldHold, type FindOrderedPets, holdNewPet, lockCurrentPet, petOnHold } from './holds.ts';
import { petEvent, petStatusChanged } from './pet-json.ts';
import { acknowledgeChanges, lockPlacedPetFor, petNotFound } from './pet-locks.ts';
import {
  findPet,
  findPetToOrder,
  findPlacement,
  firstShelterId,
  holdsNewAnimals,
  insertPet,
  type LockedPet,
  lockAndMovePet,
  lockFreePetRows,
  lockPet,
  lockPetRows,
  type MovedPet,
  markPetRemoved,
  movePets,
  type PetToOrder,
  readShelterId,
  selectPets,
  updatePet,
  updateShelterId,
} from './pet-queries.ts';
import type { NewPet, Pet, PetChanges } from './pet-schemas.ts';

export {
  findPet,
  findPetToOrder,
  findPlacement,
  firstShelterId,
  type LockedPet,
  lockFreePetRows,
  lockPet,
  lockPetRows,
  type PetToOrder,
  readShelterId,
  updateShelterId,
};

type Categories = 'open' | 'closed';

/** The errors of the operations, for the documents. */
export const petErrors = {
  create: ['category_not_found', 'category_limit'],
  get: ['pet_not_found'],
  change: ['category_not_found', 'category_limit', 'pet_not_found', 'pet_has_open_order', 'pet_on_hold'],
  remove: ['pet_not_found', 'pet_has_open_order'],
} as const satisfies Record<string, readonly ErrorCode[]>;

/** Throws if the locked animal is not the version that the caller expects. */
type Expectation = (pet: Pet) => void;

/** Finds the open order of an animal. Passed as an argument, since the folder orders imports pets and not the other way round. */
export type FindOpenOrder = (tx: Transaction, petId: bigint) => Promise<bigint | undefined>;

/** Lets the applications for an animal follow it, in the transaction that has sold or removed it. Passed as an argument for the same reason. */
export type SettleApplications = (tx: Transaction, petId: bigint, author: Author) => Promise<void>;

/** What is built on animals, and concerns those who change one. */
export interface Adoptions {
  readonly findOpenOrder: FindOpenOrder;
  readonly findOrderedPets: FindOrderedPets;
  readonly settleApplications: SettleApplications;
}

export async function getPet(db: Db, id: bigint): Promise<Pet> {
  const pet = await findPet(db, id);
  if (!pet) throw petNotFound(String(id));
  return pet;
}

/** Those of them that are here. */
export const listPetsById = (db: Db, ids: readonly bigint[]): Promise<Pet[]> =>
  selectPets(db, { ids }, { afterId: undefined, limit: ids.length });

/**
 * Adds an animal to an existing category, with one statement. Returns undefined, and stores nothing, if the category does not exist, or
 * the shelter holds its new animals: createPet does the rest.
 */
export async function addPetToCategory(
  catalogue: Pick<Catalogue, 'writerOf'>,
  pet: NewPet,
  actor: Actor,
  { shelterId }: { shelterId: bigint | null },
): Promise<Pet | undefined> {
  try {
    return await insertPet(catalogue.writerOf(actor.clientId ?? undefined), withStatus(pet), actor, shelterId);
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
  { categories, shelterId, registrant }: { categories: Categories; shelterId: bigint | null; registrant: Registrant | undefined },
): Promise<Pet> {
  const isHeld = await holdsNewAnimals(tx, shelterId ?? firstShelterId);
  const insert = async () => {
    const added = await insertPet(tx, withStatus(pet), actor, shelterId, { isHeldNext: isHeld });
    return added && isHeld ? holdNewPet(tx, added, actor) : added;
  };
  try {
    const added = await insert();
    if (added) return added;
    if (categories === 'closed') throw categoryNotFound(pet.categoryId);
    await registerCategory(tx, pet.categoryId, registrant);
    const addedToNew = await insert();
    if (addedToNew) return addedToNew;
  } catch (error) {
    if (!violates(error, petsCategoryConstraint)) throw error;
  }
  // Staff removed the category after it was found or registered. The transaction may be aborted, so the caller must retry.
  throw retryLater(`Category ${pet.categoryId} has just been removed. Retry in 1 s.`);
}

const withStatus = (pet: NewPet): Omit<Pet, 'id'> => ({ ...pet, status: pet.status ?? 'available' });

/** Updates an animal for staff, or for the client that has added it, which can't change the status. Nobody can while it has an open order. */
export async function changePet(
  catalogue: Pick<Catalogue, 'transaction'>,
  id: bigint,
  changes: PetChanges,
  actor: Actor,
  options: Adoptions & { expect: Expectation; categories: Categories; registrant: Registrant | undefined },
): Promise<Pet> {
  return catalogue.transaction(async (tx) => {
    const found = await lockPlacedPetFor(tx, id, actor, 'editPets');
    const isStaff = mayChange(actor, found);
    options.expect(found.pet);
    const { pet, hold } = await endIfOver(tx, found, options.findOrderedPets);
    // Field by field, since the body may contain other fields, such as an id.
    const { name = pet.name, categoryId = pet.categoryId, status = pet.status } = changes;
    const updated = { name, categoryId, status };
    const isStatusChanged = updated.status !== pet.status;
    const isEdited = updated.name !== pet.name || updated.categoryId !== pet.categoryId;
    if (!isStatusChanged && !isEdited) {
      await acknowledgeChanges(tx, id);
      return pet;
    }
    if (isStatusChanged && !isStaff) throw statusIsForStaff(pet, updated.status);
    if (isStatusChanged) rejectIfOrdered(await options.findOpenOrder(tx, id), pet, `its status can't be set to ${updated.status}`);
    if (hold && isStatusChanged && updated.status === holdChanges.end.pet.to) throw petOnHold(pet, hold, 'staff');
    if (options.categories === 'open' && updated.categoryId !== pet.categoryId)
      await registerCategory(tx, updated.categoryId, isStaff ? undefined : options.registrant);
    const changed = await rejectUnknownCategory(updated.categoryId, () => updatePet(tx, pet, updated));
    const what = isStatusChanged
      ? ({ kind: 'pet_status', why: 'status set by staff' } as const)
      : ({ kind: 'pet_edited', why: isStaff ? 'edited by staff' : 'edited by its client' } as const);
    await recordTransitions(tx, actor, { petId: id, from: pet.status, to: changed.status, ...what });
    await recordTexts(tx, id, [{ field: 'name', before: pet.name, after: changed.name }]);
    await recordEvents(
      tx,
      ...(isEdited ? [petUpdated(changed, pet)] : []),
      ...(isStatusChanged ? [petStatusChanged(changed, pet.status)] : []),
    );
    if (hold && endsHold(changed.status)) await endSoldHold(tx, id, actor);
    if (isStatusChanged && closedBy[changed.status]) await options.settleApplications(tx, id, actor);
    return changed;
  }, actor);
}

/** Removes an animal that was added by mistake. It disappears from every list; its history is kept. */
export async function removePet(
  catalogue: Pick<Catalogue, 'transaction'>,
  id: bigint,
  actor: Actor,
  { expect, findOpenOrder, settleApplications }: Adoptions & { expect: Expectation },
): Promise<void> {
  await catalogue.transaction(async (tx) => {
    const locked = await lockPlacedPetFor(tx, id, actor, 'editPets');
    const { pet, hold } = locked;
    const isStaff = mayChange(actor, locked);
    expect(pet);
    const order = await findOpenOrder(tx, id);
    if (order !== undefined && !isStaff) throw reservedByOthers(pet);
    rejectIfOrdered(order, pet, "it can't be removed");
    await markPetRemoved(tx, pet);
    // In the words of earlier releases: rows of history are compared over the years.
    const why = isStaff ? 'taken back by staff' : 'taken back by its client';
    await recordTransitions(tx, actor, { kind: 'pet_removed', petId: id, from: pet.status, to: removed, why });
    await recordEvents(tx, ...(hold ? [petEvent(holdChanges.end.event, pet)] : []), petEvent('pet.removed', pet));
    await settleApplications(tx, id, actor);
  }, actor);
}

/**
 * Reserves an animal for an order, for someone who manages these orders. If two callers do so at once, the second finds it pending. Takes
 * the caller's advisory lock in the same statement, because a separate one would add a tenth to the cost of an order.
 */
export async function reservePet(
  tx: CatalogueTransaction,
  id: bigint,
  { lock, managed, findOrderedPets }: { lock: AdvisoryLock; managed: Visibility; findOrderedPets: FindOrderedPets },
): Promise<Pet> {
  const move = { ...placing.pet, managed };
  const reserved = await lockAndMovePet(tx, lock, id, move);
  if (reserved) return reserved;
  const found = await findPetToOrder(tx, id);
  if (!found) throw petNotFound(String(id));
  const rejection = whyNotOrdered(found, managed);
  if (rejection) throw rejection;
  // It has become possible in the meantime, or does with the end of its hold: try once more, because no reason would be right.
  if (found.hold?.isOver) await lockCurrentPet(tx, id, findOrderedPets);
  const retried = await lockAndMovePet(tx, lock, id, move);
  if (retried) return retried;
  throw petNotAvailable(found.pet);
}

/** Why someone who manages these orders can't order the animal. That it is adopted by application holds whatever its status. */
export function whyNotOrdered({ pet, shelterId, adoption, hold }: PetToOrder, managed: Visibility): AppError | undefined {
  const isManaged = managed === 'all' || managed.shelterId === shelterId;
  if (adoption === 'application' && !isManaged) return adoptedByApplication(pet, shelterId);
  if (hold && !hold.isOver) return petOnHold(pet, hold, 'partner');
  return pet.status === placing.pet.from || (hold?.releases && pet.status === heldStatus) ? undefined : petNotAvailable(pet);
}

/**
 * Changes the status of animals together with their orders. Nothing else changes an animal with an open order, so all must have the
 * status `from`. Those that are held don't become available: they are returned as they are.
 */
export async function movePetsWithOrders(
  tx: CatalogueTransaction,
  ids: readonly bigint[],
  move: { from: PetStatus; to: PetStatus },
): Promise<MovedPet[]> {
  const moved = await movePets(tx, ids, move.from, move.to);
  if (moved.length !== ids.length) throw new Error(`not all of the animals ${ids.join(', ')} are ${move.from}, though their orders say so`);
  return moved;
}

/** Records the end of the holds of animals that were sold with their orders. */
export async function recordSoldHolds(tx: CatalogueTransaction, pets: readonly MovedPet[], author: Author): Promise<void> {
  for (const { id, status, isHeld } of pets) if (isHeld && endsHold(status)) await endSoldHold(tx, id, author);
}

/** The event for a changed name or category. */
const petUpdated = (pet: Pet, before: Pet): NewEvent =>
  petEvent('pet.updated', pet, pet.categoryId === before.categoryId ? '' : `,"previousCategoryId":${before.categoryId}`);

/** Whether it acts as staff of the animal, and not only as the client that has added it. */
const mayChange = (key: ActingKey, { pet, ...placement }: LockedPet): boolean =>
  hasAccess(key, 'changePets', { petId: pet.id, ...placement });

export const petNotAvailable = ({ id, name, status }: Pet) =>
  new AppError('pet_not_available', `${name} (id ${id}) is ${status}. Only an available animal can be ordered.`);

const adoptedByApplication = ({ id, name }: Pet, shelterId: bigint) =>
  new AppError(
    'orders_by_application',
    `${name} (id ${id}) is adopted by application: the staff of shelter ${shelterId} choose among those who apply. Send POST /v1/applications in place of an order.`,
  );

const statusIsForStaff = ({ id, name, status }: Pet, wanted: PetStatus) =>
  insufficientScope(
    `${name} (id ${id}) is ${status}, and only staff can set it to ${wanted}: use ${whoMay('changePets')}. Without a status the request can be made again. To take the animal off every list, send DELETE /v1/pets/${id}.`,
    scopesThat('changePets'),
  );

/** The order may be that of another client, so it is not named. */
const reservedByOthers = ({ id, name }: Pet) =>
  new AppError(
    'pet_has_open_order',
    `${name} (id ${id}) is reserved by an order, so it can't be removed. Wait until the order has ended, or ask the store's staff.`,
  );

/** `what` names what the caller wants, as a sentence that goes on. */
export function rejectIfOrdered(order: bigint | undefined, pet: Pet, what: string): void {
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
