import { hasAccess } from '../../access/admission/access.ts';
import { recordTransitions } from '../../animals/history/history.ts';
import type { CatalogueTransaction } from '../../animals/list-cache/catalogue.ts';
import { petEvent, petStatusChanged, shownHoldJson } from '../../animals/pets/pet-json.ts';
import { lockPetRows } from '../../animals/pets/pets.ts';
import { type NewEvent, recordEvents } from '../../changes/events/events.ts';
import { type Actor, theService } from '../../domain/actor.ts';
import { holdChanges } from '../../domain/holds.ts';
import { removed } from '../../domain/pet-statuses.ts';
import { mayDo, type PersonRights } from '../../domain/roles.ts';
import { restoredKind, type UndoableKind, undoableActs } from '../../domain/undo.ts';
import type { Db, Transactor } from '../../platform/db/handles.ts';
import { lockClientsOf, restoreApplications } from '../applications/application-undoing.ts';
import { restoreOrder } from '../orders/orders.ts';
import { tellOfReturn } from '../outcomes/outcomes.ts';
import {
  concludeAct,
  deleteMailOfAct,
  deleteOldActs,
  findAct,
  hasChangedPet,
  insertAct,
  type LaterChange,
  lockAct,
  lockOrder,
  markUndone,
  type PetNow,
  readPetNow,
  restorePet,
  restorePhotos,
  selectActsOf,
  selectChangedApplications,
  selectChangedOrders,
  selectLaterChanges,
  selectPendingActs,
  type UndoableAct,
} from './undo-queries.ts';

export type { LaterChange, UndoableAct };

/** A person that acts in the console. */
type ActingPerson = Actor & PersonRights & { readonly personId: bigint };

interface NewAct {
  readonly kind: UndoableKind;
  readonly petId: bigint;
  /** What is locked before the animal. */
  readonly orderId?: bigint;
}

/**
 * Carries out an act that can be undone for two minutes. Its history, events and mail have its number: the events say until when it can be
 * undone, and the mail to adopters is due then. An act that changes nothing is none.
 */
export async function actUndoably<T>(
  tx: CatalogueTransaction,
  { kind, petId, orderId }: NewAct,
  { personId }: ActingPerson,
  work: () => Promise<T>,
): Promise<T> {
  if (tx.mark) throw new Error('a transaction carries out one act');
  if (orderId !== undefined) await lockOrder(tx, orderId);
  await lockPetRows(tx, [petId]);
  const mark = await insertAct(tx, { kind, petId, personId });
  tx.mark = mark;
  const result = await work();
  tx.mark = undefined;
  await concludeAct(tx, mark.id);
  return result;
}

/** Why an act can't be undone. Nothing was changed. */
export class UndoRefused extends Error {
  readonly why: 'not found' | 'not yours' | 'undone' | 'final' | 'changed' | 'erased';
  readonly act: UndoableAct | undefined;
  /** What was changed since, the last first. */
  readonly changes: readonly LaterChange[];

  constructor(why: UndoRefused['why'], act?: UndoableAct, changes: readonly LaterChange[] = []) {
    super(`the act can't be undone: ${why}`);
    this.why = why;
    this.act = act;
    this.changes = changes;
  }
}

const changesMax = 50;

/**
 * Undoes what a person has done, all of it or nothing: by who has acted, or by an admin of the animal's shelter or of the store. Throws
 * UndoRefused: the transaction must be rolled back.
 *
 * Locks are taken as everywhere: the clients of applications that are open again, orders, the animal, the act, applications, mail. Under the
 * lock of the animal nothing about it changes, so what the histories have since is complete. Two who undo one act take turns at its row.
 * Invariant: no message of the act is sent and the act undone. A worker claims a message that is due, from `final_at` on, and skips locked
 * ones. The undoing locks them, gives up if one was claimed, and as its last statement gives up from `final_at` on, both by PostgreSQL's clock.
 */
export async function undoAct(tx: CatalogueTransaction, id: bigint, person: ActingPerson): Promise<UndoableAct> {
  const seen = requirePending(await findAct(tx, id), person);
  const applications = await selectChangedApplications(tx, seen);
  await lockClientsOf(tx, applications);
  const orders = await selectChangedOrders(tx, seen);
  for (const order of orders) await lockOrder(tx, order.id);
  await lockPetRows(tx, [seen.petId]);
  const act = requirePending(await lockAct(tx, id), person);
  const applicationIds = applications.map((application) => application.id);
  const changes = await selectLaterChanges(tx, act, { reopened: applicationIds, limit: changesMax });
  if (changes.length > 0) throw new UndoRefused('changed', act, changes);
  if (!(await deleteMailOfAct(tx, id, applicationIds))) throw new UndoRefused('final', act);
  tx.mark = { id, finalAt: null };
  for (const { id: orderId, from, to } of orders) await restoreOrder(tx, { id: orderId, petId: act.petId, from: to, to: from }, person);
  if (await hasChangedPet(tx, act)) await restore(tx, act, person);
  if (!(await restoreApplications(tx, applications, person))) throw new UndoRefused('erased', act);
  tx.mark = undefined;
  if (!(await markUndone(tx, id, person.personId))) throw new UndoRefused('final', act);
  return act;
}

