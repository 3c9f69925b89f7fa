import { hasAccess } from '../../access/admission/access.ts';
import {
  countOpen,
  findApplicationForStaff as findApplication,
  type ListedApplication,
  listApplicationMoments,
} from '../../adoption/applications/staff-applications.ts';
import {
  findOpenForStaff,
  findOrderForStaff as findOrder,
  type ListedOrder,
  listOrderMoments,
} from '../../adoption/orders/staff-orders.ts';
import type { Pet } from '../../animals/pets/pet-schemas.ts';
import { findPetToOrder, findPlacement, type PetToOrder } from '../../animals/pets/pets.ts';
import { listBonded } from '../../animals/profiles/profiles.ts';
import type { Clock } from '../../platform/clock.ts';
import type { Config } from '../../platform/config.ts';
import type { Db, Searcher, Transactor } from '../../platform/db/handles.ts';
import type { AppError } from '../../platform/errors.ts';
import { type Html, html } from '../../platform/html.ts';
import type { Journal } from '../../platform/journal/journal.ts';
import { type Times, timesOf, zoneOf } from '../frame/times.ts';
import { notFound } from '../screens/page-error.ts';
import type { Visit } from '../screens/visit.ts';
import { adopterName, applicationDeed, name, orderDeed, plural, whyHeld } from './adoption-words.ts';

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

/** An order and an application are for one animal, so staff have to see the others. */
export const bondedNote = (pet: string, { bonded }: Situation): Html | false =>
  bonded.length > 0 &&
  html`<p class="note warn">${name(pet)} must be adopted together with ${bonded.map(
    ({ id, name: other }, i) => html`${i > 0 && ', '}<a href="/animals/${id}">${name(other)}</a>`,
  )}, by the same adopter.</p>`;

/** What becomes of the others when one of the open applications is accepted. */
export function othersNote(pet: string, { open }: Situation, mails: boolean): Html {
  const others = open - 1;
  if (others <= 0) return html`Nobody else has applied.`;
  const stay = plural(others, 'other application stays', 'other applications stay');
  const closed = others === 1 ? 'it is closed' : 'they are closed';
  const told = mails && ` and ${others === 1 ? 'the adopter is' : 'the adopters are'} told by e-mail`;
  return html`The ${stay} open until you decline, or until ${name(pet)} is handed over: then ${closed}${told}.`;
}

/** Why an application can't be decided on in this way any more: who has done what meanwhile. */
export const explainApplication =
  (parts: Reading) =>
  async (error: AppError, visit: Visit): Promise<Html | undefined> => {
    const application = await findApplication(parts.db, visit.caller, visit.id('applicationId'));
    if (!application) return undefined;
    if (error.code === 'application_state_conflict') {
      const deed = await lastDeed(parts, application.id, visit);
      return deed && html`Nothing was changed. ${deed}`;
    }
    if (error.code !== 'pet_not_available' && error.code !== 'pet_not_found') return undefined;
    const situation = await readSituation(parts, visit, application.petId);
    const { order } = situation;
    if (!order) {
      const passing = html`${name(application.pet)} was not available at that moment. Try again.`;
      return html`Nothing was changed: ${whyUnavailable(application.pet, situation) ?? passing}`;
    }
    const deed = order.applicationId === null ? undefined : await lastDeed(parts, order.applicationId, visit);
    return html`Nothing was changed. ${deed} ${promisedTo(order)}`;
  };

/** The same for an order. */
export const explainOrder =
  ({ db }: Reading) =>
  async (error: AppError, visit: Visit): Promise<Html | undefined> => {
    const order = await findOrder(db, visit.caller, visit.id('orderId'));
    const [last] = order && error.code === 'order_state_conflict' ? await listOrderMoments(db, order, 1) : [];
    return last && html`Nothing was changed. ${orderDeed(last, visit.person)}, ${visit.times.at(last.at)}.`;
  };

async function lastDeed({ db }: Reading, id: bigint, visit: Visit): Promise<Html | undefined> {
  const application = await findApplication(db, visit.caller, id);
  const [last] = await listApplicationMoments(db, id, 1);
  return (
    last &&
    application &&
    html`Application ${id}, of ${adopterName(application)}: ${applicationDeed(last, visit.person, application)}, ${visit.times.at(last.at)}.`
  );
}

export const promisedTo = (order: ListedOrder): Html =>
  html`${name(order.pet)} is promised to ${adopterName(order)} in <a href="/orders/${order.id}">order ${order.id}</a>.`;

/** Why nobody can be promised the animal now. Undefined: somebody can. A hold that would make it available at its end is no obstacle. */
export function whyUnavailable(pet: string, { animal, order }: Situation): Html | undefined {
  if (!animal) return html`${name(pet)} was removed.`;
  if (order) return promisedTo(order);
  const { hold } = animal;
  const { status } = animal.pet;
  if (status === 'available' || (status === 'pending' && hold?.releases)) return undefined;
  if (status === 'sold') return html`${name(pet)} was adopted.`;
  return hold && !hold.isOver ? html`${name(pet)} ${whyHeld[hold.reason]}.` : html`${name(pet)} is set to pending.`;
}
