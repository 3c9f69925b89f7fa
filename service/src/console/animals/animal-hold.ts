import { hash } from 'node:crypto';
import { Type } from 'typebox';
import { requireEtag } from '../../access/admission/admission-hook.ts';
import { findOrderedPets } from '../../adoption/orders/orders.ts';
import { actUndoably } from '../../adoption/undo/undo.ts';
import { type Hold, NewHoldSchema } from '../../animals/pets/hold-schemas.ts';
import { endHold, getHold, holdPet } from '../../animals/pets/holds.ts';
import { lockPetRows } from '../../animals/pets/pets.ts';
import { endsHold, holdChanges, holdReasons } from '../../domain/holds.ts';
import type { Db, Transaction } from '../../platform/db/handles.ts';
import { AppError } from '../../platform/errors.ts';
import { type Html, html } from '../../platform/html.ts';
import { StringEnum } from '../../platform/http/schemas.ts';
import type { StaffAnimal } from '../../search/listings/staff-list.ts';
import { dayIn, dayText, endOfDay } from '../frame/times.ts';
import { FormError, faultsOf } from '../screens/page-error.ts';
import type { PageRoute, Screens } from '../screens/screens.ts';
import type { Visit } from '../screens/visit.ts';
import { lastAct } from './animal-history.ts';
import { holdWords } from './animal-words.ts';
import { type AnimalParts, getAnimal, headOf, inWordsOf, pathOf, toChange } from './one-animal.ts';

const day = Type.Optional(Type.Union([Type.String({ pattern: '^\\d{4}-\\d{2}-\\d{2}$', 'x-must-be': 'a date' }), Type.Null()]));
const holding = Type.Object({
  reason: StringEnum(holdReasons),
  until: day,
  note: Type.Optional(Type.Union([NewHoldSchema.properties.note, Type.Null()])),
});

