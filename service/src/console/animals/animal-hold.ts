import { Type } from 'typebox';
import { endsHold, holdReasons } from '../../domain/holds.ts';
import type { Db } from '../../platform/db/handles.ts';
import { AppError } from '../../platform/errors.ts';
import { html } from '../../platform/html.ts';
import { StringEnum } from '../../platform/http/schemas.ts';
import { findOrderedPets } from '../../store/orders/orders.ts';
import { type Hold, NewHoldSchema } from '../../store/pets/hold-schemas.ts';
import { endHold, getHold, holdPet } from '../../store/pets/holds.ts';
import { FormError, faultsOf } from '../screens/page-error.ts';
import type { PageRoute, Screens } from '../screens/screens.ts';
import type { Visit } from '../screens/visit.ts';
import { inWordsOf } from './animal-errors.ts';
import type { AnimalParts } from './animal-parts.ts';
import { holdWords } from './animal-words.ts';
import { dayIn, dayText, endOfDay } from './days.ts';
import { getAnimal, headOf, pathOf, toChange } from './one-animal.ts';

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
          main: html`${headOf(animal, 'Hold')}<section class="card"><p><bdi>${name}</bdi> is adopted. Only an animal that is available or pending can be held.</p></section>`,
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
          { submit: current ? 'Save the hold' : 'Hold', values },
          (fields) => html`${fields.choices('reason', 'Why', reasons)}
${fields.text('until', 'Until', { type: 'date', hint: 'The last day of the hold: it ends by itself then. Left empty, it lasts until somebody ends it.' })}
${fields.area('note', 'Note', { hint: 'Only staff read it.', rows: 3 })}`,
        )}</section>
${current && html`<section class="card"><h2>End the hold</h2><p>Then <bdi>${name}</bdi> is available, unless an order reserves it or it was pending before.</p>${visit.form(end, { submit: 'End the hold', tone: 'quiet' })}</section>`}`,
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
    act: async ({ visit, joined, values: { reason, until, note } }) => {
      const animal = await getAnimal(joined, visit);
      const current = animal.hold && (await findHold(joined, animal.id, visit));
      const time = endOf(until, current, visit);
      const given = { reason, ...(time && { until: time.toISOString() }), ...(note && { note }) };
      const options = { findOrderedPets, nowMs: clock.now() };
      await inWordsOf(animal.name, () => holdPet(joined, animal.id, given, visit.caller, options));
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

  const end = screens.form({
    path: '/animals/:petId/hold/end',
    page,
    needs: toChange,
    fields: Type.Object({}),
    act: async ({ visit, joined }) => {
      const animal = await getAnimal(joined, visit);
      await endHold(joined, animal.id, visit.caller, findOrderedPets);
      const { status } = await getAnimal(joined, visit);
      return { to: pathOf(animal), done: `The hold of ${animal.name} has ended: it is ${status}.` };
    },
  });
}

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
