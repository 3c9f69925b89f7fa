import { hasAccess, requireAccess, requireStaff } from '../../access/admission/access.ts';
import { recordTransitions } from '../../animals/history/history.ts';
import type { Catalogue, CatalogueTransaction } from '../../animals/list-cache/catalogue.ts';
import { petEvent } from '../../animals/pets/pet-json.ts';
import { petNotFound } from '../../animals/pets/pet-locks.ts';
import type { Pet } from '../../animals/pets/pet-schemas.ts';
import { lockPetRows, rejectIfOrdered } from '../../animals/pets/pets.ts';
import { isExternalIdTaken } from '../../animals/profiles/profiles.ts';
import { recordEvents } from '../../changes/events/events.ts';
import { type Actor, type KeyRights, theService } from '../../domain/actor.ts';
import { holdChanges } from '../../domain/holds.ts';
import { mayHaveOutcome, type OutcomeType, outcomeKind, outcomeMove, outcomeUndoing, undoneKind } from '../../domain/outcomes.ts';
import type { Db, Transaction, Transactor } from '../../platform/db/handles.ts';
import { parseInt64 } from '../../platform/db/int64.ts';
import { AppError, type ErrorCode, show } from '../../platform/errors.ts';
import { settleApplications } from '../applications/settling.ts';
import { findOpenOrder } from '../orders/orders.ts';
import {
  endUndoable,
  findDescription,
  findLeftPet,
  findTaker,
  type LeftPet,
  markPetBack,
  markPetLeft,
  selectUndoablePets,
  type UndoablePet,
} from './outcome-queries.ts';
import type { Outcome } from './outcome-schemas.ts';

export type { UndoablePet };

/** The errors of the operations, for the documents. */
export const outcomeErrors = {
  record: ['pet_not_found', 'pet_has_open_order', 'pet_is_sold', 'outcome_recorded'],
  get: ['pet_not_found', 'outcome_not_found'],
  undo: ['pet_not_found', 'outcome_not_found', 'outcome_final', 'external_id_taken'],
} as const satisfies Record<string, readonly ErrorCode[]>;

/**
 * Records how an animal has left the store. It disappears from every list as by a removal, and nothing that partners read says why. For
 * some time its profile and photos stay, so that the outcome can be undone.
 */
export async function recordOutcome(
  tx: CatalogueTransaction,
  petId: bigint,
  type: OutcomeType,
  actor: Actor,
  /** Throws if the animal is not the version that the caller expects. */
  expect: (pet: Pet) => void,
): Promise<Outcome> {
  const left = await lockFor(tx, petId, actor);
  if (left.type !== null) throw outcomeRecorded(left, left.type);
  const { pet } = left;
  expect(pet);
  rejectIfOrdered(await findOpenOrder(tx, petId), pet, "it can't get an outcome");
  if (!mayHaveOutcome(pet.status)) throw petIsSold(pet);
  const marked = await markPetLeft(tx, pet);
  const { to } = outcomeMove;
  await recordTransitions(tx, actor, { kind: outcomeKind, petId, from: pet.status, to, why: `has left: ${type}`, outcome: type });
  await recordEvents(tx, ...(left.isHeld ? [petEvent(holdChanges.end.event, pet)] : []), petEvent('pet.removed', pet));
  await settleApplications(tx, petId, actor);
  return { petId, type, ...marked };
}

export const getOutcome = async (db: Db, petId: bigint, actor: Actor): Promise<Outcome> => (await getDeparture(db, petId, actor)).outcome;

/** An animal that has left, and how. */
export async function getDeparture(db: Db, petId: bigint, actor: Actor): Promise<{ readonly pet: Pet; readonly outcome: Outcome }> {
  const { pet, type, removedAt, undoableUntil } = requireStaffOf(await findLeftPet(db, petId), petId, actor);
  if (type === null || removedAt === null) throw outcomeNotFound(pet);
  return { pet, outcome: { petId, type, recordedAt: removedAt, ...(undoableUntil && { undoableUntil }) } };
}

/**
 * Brings an animal back whose outcome was a mistake, or is none any more. It is pending, so nobody can order it before staff have looked.
 * Applications that were closed stay closed: staff may reopen them.
 */
export async function undoOutcome({ db, catalogue }: { db: Db; catalogue: Catalogue }, petId: bigint, actor: Actor): Promise<Pet> {
  try {
    return await catalogue.transaction((tx) => undoOutcomeWithin(tx, petId, actor), actor);
  } catch (error) {
    if (!isExternalIdTaken(error)) throw error;
    const taker = await findTaker(db, petId);
    const message = taker
      ? `${taker.name} (id ${taker.id}) has got the externalId ${show(taker.externalId)} meanwhile. Change it there first.`
      : 'Another animal of the shelter had the same externalId. Retry the request.';
    throw new AppError('external_id_taken', message, { cause: error });
  }
}

