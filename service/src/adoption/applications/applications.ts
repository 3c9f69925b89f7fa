import { requireAccess } from '../../access/admission/access.ts';
import type { CatalogueTransaction } from '../../animals/list-cache/catalogue.ts';
import { lockCurrentPet } from '../../animals/pets/holds.ts';
import { petNotFound } from '../../animals/pets/pet-locks.ts';
import type { Pet } from '../../animals/pets/pet-schemas.ts';
import { type LockedPet, lockPet } from '../../animals/pets/pets.ts';
import { type Actor, managedOrders, theService, visibilityOf } from '../../domain/actor.ts';
import {
  type ApplicationCallerAction,
  type ApplicationParty,
  allowsApplicationAction,
  applicationActions,
  applicationWriteScopes,
  isStaffAction,
  unconfirmed,
} from '../../domain/application-states.ts';
import { placing } from '../../domain/order-states.ts';
import { hasOne } from '../../domain/scopes.ts';
import type { Db, Transaction } from '../../platform/db/handles.ts';
import { AppError, type ErrorCode } from '../../platform/errors.ts';
import { actOnOrder, findOrderedPets, placeApprovedOrder } from '../orders/orders.ts';
import {
  applicationExists,
  applicationNotFound,
  decidedElsewhere,
  explainApplicationConflict,
  MovedMeanwhile,
  notAvailable,
  requireAnimal,
} from './application-errors.ts';
import { type ApplicationReader, findApplication } from './application-queries.ts';
import { moveAndRecord, type Party } from './application-records.ts';
import type { Application } from './application-schemas.ts';
import { addReopened, countOfPet, lockSubmissions } from './count-queries.ts';
import { type ApplicationNote, emptyNewestNote, insertNote, selectNotes, touchApplication } from './note-queries.ts';
import { requirePlace } from './submissions.ts';
import { type ApplicationParts, findOpenOfAdopter, findParts, lockApplication, lockOpenApplications } from './transition-queries.ts';

/** The errors of the operations, for the documents. */
export const applicationErrors = {
  get: ['application_not_found'],
  submit: ['pet_not_found', 'pet_not_available', 'application_exists', 'applications_full', 'open_application_limit'],
  note: ['application_not_found', 'application_state_conflict'],
  delete: ['application_not_found', 'application_state_conflict'],
  act: ['application_not_found', 'application_state_conflict'],
  accept: ['application_not_found', 'application_state_conflict', 'pet_not_found', 'pet_not_available'],
  reopen: [
    'application_not_found',
    'application_state_conflict',
    'pet_not_found',
    'pet_not_available',
    'application_exists',
    'applications_full',
  ],
} as const satisfies Record<string, readonly ErrorCode[]>;

/** Whose applications an actor sees. */
export function readerOf(actor: Actor): ApplicationReader {
  const visibility = visibilityOf(actor);
  return { clientId: actor.clientId, staffOf: visibility === 'all' ? 'all' : visibility.shelterId };
}

/** Whether the actor decides on an application as staff, and so sees the note. */
export function isStaffOf(actor: Actor, { shelterId }: Pick<Application, 'shelterId'>): boolean {
  const managed = managedOrders(actor);
  return managed === 'all' || managed.shelterId === shelterId;
}

/** How many open applications an animal has. */
export const countOpenApplications = (db: Db, petId: bigint): Promise<number> => countOfPet(db, petId);

export async function getApplication(db: Db, actor: Actor, id: bigint): Promise<Application> {
  const application = await findApplication(db, readerOf(actor), id);
  if (!application) throw applicationNotFound(String(id));
  return application;
}

interface Act {
  /** What staff write to the adopter when they decline. */
  readonly message?: string | undefined;
  readonly orderExpirySeconds: number;
}

/**
 * Performs an action on an application, if the table of states allows it. Locks the order if it is accepted, then the animal, then the
 * application. If that has become accepted or moved to another shelter in between, throws MovedMeanwhile: run it again in a new
 * transaction.
 */
