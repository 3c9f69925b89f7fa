import { requireAccess } from '../../access/admission/access.ts';
import type { Bounds } from '../../access/rate-limit/plans.ts';
import { petNotFound } from '../../animals/pets/pet-locks.ts';
import type { Pet } from '../../animals/pets/pet-schemas.ts';
import { findPet, lockPet, readShelterId } from '../../animals/pets/pets.ts';
import type { Rejection } from '../../animals/pets/rush-gate.ts';
import type { Actor } from '../../domain/actor.ts';
import { applicationActions, unconfirmed } from '../../domain/application-states.ts';
import type { Db, Transaction } from '../../platform/db/handles.ts';
import { normalizeEmail } from '../../platform/email-addresses.ts';
import { AppError } from '../../platform/errors.ts';
import type { Answer } from '../questions/question-schemas.ts';
import { checkAnswers, getQuestions } from '../questions/questions.ts';
import {
  allPlacesTaken,
  applicationExists,
  applicationNotFound,
  entryPlacesTaken,
  findExceeded,
  requireAnimal,
  shareTaken,
  tooManyOfAdopter,
  tooManyUnconfirmed,
} from './application-errors.ts';
import { tellOfStatus } from './application-mail.ts';
import { moveAndRecord, recordSubmission } from './application-records.ts';
import type { Application, NewApplication } from './application-schemas.ts';
import { addToCounts, findHoldings, type Holding, lockSubmissions } from './count-queries.ts';
import {
  confirmAdopterAddress,
  countUnconfirmedOfAdopter,
  findOpenOfAdopter,
  findParts,
  insertApplication,
  lockApplication,
} from './transition-queries.ts';

/** Of one adopter's address with one client: strangers can fill in its form with another's. */
const unconfirmedOfAdopterMax = 3;

interface Terms {
  readonly clientId: bigint;
  readonly bounds: Bounds;
  /** Whether adopters are told by e-mail, and asked to confirm their address. */
  readonly mails: boolean;
}

/**
 * Submits an application of a client, whose bounds hold also for concurrent requests. Locks the client's submissions, then the animal.
 * If the adopter has to confirm the address first, what happens here depends on no other client's applications with that address, and on no
 * confirmed one: otherwise a partner could find out who has applied.
 */
export async function submitApplication(tx: Transaction, given: NewApplication, actor: Actor, terms: Terms): Promise<Application> {
  const { petId, adopter, confirmed = false } = given;
  const { clientId, bounds, mails } = terms;
  const asks = mails && !confirmed;
  const application = {
    clientId,
    petId,
    isMailed: mails,
    isEntered: confirmed,
    adopter,
    address: normalizeEmail(adopter.email),
    answers: JSON.stringify(await readAnswers(tx, petId, given.answers)),
  };
  await lockSubmissions(tx, clientId);
  const added = asks ? 'unconfirmed' : mails ? 'entered' : 'open';
  const exceeded = findExceeded(await addToCounts(tx, clientId, added, bounds.openApplications), bounds, added);
  if (asks) {
    await requirePlace(tx, await findPet(tx, petId), { petId, clientId, isEntry: false });
    if (exceeded) throw exceeded;
    const waiting = await countUnconfirmedOfAdopter(tx, application, unconfirmedOfAdopterMax);
    if (waiting >= unconfirmedOfAdopterMax) throw tooManyUnconfirmed(unconfirmedOfAdopterMax);
    const asked = await insertApplication(tx, { ...application, status: unconfirmed });
    await tellOfStatus(tx, [asked], 'client');
    return asked;
  }
  const locked = await lockPet(tx, petId);
  if (confirmed && locked) requireAccess(actor, 'manageOrders', { petId, shelterId: locked.shelterId });
  await requireRoom(tx, { petId, clientId, address: application.address, isEntry: confirmed }, bounds, locked?.pet);
  if (exceeded) throw exceeded;
  const submitted = await insertApplication(tx, { ...application, status: applicationActions.confirm.to });
  await recordSubmission(
    tx,
    { clientId: actor.clientId, keyId: actor.keyId, personId: actor.personId, by: confirmed ? 'staff' : 'client' },
    submitted,
  );
  return submitted;
}

/** Checks what the adopter has answered to the shelter's questions. Without an animal there are none, and that is said later. */
async function readAnswers(tx: Transaction, petId: bigint, given: NewApplication['answers']): Promise<Answer[]> {
  const pet = await findPet(tx, petId);
  if (!pet) throw petNotFound(String(petId));
  return checkAnswers(await getQuestions(tx, await readShelterId(tx, petId)), given);
}