function requirePending(act: UndoableAct | undefined, person: ActingPerson): UndoableAct {
  if (!act || !isWithinReach(person, act)) throw new UndoRefused('not found');
  if (!mayUndo(person, act)) throw new UndoRefused('not yours', act);
  if (act.undoneAt) throw new UndoRefused('undone', act);
  if (act.isFinal) throw new UndoRefused('final', act);
  return act;
}

const isWithinReach = (person: ActingPerson, act: UndoableAct): boolean =>
  person.shelterId === null || person.shelterId === act.shelterId || person.personId === act.personId;

/** Who has acted, while their role still permits the act there, and admins. */
export function mayUndo(person: ActingPerson, { kind, petId, shelterId, personId }: UndoableAct): boolean {
  const isOwn = person.personId === personId && hasAccess(person, undoableActs[kind].needs, { petId, shelterId });
  return isOwn || mayDo(person, 'acts:undo', shelterId);
}

/** The animal itself. */
async function restore(tx: CatalogueTransaction, { id, petId }: UndoableAct, author: Actor): Promise<void> {
  const before = await readPetNow(tx, petId);
  const pet = await restorePet(tx, id, before);
  const photos = await restorePhotos(tx, id);
  const after = await readPetNow(tx, petId);
  const from = before.isListed ? before.pet.status : removed;
  await recordTransitions(tx, author, { kind: restoredKind, petId, from, to: pet.status, why: 'undone' });
  if (!before.isListed) await tellOfReturn(tx, pet);
  await recordEvents(
    tx,
    ...(before.isListed && before.pet.status !== pet.status ? [petStatusChanged(pet, before.pet.status)] : []),
    ...holdEvents(before, after),
    ...(before.isListed && photos > 0 ? [petEvent('pet.photos_changed', pet)] : []),
  );
}

function holdEvents(before: PetNow, { pet, hold }: PetNow): NewEvent[] {
  const held = hold && shownHoldJson({ shown: hold.shown, until: hold.until === null ? null : new Date(hold.until) });
  const was =
    before.hold && shownHoldJson({ shown: before.hold.shown, until: before.hold.until === null ? null : new Date(before.hold.until) });
  if (held === was) return [];
  return [held === null ? petEvent(holdChanges.end.event, pet) : petEvent(holdChanges.begin.event, pet, `,"hold":${held}`)];
}

/** What a person can undo at this moment, the last first: what it has done, and what others have done with this animal. */
export async function listActsToUndo(
  db: Db,
  person: ActingPerson,
  { petId, limit }: { readonly petId: bigint | undefined; readonly limit: number },
): Promise<UndoableAct[]> {
  return (await selectActsOf(db, { personId: person.personId, petId: petId ?? null }, limit)).filter((act) => mayUndo(person, act));
}

/** What an admin can undo at this moment of what others have done, the last first. */
export async function listActsOfOthers(db: Db, person: ActingPerson, limit: number): Promise<UndoableAct[]> {
  const acts = await selectPendingActs(db, person.shelterId, limit);
  return acts.filter((act) => act.personId !== person.personId && mayUndo(person, act));
}

/** Undefined: there is none, or it is of another shelter. */
export async function findActToUndo(db: Db, id: bigint, person: ActingPerson): Promise<UndoableAct | undefined> {
  const act = await findAct(db, id);
  return act && isWithinReach(person, act) ? act : undefined;
}

/** What was changed since an act that was not undone, the last first. */
export async function listLaterChanges(db: Db, act: UndoableAct, limit: number): Promise<LaterChange[]> {
  const reopened = (await selectChangedApplications(db, act)).map(({ id }) => id);
  return selectLaterChanges(db, act, { reopened, limit });
}

const keptDays = 3;

/** A job. Returns how many were deleted. */
export const sweepActs = (db: Transactor, batchSizeMax: number): Promise<number> =>
  db.transaction((tx) => deleteOldActs(tx, keptDays, batchSizeMax), theService);