export async function actOnApplication(
  tx: CatalogueTransaction,
  id: bigint,
  name: ApplicationCallerAction,
  actor: Actor,
  act: Act,
): Promise<Application> {
  const seen = await getApplication(tx, actor, id);
  const { answers } = seen;
  const party = partyOf(actor, seen);
  if (isStaffAction(name)) requireAccess(actor, 'manageOrders', seen);
  else requireOwnOrManaged(actor, seen);
  if (name === 'withdraw' && seen.status === 'accepted') {
    const withdrawn = await withdrawAccepted(tx, seen, party, actor);
    // Erased in between: the answers must not be in a stored response.
    return { ...withdrawn, answers: withdrawn.adopter && answers };
  }
  if (name === 'reopen') {
    await lockSubmissions(tx, seen.clientId);
    await addReopened(tx, seen.clientId);
  }
  const locked = await lockCurrentPet(tx, seen.petId, findOrderedPets);
  const application = await lockAndCheck(tx, id, name);
  // It has moved with its animal to another shelter, whose staff decide on it now.
  if (application.shelterId !== seen.shelterId) throw new MovedMeanwhile();
  if (name === 'accept') {
    const { isHeld } = await requireAcceptable(tx, application.petId, locked);
    const order = await placeApprovedOrder(tx, orderOf(application), actor, { expiresInSeconds: act.orderExpirySeconds, isHeld });
    return { ...one(await moveAndRecord(tx, party, [application], { ...ending(name), orderId: order.id })), answers };
  }
  if (name === 'reopen') await requireRoomAgain(tx, application, locked);
  return { ...one(await moveAndRecord(tx, party, [application], { ...ending(name), message: act.message || undefined })), answers };
}

/** Throws unless the locked animal is available, or would be if it were not held: staff may choose an adopter meanwhile. */
async function requireAcceptable(tx: Transaction, petId: bigint, locked: LockedPet | undefined): Promise<{ isHeld: boolean }> {
  if (!locked) throw petNotFound(String(petId));
  const { pet, hold } = locked;
  if (pet.status === placing.pet.from) return { isHeld: false };
  if (!hold?.releases || (await findOrderedPets(tx, [petId])).length > 0) throw notAvailable(pet);
  return { isHeld: true };
}

/** Throws unless an application that has ended may be open again. The animal is locked, so what is counted stays so. */
async function requireRoomAgain(
  tx: Transaction,
  application: Application,
  locked: { readonly pet: Pet; readonly shelterId: bigint } | undefined,
): Promise<void> {
  const { id, petId, clientId } = application;
  const pet = locked?.pet;
  requireAnimal(pet, petId);
  if (locked?.shelterId !== application.shelterId) throw decidedElsewhere(pet, application);
  const { address = null, isEntered = false } = (await findParts(tx, id)) ?? {};
  const another = address ? (await findOpenOfAdopter(tx, { clientId, address, petId })).forPet : null;
  if (another !== null) throw applicationExists(pet, another, 'Decide on that one.');
  await requirePlace(tx, pet, { petId, clientId, isEntry: isEntered });
}

/** The adopter withdraws an application on its page, or an operator for the adopter. */
export async function withdrawByAdopter(tx: CatalogueTransaction, id: bigint, by: ApplicationParty = 'adopter'): Promise<Application> {
  const found = await findParts(tx, id);
  if (!found) throw applicationNotFound(String(id));
  const party: Party = { clientId: null, keyId: null, personId: null, by };
  if (found.status === 'accepted') return withdrawAccepted(tx, { ...found, id }, party, theService);
  await lockPet(tx, found.petId);
  return one(await moveAndRecord(tx, party, [await lockAndCheck(tx, id, 'withdraw')], ending('withdraw')));
}

/** Cancels the order of an accepted application, which locks the order and then the animal. */
async function withdrawAccepted(
  tx: CatalogueTransaction,
  { id, orderId }: Pick<ApplicationParts, 'orderId'> & { id: bigint },
  party: Party,
  actor: Actor,
): Promise<Application> {
  if (orderId === null) throw new Error(`application ${id} is accepted without an order`);
  let withdrawn: Application[] = [];
  const withdraw = async (tx: Transaction, petId: bigint) => {
    const own = (await lockOpenApplications(tx, petId)).filter((application) => application.id === id);
    withdrawn = await moveAndRecord(tx, party, own, ending('withdraw'));
  };
  try {
    await actOnOrder(tx, orderId, 'cancel', actor, withdraw);
  } catch (error) {
    // The order has ended since, and the application with it; or it belongs to another shelter now.
    if (error instanceof AppError && (error.code === 'order_state_conflict' || error.code === 'order_not_found'))
      throw new MovedMeanwhile();
    throw error;
  }
  return one(withdrawn);
}

