import { Type } from 'typebox';
import { settleApplications } from '../../adoption/applications/settling.ts';
import { findApplicationForStaff as findApplication } from '../../adoption/applications/staff-applications.ts';
import { actOnOrder } from '../../adoption/orders/orders.ts';
import { type ListedOrder, listOrderMoments } from '../../adoption/orders/staff-orders.ts';
import { actUndoably } from '../../adoption/undo/undo.ts';
import { actionsFrom, type CallerAction, scopesFor } from '../../domain/order-states.ts';
import { scopesThat } from '../../domain/scopes.ts';
import type { UndoableKind } from '../../domain/undo.ts';
import { type Html, html } from '../../platform/html.ts';
import { closingNote } from '../animals/closing-note.ts';
import { linkToAnimal } from '../animals/one-animal.ts';
import { factList, icon } from '../frame/elements.ts';
import type { FormRoute, PageRoute, Screens } from '../screens/screens.ts';
import type { Visit } from '../screens/visit.ts';
import {
  type AdoptionParts,
  bondedNote,
  explainOrder,
  getListedOrder,
  promisedTo,
  readSituation,
  type Situation,
  timesAt,
} from './adoption-parts.ts';
import { adopterName, deedsCard, mailLink, name, orderDeed, orderLabel } from './adoption-words.ts';

const momentsMax = 50;
const manages = scopesThat('manageOrders');
const nothing = Type.Object({});

/** What is said when it is done. */
const done: Readonly<Record<CallerAction, (order: ListedOrder) => string>> = {
  approve: ({ pet }) => `${pet} is promised to this adopter.`,
  complete: ({ pet }) => `${pet} is adopted.`,
  cancel: ({ id, pet }) => `Order ${id} is cancelled, and ${pet} is no longer reserved.`,
  return: ({ pet }) => `${pet} is back.`,
};

