import { hasAccess } from '../../partners/admission/access.ts';
import type { Clock } from '../../platform/clock.ts';
import type { Config } from '../../platform/config.ts';
import type { Db, Searcher, Transactor } from '../../platform/db/handles.ts';
import type { Journal } from '../../platform/journal/journal.ts';
import { countOpen, findForStaff as findApplication, type ListedApplication } from '../../store/applications/staff-applications.ts';
import { findOpenForStaff, findForStaff as findOrder, type ListedOrder } from '../../store/orders/staff-orders.ts';
import type { Pet } from '../../store/pets/pet-schemas.ts';
import { findPetToOrder, findPlacement, type PetToOrder } from '../../store/pets/pets.ts';
import { listBonded } from '../../store/profiles/profiles.ts';
import { type Times, timesOf, zoneOf } from '../frame/times.ts';
import { notFound } from '../screens/page-error.ts';
import type { Visit } from '../screens/visit.ts';

export interface AdoptionParts {
  readonly db: Transactor & Searcher;
  readonly clock: Clock;
  readonly config: Pick<Config, 'orderExpirySeconds' | 'language' | 'mail'>;
  readonly journal: Journal;
  /** Mail is on: adopters are told. */
  readonly mails: boolean;
}

/** The pool, or the transaction of a form. */
interface Reading {
  readonly db: Db;
}

/** The shelter of an animal on whose applications somebody decides. The animals of others are not found. */
export async function getShelterOf({ db }: Reading, { caller }: Visit, petId: bigint): Promise<bigint> {
  const placement = await findPlacement(db, petId);
  if (!placement || !hasAccess(caller, 'manageOrders', placement)) throw notFound('There is no such animal here.');
  return placement.shelterId;
}

/** Those of other shelters are not found, like those that don't exist. */
export async function getListedApplication({ db }: Reading, visit: Visit): Promise<ListedApplication> {
  const found = await findApplication(db, visit.caller, visit.id('applicationId'));
  if (!found) throw notFound('There is no such application here.');
  return found;
}

export async function getListedOrder({ db }: Reading, visit: Visit): Promise<ListedOrder> {
  const found = await findOrder(db, visit.caller, visit.id('orderId'));
  if (!found) throw notFound('There is no such order here.');
  return found;
}

/** What a decision about an animal depends on. */
export interface Situation {
  /** Undefined: it was removed. */
  readonly animal: PetToOrder | undefined;
  /** To whom it is promised. */
  readonly order: ListedOrder | undefined;
  /** How many applications for it are open. */
  readonly open: number;
  /** It must be adopted together with these. */
  readonly bonded: readonly Pet[];
}

export async function readSituation({ db }: Reading, { caller }: Visit, petId: bigint): Promise<Situation> {
  const animal = await findPetToOrder(db, petId);
  return {
    animal,
    order: await findOpenForStaff(db, caller, petId),
    open: await countOpen(db, petId),
    bonded: animal ? await listBonded(db, petId) : [],
  };
}

/** Deadlines are in the time zone of the shelter, for people of the store too. */
export const timesAt = ({ clock }: Pick<AdoptionParts, 'clock'>, { timezone }: Pick<ListedOrder, 'timezone'>): Times =>
  timesOf(zoneOf(timezone), clock.now());