/** Keeps an animal back for a while. */
export function addAnimalHold(screens: Screens, { db, clock }: AnimalParts): void {
  const page: PageRoute = screens.page({
    path: '/animals/:petId/hold',
    needs: toChange,
    show: async (visit) => {
      const animal = await getAnimal(db, visit);
      const { zone } = visit.workplace;
      const { name } = animal;
      if (endsHold(animal.status)) {
        return {
          title: `Hold of ${name}`,
          main: html`${headOf(animal, 'Hold')}
<section class="card">
<p><bdi>${name}</bdi> is adopted. Only an animal that is available or pending can be held.</p>
</section>`,
        };
      }
      const current = animal.hold && (await findHold(db, animal.id, visit));
      const values = current ? { ...current, until: current.until && dayIn(zone, current.until) } : {};
      const reasons = holdReasons.map((reason) => ({ value: reason, label: holdWords[reason].name, hint: holdWords[reason].hint }));
      return {
        title: `Hold of ${name}`,
        main: html`${headOf(animal, current ? 'Change the hold' : 'Hold')}
<p>While <bdi>${name}</bdi> is on hold, it is pending: adopters still see it and can apply for it, and nobody can order it.</p>
<section class="card">${visit.form(
          hold,
          { submit: current ? 'Save the hold' : 'Hold', values, version: versionOf(current) },
          (fields) => html`${fields.choices('reason', 'Why', reasons)}
${fields.text('until', 'Until', { type: 'date', hint: 'The last day of the hold: it ends by itself then. Left empty, it lasts until somebody ends it.' })}
${fields.area('note', 'Note', { hint: 'Staff and volunteers read it on the page of the animal, with your name. It is not on the kennel card.', rows: 3 })}`,
        )}</section>
${current && endOfHold(visit, name, current)}`,
      };
    },
  });

  const hold = screens.form({
    path: '/animals/:petId/hold/save',
    page,
    needs: toChange,
    fields: holding,
    check: async (visit, { until }) => {
      const animal = await getAnimal(db, visit);
      const current = animal.hold && (await findHold(db, animal.id, visit));
      return faultsOf(() => endOf(until, current, visit));
    },
    explainConflict: (visit) => explainHold(db, visit),
    act: async ({ visit, tx, joined, values: { reason, until, note }, version }) => {
      const animal = await getAnimal(tx, visit);
      const current = await lockHold(tx, animal, visit);
      requireEtag(version, versionOf(current), animal.name);
      const time = endOf(until, current, visit);
      const given = { reason, ...(time && { until: time.toISOString() }), ...(note && { note }) };
      const options = { findOrderedPets, nowMs: clock.now() };
      await actUndoably(tx, { kind: 'held', petId: animal.id }, visit.caller, () =>
        inWordsOf(animal.name, () => holdPet(joined, animal.id, given, visit.caller, options)),
      );
      return {
        to: pathOf(animal),
        done: `${animal.name} is held${time ? ` until ${dayText(visit.workplace.zone, time)}` : ' until somebody ends it'}.`,
      };
    },
  });

  function endOf(until: string | null | undefined, current: Hold | undefined | null, visit: Visit): Date | undefined {
    const time = until ? timeOf(until, current ?? undefined, visit) : undefined;
    if (time && time.getTime() <= clock.now()) throw new FormError('Choose today or a later day.', 'until');
    return time;
  }

  const endOfHold = (visit: Visit, name: string, current: Hold): Html => html`<section class="card"><h2>End the hold</h2>
<p>Then <bdi>${name}</bdi> is available, unless an order reserves it or it was pending before.</p>
${visit.form(end, { submit: 'End the hold', tone: 'quiet', version: versionOf(current) })}</section>`;

  const end = screens.form({
    path: '/animals/:petId/hold/end',
    page,
    needs: toChange,
    fields: Type.Object({}),
    explainConflict: (visit) => explainHold(db, visit),
    act: async ({ visit, tx, joined, version }) => {
      const animal = await getAnimal(tx, visit);
      const ended = await lockHold(tx, animal, visit);
      // What somebody else has ended meanwhile has ended.
      if (ended) requireEtag(version, versionOf(ended), animal.name);
      await actUndoably(tx, { kind: 'hold_ended', petId: animal.id }, visit.caller, () =>
        endHold(joined, animal.id, visit.caller, findOrderedPets),
      );
      const { status } = await getAnimal(tx, visit);
      return {
        to: pathOf(animal),
        done: `The hold of ${animal.name} has ended: it is ${status}.`,
      };
    },
  });
}

/** Locks the animal, so that nobody changes its hold meanwhile. */
async function lockHold(tx: Transaction, { id }: StaffAnimal, visit: Visit): Promise<Hold | undefined> {
  await lockPetRows(tx, [id]);
  return findHold(tx, id, visit);
}

/** Of two people who hold one animal, the second reads what the first has stored. */
async function explainHold(db: Db, visit: Visit): Promise<Html> {
  const animal = await getAnimal(db, visit);
  const deed = await lastAct(db, visit, animal, [holdChanges.begin.kind, holdChanges.end.kind]);
  const current = await findHold(db, animal.id, visit);
  return html`${deed ?? 'Somebody else has changed the hold meanwhile.'}${current?.note != null && html` The note: “${current.note}”`}`;
}

const versionOf = (hold: Hold | undefined | null): string =>
  hash('sha256', JSON.stringify(hold ? [hold.reason, hold.until, hold.note] : []), 'base64url').slice(0, 16);

/** With its note. Undefined: it has just ended. */
async function findHold(db: Db, petId: bigint, { caller }: Visit): Promise<Hold | undefined> {
  return getHold(db, petId, caller).catch((error: unknown) => {
    if (error instanceof AppError && error.code === 'hold_not_found') return undefined;
    throw error;
  });
}

/** The end of the day. A hold that ends on it at another time, as a program has set it, stays as it is. */
function timeOf(chosen: string, current: Hold | undefined, { workplace: { zone } }: Visit): Date {
  if (current?.until && dayIn(zone, current.until) === chosen) return current.until;
  const time = endOfDay(zone, chosen);
  if (!time) throw new FormError('There is no such day.', 'until');
  return time;
}