/** The adopter has confirmed the address. Throws what forbids the application now. */
export async function confirmByAdopter(
  tx: Transaction,
  id: bigint,
  readBounds: (tx: Transaction, clientId: bigint) => Promise<Bounds>,
): Promise<Application> {
  const found = await findParts(tx, id);
  if (!found) throw applicationNotFound(String(id));
  const { petId, clientId, address, isEntered } = found;
  await lockSubmissions(tx, clientId);
  const locked = await lockPet(tx, petId);
  const application = await lockApplication(tx, id);
  if (!application) throw applicationNotFound(String(id));
  if (address === null) return application;
  // Entered at the desk, or confirmed before: a reader may press the button twice.
  if (application.status !== unconfirmed) {
    await confirmAdopterAddress(tx, id);
    return application;
  }
  const bounds = await readBounds(tx, clientId);
  await requireRoom(tx, { petId, clientId, address, isEntry: isEntered }, bounds, locked?.pet);
  const exceeded = findExceeded(await addToCounts(tx, clientId, 'open', bounds.openApplications), bounds, 'open');
  if (exceeded) throw exceeded;
  const { to, done } = applicationActions.confirm;
  const [submitted] = await moveAndRecord(tx, { clientId: null, keyId: null, personId: null, by: 'adopter' }, [application], {
    to,
    why: done,
  });
  if (!submitted) throw new Error('a locked application does not exist');
  return submitted;
}

/** Why some can't apply for an animal now. Undefined: none is rejected for the animal or its places. */
export async function findRejection(db: Db, petId: bigint): Promise<Rejection<Applicant> | undefined> {
  const pet = await findPet(db, petId);
  try {
    requireAnimal(pet, petId);
  } catch (error) {
    if (error instanceof AppError) return () => error;
    throw error;
  }
  const places = await readPlaces(db, petId);
  return isAnyFull(places) ? (applicant) => findFull(pet, places, applicant) : undefined;
}

interface Asked extends Applicant {
  readonly petId: bigint;
}

/** Throws unless there is a place for the applicant. Exact if the animal is locked. */
export async function requirePlace(db: Db, pet: Pet | undefined, asked: Asked): Promise<void> {
  requireAnimal(pet, asked.petId);
  const full = findFull(pet, await readPlaces(db, asked.petId), asked);
  if (full) throw full;
}

/** Throws unless the animal may be applied for, by this adopter too. The animal is locked. */
async function requireRoom(tx: Transaction, of: Asked & { readonly address: string }, bounds: Bounds, pet: Pet | undefined): Promise<void> {
  requireAnimal(pet, of.petId);
  const ofAdopter = await findOpenOfAdopter(tx, of);
  if (ofAdopter.forPet !== null) throw applicationExists(pet, ofAdopter.forPet, 'Withdraw it before you submit another.');
  if (ofAdopter.open >= bounds.openApplicationsOfAdopter) throw tooManyOfAdopter(ofAdopter.open, bounds);
  await requirePlace(tx, pet, of);
}

/** Fewer are not divided. */
const dividedFrom = 10;
const keptMin = 3;
const keptOf = 5;

/** Of the applications that an animal may have, so many are kept from each client for the others. */
export const keptFor = (max: number): number => (max < dividedFrom ? 0 : Math.max(keptMin, Math.ceil(max / keptOf)));

/** Who asks for a place: a client, or staff who enter an application with it. */
export interface Applicant {
  readonly clientId: bigint;
  readonly isEntry: boolean;
}

/** What the open applications of an animal take. */
export interface ApplicationPlaces {
  readonly max: number;
  readonly holdings: readonly Holding[];
}

/** Exact if the animal is locked. */
export const readPlaces = (db: Db, petId: bigint): Promise<ApplicationPlaces> => findHoldings(db, petId);

/**
 * Why an applicant gets no place. Undefined: there is one. Staff have as many places as all clients together, so that those can't keep
 * them from entering an application. Applications of suspended clients take none, except from their own client, whose adopters may
 * confirm others.
 */
export function findFull(pet: Pet, { max, holdings }: ApplicationPlaces, { clientId, isEntry }: Applicant): AppError | undefined {
  const counted = holdings.filter((holding) => !holding.isSuspended || holding.clientId === clientId);
  const count = (of: readonly Holding[], what: 'sent' | 'entered') => of.reduce((sum, holding) => sum + holding[what], 0);
  if (isEntry) {
    const entered = count(counted, 'entered');
    return entered >= max ? entryPlacesTaken(pet, { entered, max }) : undefined;
  }
  const sent = count(counted, 'sent');
  if (sent >= max) return allPlacesTaken(pet, { open: sent, max });
  const own = count(
    counted.filter((holding) => holding.clientId === clientId),
    'sent',
  );
  const share = max - keptFor(max);
  return own >= share ? shareTaken(pet, { own, share, max }) : undefined;
}

/** Whether anybody gets no place. */
export function isAnyFull({ max, holdings }: ApplicationPlaces): boolean {
  const [sent, entered] = [holdings.map((one) => one.sent), holdings.map((one) => one.entered)];
  const sum = (counts: readonly number[]) => counts.reduce((total, count) => total + count, 0);
  return sum(sent) >= max || sum(entered) >= max || Math.max(0, ...sent) >= max - keptFor(max);
}