export function addOrderPage(screens: Screens, parts: AdoptionParts): void {
  const { db } = parts;

  const page: PageRoute = screens.page({
    path: '/orders/:orderId',
    needs: manages,
    show: async (visit) => {
      const order = await getListedOrder(parts, visit);
      const situation = await readSituation(parts, visit, order.petId);
      const moments = await listOrderMoments(db, order, momentsMax);
      const { id, pet, petId, status, adopter, applicationId } = order;
      // A closed one has stayed in its shelter when the animal was moved to this one.
      const application = applicationId === null ? undefined : await findApplication(db, visit.caller, applicationId);
      return {
        title: `Order ${id}: ${pet}`,
        main: html`<a class="crumb" href="/orders">${icon('back')}Orders</a>
<div class="head"><h1>${name(pet)} for ${adopterName(order)}</h1>${orderLabel(status)}</div>
${situation.order && situation.order.id !== id && html`<p class="banner info">${icon('warning')}<span>${promisedTo(situation.order)}</span></p>`}
<div class="columns">
<section class="card"><h2>About</h2>${factList({
          Order: String(id),
          Animal: await linkToAnimal(db, visit, { id: petId, name: pet }),
          Adopter: adopterName(order),
          'E-mail': adopter !== null && mailLink(adopter.email),
          Application:
            applicationId !== null &&
            (application
              ? html`<a href="/applications/${applicationId}">Application ${applicationId}</a>`
              : `Application ${applicationId}, in another shelter`),
          Shelter: visit.caller.shelterId === null && name(order.shelter),
          Placed: timesAt(parts, order).at(order.createdAt),
          Expires: status === 'placed' && html`${timesAt(parts, order).at(order.expiresAt)}, ${visit.times.ago(order.expiresAt)}`,
        })}${bondedNote(pet, situation)}</section>
${next(visit, order, situation)}
</div>
${deedsCard(
  moments.map((moment) => ({ at: moment.at, deed: orderDeed(moment, visit.person) })),
  visit.times,
)}`,
      };
    },
  });

  const handOver: PageRoute = screens.page({
    path: '/orders/:orderId/hand-over',
    needs: manages,
    show: async (visit) => {
      const order = await getListedOrder(parts, visit);
      const situation = await readSituation(parts, visit, order.petId);
      const { id, pet, applicationId } = order;
      const isReady = actionsFrom(order.status).includes('complete');
      const back = applicationId === null ? `/orders/${id}` : `/applications/${applicationId}`;
      return {
        title: `Hand ${pet} over`,
        main: html`<a class="crumb" href="/orders/${id}">${icon('back')}Order ${id}</a>
<h1>Hand ${name(pet)} over to ${adopterName(order)}?</h1>
<section class="card">
${
  isReady
    ? html`<p>${name(pet)} is marked as adopted, and nobody else can ask for it.</p>
${await closingNote(parts, visit, { id: order.petId, name: pet }, { reason: 'adopted', besides: applicationId })}
${bondedNote(pet, situation)}
${visit.form(forms.complete, { submit: 'Hand over', beside: html`<a class="button quiet" href="${back}">Not yet</a>` })}`
    : html`<p>${orderLabel(order.status)}</p><p>${waitingFor[order.status] ?? html`This order has ended, so there is nothing to hand over.`}</p>
<p class="acts"><a class="button quiet" href="/orders/${id}">See the order</a></p>`
}
</section>`,
      };
    },
  });

  const form = (action: CallerAction, on: PageRoute): FormRoute<typeof nothing> =>
    screens.form({
      path: `/orders/:orderId/${action}`,
      page: on,
      needs: scopesFor(action),
      fields: nothing,
      act: async ({ visit, tx }) => {
        const order = await getListedOrder({ db: tx }, visit);
        const { id, petId } = order;
        const decide = () => actOnOrder(tx, id, action, visit.caller, settleApplications);
        const kind = undoableAs[action];
        await (kind ? actUndoably(tx, { kind, petId, orderId: id }, visit.caller, decide) : decide());
        return { to: `/orders/${order.id}`, done: done[action](order) };
      },
      explain: explainOrder(parts),
    });
  const forms = {
    approve: form('approve', page),
    complete: form('complete', handOver),
    cancel: form('cancel', page),
    return: form('return', page),
  } satisfies Record<CallerAction, unknown>;

  function next(visit: Visit, order: ListedOrder, situation: Situation): Html {
    const { status, pet } = order;
    const may = actionsFrom(status).filter((action) => visit.may(scopesFor(action)));
    const isPlaced = status === 'placed';
    return html`<section class="card"><h2>Next</h2>
${may.length === 0 && html`<p class="soft">This order has ended. There is nothing to do.</p>`}
${isPlaced && approving(order)}
${may.includes('approve') && visit.form(forms.approve, { submit: 'Approve', isInline: true })}
${may.includes('complete') && handingOver(order)}
${
  may.includes('cancel') &&
  html`<details><summary>${isPlaced ? 'Decline this order' : 'Cancel this order'}</summary>
${cancelling(parts, order, situation)}
${visit.form(forms.cancel, { submit: isPlaced ? 'Decline the order' : 'Cancel the order', tone: 'danger' })}</details>`
}
${
  may.includes('return') &&
  html`<details><summary>${name(pet)} came back</summary>
<p>${name(pet)} becomes available again. The order stays in the history as returned. You can undo that for two minutes.</p>
${visit.form(forms.return, { submit: 'Take back', tone: 'danger' })}</details>`
}
</section>`;
  }
}

const undoableAs: Partial<Record<CallerAction, UndoableKind>> = { complete: 'handed_over', return: 'taken_back' };

const approving = (order: ListedOrder): Html =>
  html`<p>Approve it before it expires: then ${name(order.pet)} is promised to ${adopterName(order)}.
If nobody does, ${name(order.pet)} becomes available again by itself.</p>`;

const handingOver = (order: ListedOrder): Html =>
  html`<p>${name(order.pet)} is promised to ${adopterName(order)}. When they come to take ${name(order.pet)} home, hand over.</p>
<p class="acts"><a class="button" href="/orders/${order.id}/hand-over">Hand over</a></p>`;

/** What becomes of the animal and of the adopter when the order is cancelled. */
function cancelling({ mails }: AdoptionParts, order: ListedOrder, { animal }: Situation): Html {
  const becomes = animal?.hold && !animal.hold.isOver ? ', and stays held' : ' and becomes available';
  const told =
    order.applicationId === null
      ? 'Nobody is told by mail: the partner that placed the order reads of it.'
      : `Their application is closed${mails ? ', and they are told by e-mail' : ''}; you can reopen it.`;
  return html`<p>${name(order.pet)} is no longer reserved for ${adopterName(order)}${becomes}. ${told}</p>`;
}

const waitingFor: Partial<Record<ListedOrder['status'], Html>> = {
  placed: html`The order waits to be approved. Approve it first.`,
  completed: html`The animal was handed over already.`,
};
