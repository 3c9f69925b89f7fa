import { Type } from 'typebox';
import { shelterEtag } from '../../adoption/shelters/shelter-json.ts';
import type { Shelter } from '../../adoption/shelters/shelter-schemas.ts';
import { type Opening, type OpeningHours, openingExceptionsMax, type Weekday, weekdays } from '../../domain/opening-hours.ts';
import type { Clock } from '../../platform/clock.ts';
import { isDay } from '../../platform/clock.ts';
import { type Html, html } from '../../platform/html.ts';
import { table } from '../frame/elements.ts';
import { dayIn, dayText, zoneOf } from '../frame/times.ts';
import { FormError, faultsOf } from '../screens/page-error.ts';
import type { PageRoute, Screens, Submission } from '../screens/screens.ts';
import type { Visit } from '../screens/visit.ts';
import {
  explainSettings,
  getSettled,
  type ShelterParts,
  settle,
  shelterHead,
  shelterPath,
  shelterPathOf,
  toSettle,
} from './one-shelter.ts';
import { openingsText, readOpenings } from './opening-hours-text.ts';

const typed = Type.Optional(Type.String({ maxLength: 100 }));
const week = Type.Object(Object.fromEntries(weekdays.map((day) => [day, typed])) as Record<Weekday, typeof typed>);
const date = Type.String({ pattern: '^\\d{4}-\\d{2}-\\d{2}$', 'x-must-be': 'a date' });
const exceptional = Type.Object({ date, hours: typed });
const hint = 'Such as 10–17 or 10–12, 14–17:30. Left empty: closed.';

export const weekdayName = (day: Weekday): string => `${day.slice(0, 1).toUpperCase()}${day.slice(1)}`;

/** When visitors may come: the week, and the days that differ. */
export function addShelterHours(screens: Screens, { db, mails, clock }: ShelterParts & { readonly clock: Clock }): void {
  const path = `${shelterPath}/hours`;
  const page: PageRoute = screens.page({
    path,
    needs: toSettle,
    show: async (visit) => {
      const shelter = await getSettled(db, visit);
      const version = shelterEtag(shelter);
      const { weekly, exceptions } = hoursOf(shelter);
      return {
        title: 'Opening hours',
        main: html`${shelterHead(shelter, 'Opening hours')}
<p>By the clocks ${zoneText(shelter)}.
Sites of partners say from them whether you are open.</p>
<section class="card"><h2>The week</h2>
${visit.form(
  saveWeek,
  { submit: 'Save the week', values: Object.fromEntries(weekdays.map((day) => [day, openingsText(weekly[day] ?? [])])), version },
  (fields) => html`${weekdays.map((day, i) => fields.text(day, weekdayName(day), i === 0 ? { hint } : {}))}`,
)}</section>
<section class="card"><h2>Days that differ</h2>
${exceptions.length > 0 && exceptionTable(visit, exceptions, version)}
${
  exceptions.length < openingExceptionsMax
    ? visit.form(
        addDay,
        { submit: 'Add the day', tone: 'quiet', version },
        (fields) => html`${fields.text('date', 'Day', { type: 'date' })}
${fields.text('hours', 'Hours', { hint })}`,
      )
    : html`<p>These are ${openingExceptionsMax}, as many as there can be. Days that are over go by themselves.</p>`
}</section>`,
      };
    },
  });

  const exceptionTable = (visit: Visit, exceptions: OpeningHours['exceptions'], version: string): Html =>
    table('Days that differ', exceptions, [
      { name: 'Day', cell: (one) => dayText('UTC', new Date(`${one.date}T12:00:00Z`)) },
      { name: 'Hours', cell: ({ hours }) => (hours.length === 0 ? 'Closed' : openingsText(hours)) },
      {
        name: 'Acts',
        isActs: true,
        cell: (one) =>
          visit.form(removeDay, { submit: 'Remove', tone: 'quiet', isInline: true, values: { date: one.date }, version }, (fields) =>
            fields.hidden('date'),
          ),
      },
    ]);

  /** Days that are over are left out: they would fill the list. */
  function hoursOf({ openingHours, timezone }: Shelter): OpeningHours {
    const today = dayIn(zoneOf(timezone), new Date(clock.now()));
    const { weekly = {}, exceptions = [] } = openingHours ?? {};
    return { weekly, exceptions: exceptions.filter((one) => one.date >= today) };
  }

  const save = (submission: Submission<unknown>, { weekly, exceptions }: OpeningHours, done: string) => {
    const isNothing = exceptions.length === 0 && Object.keys(weekly).length === 0;
    const to = `${shelterPathOf({ id: submission.visit.id('shelterId') })}/hours`;
    return settle(submission, { openingHours: isNothing ? null : { weekly, exceptions } }, { mails, done, to });
  };

  const saveWeek = screens.form({
    path: `${path}/week`,
    page,
    needs: toSettle,
    fields: week,
    explainConflict: explainSettings,
    check: (_, values) => faultsOf(...weekdays.map((day) => () => openingsIn(values, day))),
    act: async (submission) => {
      const { exceptions } = hoursOf(await getSettled(submission.joined, submission.visit));
      const weekly = Object.fromEntries(
        weekdays.flatMap((day) => {
          const hours = openingsIn(submission.values, day);
          return hours.length > 0 ? [[day, hours] as const] : [];
        }),
      );
      return save(submission, { weekly, exceptions }, 'The week is saved.');
    },
  });

  const addDay = screens.form({
    path: `${path}/add`,
    page,
    needs: toSettle,
    fields: exceptional,
    explainConflict: explainSettings,
    check: (_, values) =>
      faultsOf(
        () => requireDay(values.date),
        () => openingsIn(values, 'hours'),
      ),
    act: async (submission) => {
      const { values, visit, joined } = submission;
      const { weekly, exceptions } = hoursOf(await getSettled(joined, visit));
      const day = requireDay(values.date);
      const others = exceptions.filter((one) => one.date !== day);
      return save(submission, { weekly, exceptions: [...others, { date: day, hours: openingsIn(values, 'hours') }] }, 'The day is added.');
    },
  });

  const removeDay = screens.form({
    path: `${path}/remove`,
    page,
    needs: toSettle,
    fields: Type.Object({ date }),
    explainConflict: explainSettings,
    act: async (submission) => {
      const { weekly, exceptions } = hoursOf(await getSettled(submission.joined, submission.visit));
      const others = exceptions.filter((one) => one.date !== submission.values.date);
      return save(submission, { weekly, exceptions: others }, 'That day is like its weekday again.');
    },
  });
}

const zoneText = (shelter: Shelter): Html | string =>
  shelter.timezone === null
    ? html`of your time zone, which nobody has said yet: <a href="${shelterPathOf(shelter)}/contact">say it first</a>`
    : `of ${shelter.timezone}`;

function openingsIn(values: Readonly<Record<string, string | undefined>>, field: string): readonly Opening[] {
  const read = readOpenings(values[field] ?? '');
  if (typeof read === 'string') throw new FormError(read, field);
  return read;
}

function requireDay(text: string | undefined): string {
  if (text === undefined || !isDay(text)) throw new FormError('There is no such day.', 'date');
  return text;
}