export type { ApplicationNote };

/** Of an application; the oldest go first. */
const notesMax = 50;

/** Adds a note of staff, which is the newest then. Null removes the newest one that the actor has written. */
export async function setNote(tx: Transaction, id: bigint, text: string | null, actor: Actor): Promise<Application> {
  const seen = await getApplication(tx, actor, id);
  requireAccess(actor, 'manageOrders', seen);
  await lockPet(tx, seen.petId);
  const application = await lockApplication(tx, id);
  if (!application) throw applicationNotFound(String(id));
  // An animal that was moved has taken it to another shelter.
  requireAccess(actor, 'manageOrders', application);
  // An empty note is none. The same one again is a repeat.
  const note = text || null;
  if (application.note === note) return { ...application, answers: seen.answers };
  if (!(await touchApplication(tx, id)))
    throw new AppError('application_state_conflict', `The adopter's data was erased from application ${id}, so it can't have a note.`);
  if (note === null) await emptyNewestNote(tx, id, actor);
  else await insertNote(tx, id, actor, note, notesMax);
  return { ...((await lockApplication(tx, id)) ?? application), answers: seen.answers };
}

/** Of an application that the reader has found, newest first: with those that are erased, without their text. */
export const listNotes = (db: Db, id: bigint): Promise<ApplicationNote[]> => selectNotes(db, id, notesMax);

async function lockAndCheck(tx: Transaction, id: bigint, name: ApplicationCallerAction): Promise<Application> {
  const application = await lockApplication(tx, id);
  if (!application) throw applicationNotFound(String(id));
  if (name === 'withdraw' && application.status === 'accepted') throw new MovedMeanwhile();
  if (!allowsApplicationAction(application, name)) throw conflict(application, name);
  // An erased one has nobody to choose.
  if (application.adopter === null) {
    throw new AppError(
      'application_state_conflict',
      `The adopter's data was erased from application ${id}, so it can't be ${applicationActions[name].done}.`,
    );
  }
  return application;
}

const ending = (name: ApplicationCallerAction) => ({ to: applicationActions[name].to, why: applicationActions[name].done });

const orderOf = ({ id, petId, clientId, adopter }: Application) => {
  if (!adopter) throw new Error(`application ${id} is open without an adopter`);
  return { petId, clientId, applicationId: id, adopter: { name: adopter.name, email: adopter.email } };
};

const partyOf = (actor: Actor, application: Application): Party => ({
  clientId: actor.clientId,
  keyId: actor.keyId,
  personId: actor.personId,
  by: isStaffOf(actor, application) ? 'staff' : 'client',
});

/** A key may withdraw what its client has submitted if it may submit; staff, what they may decide on. */
function requireOwnOrManaged(actor: Actor, application: Application): void {
  const isOwn = actor.clientId !== null && actor.clientId === application.clientId;
  if (!(isOwn && hasOne(actor.scopes, applicationWriteScopes))) requireAccess(actor, 'manageOrders', application);
}

function one([application]: readonly Application[]): Application {
  if (!application) throw new MovedMeanwhile();
  return application;
}

const conflict = (application: Pick<Application, 'id' | 'status' | 'isReopenable'>, name: ApplicationCallerAction) => {
  const { id, status } = application;
  if (status === unconfirmed) {
    return new AppError(
      'application_state_conflict',
      `Application ${id} is unconfirmed, so it can't be ${applicationActions[name].done} yet. It is deleted unless the adopter confirms it within three days.`,
    );
  }
  const { lately } = applicationActions.reopen;
  const more =
    status === 'accepted'
      ? ' Once the adopter has the animal, complete its order.'
      : name === 'reopen' && status === lately.from
        ? ` Only what was ${status} by a link of its adopter can be reopened, for ${lately.days} days.`
        : '';
  return new AppError('application_state_conflict', `${explainApplicationConflict(id, application, name)}${more}`);
};