/** The same in a transaction. A unique index rejects it if another animal of the shelter has got the externalId. */
export async function undoOutcomeWithin(tx: CatalogueTransaction, petId: bigint, actor: Actor): Promise<Pet> {
  const left = await lockFor(tx, petId, actor);
  if (left.type === null) throw outcomeNotFound(left.pet);
  if (left.undoableUntil === null) throw outcomeFinal(left.pet);
  const pet = await markPetBack(tx, left.pet);
  const { from, to } = outcomeUndoing;
  await recordTransitions(tx, actor, { kind: undoneKind, petId, from, to, why: 'its outcome was undone' });
  await tellOfReturn(tx, pet);
  return pet;
}

/** Who has followed the removal has forgotten the animal: these events let them read it again. */
export async function tellOfReturn(tx: Transaction, pet: Pet): Promise<void> {
  const { hasProfile, hasPhotos } = await findDescription(tx, pet.id);
  await recordEvents(
    tx,
    petEvent('pet.created', pet),
    ...(hasProfile ? [petEvent('pet.profile_changed', pet)] : []),
    ...(hasPhotos ? [petEvent('pet.photos_changed', pet)] : []),
  );
}

/**
 * The animals that have left and can be brought back, for their staff: of a shelter, or of all of them. `cursor` is that of the last animal
 * of the page before; what is none begins at the first page.
 */
export function listUndoable(
  db: Db,
  staff: KeyRights,
  { cursor, limit }: { readonly cursor: string | undefined; readonly limit: number },
): Promise<UndoablePet[]> {
  const reach = requireStaff(staff, 'changePets');
  const [micros, id] = (cursor ?? '').split('_', 2).map((text) => parseInt64(text));
  const isPlace = micros !== undefined && id !== undefined && micros >= 0n && micros <= microsMax;
  return selectUndoablePets(db, reach === 'all' ? undefined : reach, { after: isPlace ? [micros, id] : undefined, limit });
}

/** The end of the year 9999: PostgreSQL can't add much more to a time. */
const microsMax = 253_402_300_799_999_999n;

/** Lets the outcomes pass that can't be undone any more, in batches. Returns how many. Their photos are deleted like those of a removal. */
export const endUndoableOutcomes = (db: Transactor, batchSizeMax: number): Promise<number> =>
  db.transaction((tx) => endUndoable(tx, batchSizeMax), theService);

/** A key that may not change the animal doesn't lock it either: others who ask for it would wait. */
async function lockFor(tx: CatalogueTransaction, petId: bigint, actor: Actor): Promise<LeftPet> {
  requireStaffOf(await findLeftPet(tx, petId), petId, actor);
  await lockPetRows(tx, [petId]);
  // By a statement of its own, which sees the history of the one that it has waited for.
  return requireStaffOf(await findLeftPet(tx, petId), petId, actor);
}

/** Others don't learn of an animal that is not listed whether it ever existed, and neither does anybody of one that was added by mistake. */
function requireStaffOf(left: LeftPet | undefined, petId: bigint, actor: Actor): LeftPet {
  if (!left) throw petNotFound(String(petId));
  const isKnown = left.removedAt === null || (left.type !== null && hasAccess(actor, 'changePets', left));
  if (!isKnown) throw petNotFound(String(petId));
  requireAccess(actor, 'changePets', left);
  return left;
}

const petIsSold = ({ id, name }: Pet) =>
  new AppError(
    'pet_is_sold',
    `${name} (id ${id}) is sold: it was adopted, so it can't get another outcome. If it came back, return its order first.`,
  );

const outcomeRecorded = ({ pet: { id, name } }: LeftPet, type: OutcomeType) =>
  new AppError(
    'outcome_recorded',
    `${name} (id ${id}) has the outcome ${type} already. To record another one, undo it first: DELETE /v1/pets/${id}/outcome`,
  );

const outcomeNotFound = ({ id, name, status }: Pet) =>
  new AppError('outcome_not_found', `${name} (id ${id}) has no outcome: it is listed, and ${status}.`);

const outcomeFinal = ({ id, name }: Pet) =>
  new AppError(
    'outcome_final',
    `The outcome of ${name} (id ${id}) was recorded more than ${outcomeUndoing.days} days ago, so it can't be undone. If the animal is back, add it again.`,
  );
