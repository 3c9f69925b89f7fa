import { Type } from 'typebox';
import { listActsToUndo, type UndoableAct } from '../../adoption/undo/undo.ts';
import type { UndoableKind } from '../../domain/undo.ts';
import type { Db } from '../../platform/db/handles.ts';
import { parseInt64 } from '../../platform/db/int64.ts';
import { type Html, html } from '../../platform/html.ts';
import { icon } from '../frame/elements.ts';
import type { Visit } from './visit.ts';

/** The form on every page that takes back what was just done. */
export const undoForm = { path: '/acts/:actId/undo', fields: Type.Object({}) };

const shownMax = 5;

/** Above each page: what its visitor has just done and can undo; on the pages of an animal for an admin also what others have done with it. */
export async function undoStrip(db: Db, visit: Visit): Promise<Html | undefined> {
  const petId = parseInt64(visit.params['petId'] ?? '');
  const acts = await listActsToUndo(db, visit.caller, { petId, limit: shownMax });
  return acts.length === 0 ? undefined : html`${acts.map((act) => lineOf(visit, act))}`;
}

const lineOf = (visit: Visit, act: UndoableAct): Html => html`<section class="banner info undo" aria-label="Undo">
${icon('back')}
<div><p>${deedOf(act, visit)} You can undo it until ${visit.times.second(act.finalAt)}.</p>
${visit.form(undoForm, { submit: 'Undo', tone: 'quiet', isInline: true, params: { actId: act.id } })}</div>
</section>
`;

/** A sentence about what somebody has done. */
export function deedOf({ kind, pet, personId, person }: UndoableAct, { person: reader }: Visit): Html {
  const who = personId === reader.id ? 'You' : html`<bdi>${person ?? 'Somebody who has left'}</bdi>`;
  const [before, after = ''] = words[kind];
  return html`${who} ${before} <bdi>${pet}</bdi>${after}.`;
}

/** What comes before and after the name of the animal. */
const words: Readonly<Record<UndoableKind, readonly [string, string?]>> = {
  adopted: ['marked', ' as adopted'],
  accepted: ['accepted an application for'],
  declined: ['declined an application for'],
  handed_over: ['handed over'],
  taken_back: ['took back'],
  left: ['noted that', ' has left'],
  removed: ['removed'],
  held: ['put a hold on'],
  hold_ended: ['ended the hold of'],
  photo_removed: ['removed a photo of'],
};
