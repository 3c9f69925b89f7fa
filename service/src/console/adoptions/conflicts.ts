import type { AppError } from '../../platform/errors.ts';
import { type Html, html } from '../../platform/html.ts';
import { findForStaff as findApplication, listMoments } from '../../store/applications/staff-applications.ts';
import { findForStaff as findOrder, type ListedOrder, listMoments as listOrderMoments } from '../../store/orders/staff-orders.ts';
import type { Visit } from '../screens/visit.ts';
import { type AdoptionParts, readSituation, type Situation } from './adoption-parts.ts';
import { adopterName, applicationDeed, holdWords, name, orderDeed } from './adoption-words.ts';

type Parts = Pick<AdoptionParts, 'db'>;

/** Why an application can't be decided on in this way any more: who has done what meanwhile. */
export const explainApplication =
  (parts: Parts) =>
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
    if (!order)
      return html`Nothing was changed: ${unavailable(application.pet, situation) ?? html`${name(application.pet)} was not available at that moment. Try again.`}`;
    const deed = order.applicationId === null ? undefined : await lastDeed(parts, order.applicationId, visit);
    return html`Nothing was changed. ${deed} ${promisedTo(order)}`;
  };

/** The same for an order. */
export const explainOrder =
  ({ db }: Parts) =>
  async (error: AppError, visit: Visit): Promise<Html | undefined> => {
    const order = await findOrder(db, visit.caller, visit.id('orderId'));
    const [last] = order && error.code === 'order_state_conflict' ? await listOrderMoments(db, order, 1) : [];
    return last && html`Nothing was changed. ${orderDeed(last, visit.person)}, ${visit.times.at(last.at)}.`;
  };

async function lastDeed({ db }: Parts, id: bigint, visit: Visit): Promise<Html | undefined> {
  const application = await findApplication(db, visit.caller, id);
  const [last] = await listMoments(db, id, 1);
  return (
    last &&
    application &&
    html`Application ${id}, of ${adopterName(application)}: ${applicationDeed(last, visit.person, application)}, ${visit.times.at(last.at)}.`
  );
}

export const promisedTo = (order: ListedOrder): Html =>
  html`${name(order.pet)} is promised to ${adopterName(order)} in <a href="/orders/${order.id}">order ${order.id}</a>.`;

/** Why nobody can be promised the animal now. Undefined: somebody can. A hold that would make it available at its end is no obstacle. */
export function unavailable(pet: string, { animal, order }: Situation): Html | undefined {
  if (!animal) return html`${name(pet)} was removed.`;
  if (order) return promisedTo(order);
  const { hold } = animal;
  const { status } = animal.pet;
  if (status === 'available' || (status === 'pending' && hold?.releases)) return undefined;
  if (status === 'sold') return html`${name(pet)} was adopted.`;
  return hold && !hold.isOver ? html`${name(pet)} ${holdWords[hold.reason]}.` : html`${name(pet)} is set to pending.`;
}
