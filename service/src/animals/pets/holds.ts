import { requireAccess } from '../../access/admission/access.ts';
import { recordEvents } from '../../changes/events/events.ts';
import { type Actor, type Author, theService } from '../../domain/actor.ts';
import { endsHold, holdChanges, shownHoldOf, textOfHold } from '../../domain/holds.ts';
import { isDay } from '../../platform/clock.ts';
import type { Db, Transaction } from '../../platform/db/handles.ts';
import { AppError, type ErrorCode, show } from '../../platform/errors.ts';
import { recordTransitions } from '../history/history.ts';
import { recordTexts } from '../history/texts.ts';
import type { Catalogue, CatalogueTransaction } from '../list-cache/catalogue.ts';
import { endHoldsOf, findHold, isAnyHoldOver, lockPetsWithOverHolds, updateHold } from './hold-queries.ts';
import type { Hold, NewHold } from './hold-schemas.ts';
import { petEvent, petStatusChanged, shownHoldJson } from './pet-json.ts';
import { acknowledgeChanges, lockPlacedPetFor, petNotFound } from './pet-locks.ts';
import { type EndingHold, findPlacement, type LockedPet, lockPet, selectEndingHolds } from './pet-queries.ts';
import type { Pet } from './pet-schemas.ts';

/** Finds which of some locked animals have an open order. Passed as an argument, since the folder orders imports pets. */
export type FindOrderedPets = (tx: Transaction, petIds: readonly bigint[]) => Promise<bigint[]>;

/** The errors of the operations, for the documents. */
export const holdErrors = {
  get: ['pet_not_found', 'hold_not_found'],
  put: ['pet_not_found', 'pet_not_available'],
  end: ['pet_not_found'],
} as const satisfies Record<string, readonly ErrorCode[]>;

export async function getHold(db: Db, petId: bigint, actor: Actor): Promise<Hold> {
  const placement = await findPlacement(db, petId);
  if (!placement) throw petNotFound(String(petId));
  requireAccess(actor, 'changePets', placement);
  const hold = await findHold(db, petId);
  if (!hold) throw new AppError('hold_not_found', `Animal ${petId} is not held.`);
  return hold;
}

/** Holds an animal, or changes its hold. An available one becomes pending. */
export async function holdPet(
  catalogue: Pick<Catalogue, 'transaction'>,
  petId: bigint,
  given: NewHold,
  actor: Actor,
  { findOrderedPets, nowMs }: { findOrderedPets: FindOrderedPets; nowMs: number },
): Promise<Hold> {
  const asked = readHold(given, nowMs);
  return catalogue.transaction(async (tx) => {
    const { pet, hold } = await endIfOver(tx, await lockPlacedPetFor(tx, petId, actor, 'changePets'), findOrderedPets);
    if (endsHold(pet.status)) throw notHoldable(pet);
    if (hold && isSame(hold, asked)) {
      await acknowledgeChanges(tx, petId);
      return asked;
    }
    await beginHold(tx, pet, { before: hold, asked }, actor);
    return asked;
  }, actor);
}

/** Of a shelter whose new animals begin with a hold: anyone may have added it, and staff end the hold. A sold one is never held. */
export async function holdNewPet(tx: CatalogueTransaction, pet: Pet, author: Author): Promise<Pet> {
  if (endsHold(pet.status)) return pet;
  return beginHold(tx, pet, { before: undefined, asked: { reason: 'other', until: null, note: null } }, author);
}

/** The animal is locked, or was just added. */
async function beginHold(
  tx: CatalogueTransaction,
  pet: Pet,
  { before, asked }: { readonly before: Hold | undefined; readonly asked: Hold },
  author: Author,
): Promise<Pet> {
  const held = await updateHold(tx, pet, asked);
  const why = `${before ? 'hold changed' : 'held'}: ${asked.reason}${asked.until ? ` until ${asked.until.toISOString()}` : ''}`;
  await recordTransitions(tx, author, { kind: holdChanges.begin.kind, petId: pet.id, from: pet.status, to: held.status, hold: asked, why });
  await recordTexts(tx, pet.id, [{ field: 'holdNote', before: before?.note ?? null, after: asked.note }]);
  const shown = { shown: shownHoldOf(asked.reason), until: asked.until };
  const isShownOtherwise = !before || shownJson(before) !== shownHoldJson(shown);
  await recordEvents(
    tx,
    ...(held.status === pet.status ? [] : [petStatusChanged(held, pet.status)]),
    ...(isShownOtherwise ? [petEvent(holdChanges.begin.event, held, `,"hold":${shownHoldJson(shown)}`)] : []),
  );
  return held;
}

