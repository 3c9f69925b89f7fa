import { findApplicationForStaff, listApplicationMoments } from '../../adoption/applications/staff-applications.ts';
import {
  findActToUndo,
  type LaterChange,
  listLaterChanges,
  mayUndo,
  type UndoableAct,
  UndoRefused,
  undoAct,
} from '../../adoption/undo/undo.ts';
import { listActsOfPet } from '../../animals/history/history.ts';
import { isExternalIdTaken } from '../../animals/profiles/profiles.ts';
import { scopesThat } from '../../domain/scopes.ts';
import type { Db, Transactor } from '../../platform/db/handles.ts';
import { type Html, html } from '../../platform/html.ts';
import { applicationDeed } from '../adoptions/adoption-words.ts';
import { actList } from '../animals/animal-history.ts';
import { pathOf } from '../animals/one-animal.ts';
import { FormError, notAllowed, notFound } from '../screens/page-error.ts';
import type { PageRoute, Screens } from '../screens/screens.ts';
import { deedOf, undoForm } from '../screens/undo-strip.ts';
import type { Visit } from '../screens/visit.ts';

const changesShown = 50;
const decides = scopesThat('manageOrders');

/** An act that can be undone, or why it can't be any more. */
export function addUndo(screens: Screens, { db }: { readonly db: Transactor }): void {
  const page: PageRoute = screens.page({
    path: '/acts/:actId',
    needs: 'a person',
    show: async (visit) => {
      const act = await getAct(db, visit);
      const changes = act.undoneAt ? [] : await listLaterChanges(db, act, changesShown);
      return {
        title: `Undo: ${act.pet}`,
        main: html`<h1>Undo</h1>
<section class="card"><p>${deedOf(act, visit)} That was at ${visit.times.second(act.at)}.</p>
${await stateOf(visit, act, changes)}
<p class="acts"><a class="button quiet" href="${placeOf(visit, act)}">Go to <bdi>${act.pet}</bdi></a></p></section>`,
      };
    },
  });

  const stateOf = async (visit: Visit, act: UndoableAct, changes: readonly LaterChange[]): Promise<Html> => {
    if (changes.length > 0 && !act.isFinal) return changedText(db, visit, act, changes);
    const reason = reasonOf(act, visit);
    if (reason) return html`<p>${reason}</p>`;
    return html`<p>You can undo it until ${visit.times.second(act.finalAt)}: then all of it is as it was before, and nobody is told by mail.</p>
${visit.form(undo, { submit: 'Undo' })}`;
  };

  const undo = screens.form({
    ...undoForm,
    page,
    needs: 'a person',
    // Somebody who has used up everything has done what is to be undone.
    ends: true,
    act: async ({ visit, tx }) => {
      try {
        const act = await undoAct(tx, visit.id('actId'), visit.caller);
        return { to: placeOf(visit, act), done: `Undone: ${act.pet} is as before, and nobody is told by mail.` };
      } catch (error) {
        if (isExternalIdTaken(error))
          throw new FormError("Another animal has got the shelter's own number of this one meanwhile. Change it there first.");
        if (!(error instanceof UndoRefused)) throw error;
        throw await explainRejection(tx, visit, error);
      }
    },
  });
}

async function explainRejection(db: Db, visit: Visit, { why, act, changes }: UndoRefused): Promise<Error> {
  if (why === 'not found' || !act) return noAct();
  if (why === 'not yours') return notAllowed(notYours);
  if (why === 'erased')
    return new FormError('The data of an adopter was erased meanwhile, on request. So it can’t be undone, and nothing was changed.');
  if (why !== 'changed') return new FormError(reasonOf(act, visit) ?? tooLate(act, visit));
  return new FormError(await changedText(db, visit, act, changes));
}

/** Those of other shelters are not found, like those that there are not. */
async function getAct(db: Db, visit: Visit): Promise<UndoableAct> {
  const act = await findActToUndo(db, visit.id('actId'), visit.caller);
  if (!act) throw noAct();
  if (!mayUndo(visit.caller, act)) throw notAllowed(notYours);
  return act;
}

const noAct = () => notFound('There is no such act here. What was done more than three days ago is not listed any more.');
const notYours = 'Only the person who has done it can undo it, or an admin.';

/** Undefined: it can be undone, if nothing was changed since. */
function reasonOf(act: UndoableAct, visit: Visit): Html | undefined {
  if (act.undoneAt) return html`It was undone at ${visit.times.second(act.undoneAt)}.`;
  return act.isFinal ? tooLate(act, visit) : undefined;
}

const tooLate = ({ finalAt }: UndoableAct, { times }: Visit): Html =>
  html`It is too late: it could be undone until ${times.second(finalAt)}. Since then partners rely on it, and adopters are told by mail.`;

/** What was changed since, by whom and when. */
async function changedText(db: Db, visit: Visit, act: UndoableAct, changes: readonly LaterChange[]): Promise<Html> {
  const rows = new Set(changes.flatMap(({ applicationId, rowId }) => (applicationId === null ? rowId : [])));
  const deeds = rows.size > 0 ? (await listActsOfPet(db, act.petId, { limit: changesShown })).filter(({ id }) => rows.has(id)) : [];
  const applicationIds = [...new Set(changes.flatMap(({ applicationId }) => applicationId ?? []))];
  const ofApplications: Html[] = [];
  for (const id of visit.may(decides) ? applicationIds : []) {
    const application = await findApplicationForStaff(db, visit.caller, id);
    const [last] = await listApplicationMoments(db, id, 1);
    if (application && last)
      ofApplications.push(html`<li><span><a href="/applications/${id}">Application ${id}</a>: ${applicationDeed(last, visit.person, application)}</span>
<span class="soft small">${visit.times.at(last.at)}</span></li>`);
  }
  return html`<p>Nothing is undone, since <bdi>${act.pet}</bdi> was changed meanwhile:</p>
${deeds.length > 0 && actList(visit, { name: act.pet }, deeds)}
${ofApplications.length > 0 && html`<ol class="deeds">${ofApplications}</ol>`}
<p>Undo that first, the last one first, if it can still be undone; or change things by hand.</p>`;
}

const placeOf = (visit: Visit, { kind, petId }: UndoableAct): string =>
  (kind === 'accepted' || kind === 'declined') && visit.may(decides) ? `/applications/pets/${petId}` : pathOf({ id: petId });