/** Ends the hold of an animal, if it is held. It becomes available, unless it would not be so without the hold. */
export async function endHold(
  catalogue: Pick<Catalogue, 'transaction'>,
  petId: bigint,
  actor: Actor,
  findOrderedPets: FindOrderedPets,
): Promise<void> {
  await catalogue.transaction(async (tx) => {
    const { hold } = await lockPlacedPetFor(tx, petId, actor, 'changePets');
    if (hold) await endHolds(tx, [petId], hold.isOver ? theService : actor, findOrderedPets);
    else await acknowledgeChanges(tx, petId);
  }, actor);
}

/** For staff: those that end before a time, the first first. Null: of every shelter. */
export const listEndingHolds = (
  db: Db,
  shelterId: bigint | null,
  { before, limit }: { readonly before: Date; readonly limit: number },
): Promise<EndingHold[]> => selectEndingHolds(db, shelterId, before, limit);

/** Ends a batch of holds whose time has come. Returns how many. */
export async function endOverHolds(db: Db, catalogue: Catalogue, findOrderedPets: FindOrderedPets, batchSizeMax: number): Promise<number> {
  // Checked outside a transaction: a worker without work makes one small statement.
  if (!(await isAnyHoldOver(db))) return 0;
  return catalogue.transaction(async (tx) => {
    const ids = await lockPetsWithOverHolds(tx, batchSizeMax);
    await endHolds(tx, ids, theService, findOrderedPets);
    return ids.length;
  }, theService);
}

/** Locks an animal as it is now: a hold that is over ends first, as the worker would end it. */
export async function lockCurrentPet(
  tx: CatalogueTransaction,
  id: bigint,
  findOrderedPets: FindOrderedPets,
): Promise<LockedPet | undefined> {
  const locked = await lockPet(tx, id);
  return locked && endIfOver(tx, locked, findOrderedPets);
}

/** The locked animal as it is now. */
export async function endIfOver(tx: CatalogueTransaction, locked: LockedPet, findOrderedPets: FindOrderedPets): Promise<LockedPet> {
  if (!locked.hold?.isOver) return locked;
  const [ended] = await endHolds(tx, [locked.pet.id], theService, findOrderedPets);
  return { ...locked, pet: ended ?? locked.pet, hold: undefined };
}

/** Ends the hold of a locked animal that was sold. */
export async function endSoldHold(tx: CatalogueTransaction, petId: bigint, author: Author): Promise<void> {
  await endHolds(tx, [petId], author, async () => []);
}

/** Ends the holds of locked animals, and records it. */
async function endHolds(
  tx: CatalogueTransaction,
  ids: readonly bigint[],
  author: Author,
  findOrderedPets: FindOrderedPets,
): Promise<Pet[]> {
  if (ids.length === 0) return [];
  const ended = await endHoldsOf(tx, ids, await findOrderedPets(tx, ids));
  const { kind, event } = holdChanges.end;
  await recordTransitions(
    tx,
    author,
    ...ended.map(({ id, from, status }) => ({ kind, petId: id, from, to: status, why: 'hold ended' }) as const),
  );
  await recordEvents(
    tx,
    ...ended.flatMap(({ from, ...pet }) => [...(from === pet.status ? [] : [petStatusChanged(pet, from)]), petEvent(event, pet)]),
  );
  return ended.map(({ from, ...pet }) => pet);
}

/** Says that a held animal can't be ordered, or be made available by staff. */
export function petOnHold({ id, name }: Pet, { reason, until }: Hold, reader: 'partner' | 'staff'): AppError {
  const times = until ? ` until ${until.toISOString()}` : '';
  const what = `${name} (id ${id}) is on hold${times} (${textOfHold(shownHoldOf(reason))})`;
  const text =
    reader === 'staff'
      ? `${what}, so it can't be made available. End the hold first, with DELETE /v1/pets/${id}/hold.`
      : `${what}, so it can't be ordered. Adopters can apply for it with POST /v1/applications, or wait for the event pet.hold_ended.`;
  return new AppError('pet_on_hold', text);
}

function readHold({ reason, until, note }: NewHold, nowMs: number): Hold {
  const ends = until === undefined ? null : new Date(until);
  if (ends && (Number.isNaN(ends.getTime()) || !isDay(String(until).slice(0, 10))))
    throw new AppError('invalid_body', `until must be a time that exists; got ${show(until)}.`);
  if (ends && !(ends.getTime() > nowMs)) throw new AppError('invalid_body', `until must be a time in the future; got ${show(until)}.`);
  // An empty note is none.
  return { reason, until: ends, note: note || null };
}

const isSame = (one: Hold, other: Hold): boolean =>
  one.reason === other.reason && one.until?.getTime() === other.until?.getTime() && one.note === other.note;

const shownJson = ({ reason, until }: Hold) => shownHoldJson({ shown: shownHoldOf(reason), until });

const notHoldable = ({ id, name, status }: Pet) =>
  new AppError('pet_not_available', `${name} (id ${id}) is ${status}. Only an available or pending animal can be held.`);
