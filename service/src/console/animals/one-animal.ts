import { scopesThat } from '../../domain/scopes.ts';
import type { Db } from '../../platform/db/handles.ts';
import { AppError } from '../../platform/errors.ts';
import { type Html, type HtmlValue, html } from '../../platform/html.ts';
import { listActsOfPet } from '../../store/history/history-list.ts';
import { findForStaff, type StaffAnimal } from '../../store/listings/staff-list.ts';
import { getDeparture } from '../../store/outcomes/outcomes.ts';
import { icon } from '../frame/elements.ts';
import { notFound, PageError } from '../screens/page-error.ts';
import type { Visit } from '../screens/visit.ts';
import { actText } from './act-words.ts';

/** What staff may do with an animal, and volunteers may not. */
export const toChange = scopesThat('changePets');
/** To write its profile and send photos: volunteers may, too. */
export const toDescribe = scopesThat('describePets');

/** The animal of the page. One of another shelter is not found, like one that there is not. */
export async function getAnimal(db: Db, visit: Visit): Promise<StaffAnimal> {
  const animal = await findForStaff(db, visit.caller, visit.id('petId'));
  if (!animal) throw noAnimal();
  return animal;
}

/** An animal that has left. Who may not know of it finds nothing, as if it had never been there. */
export async function findDeparture(db: Db, visit: Visit, petId = visit.id('petId')): ReturnType<typeof getDeparture> {
  try {
    return await getDeparture(db, petId, visit.caller);
  } catch (error) {
    if (error instanceof AppError && error.status < 500) throw noAnimal();
    throw error;
  }
}

/** The name of an animal, as a link for who can open its page: it may be in another shelter by now, or removed. */
export async function linkToAnimal(db: Db, visit: Visit, { id, name }: Pick<StaffAnimal, 'id' | 'name'>): Promise<Html> {
  const isShown =
    (await findForStaff(db, visit.caller, id)) ??
    (await findDeparture(db, visit, id).catch((error: unknown) => {
      if (error instanceof PageError) return undefined;
      throw error;
    }));
  return isShown ? html`<a href="${pathOf({ id })}"><bdi>${name}</bdi></a>` : html`<bdi>${name}</bdi>`;
}

const noAnimal = () => notFound('There is no such animal here. It may have left, or be in another shelter.');

export const pathOf = ({ id }: Pick<StaffAnimal, 'id'>): string => `/animals/${id}`;

/** The top of each page about one animal. */
export const headOf = (
  animal: StaffAnimal,
  title: HtmlValue,
): Html => html`<a class="crumb" href="${pathOf(animal)}">${icon('back')}<bdi>${animal.name}</bdi></a>
<h1>${title}</h1>`;

/** The last thing that was done with the animal, for who has tried to change it at the same time. */
export async function explainChange(db: Db, visit: Visit): Promise<Html | string> {
  const animal = await getAnimal(db, visit);
  return (await lastAct(db, visit, animal)) ?? 'Somebody else has changed this animal meanwhile.';
}

const lookedThroughMax = 50;

/** Who did what and when, of these kinds or of all, as a sentence. For an animal that the person has found. */
export async function lastAct(
  db: Db,
  visit: Visit,
  { id, name }: Pick<StaffAnimal, 'id' | 'name'>,
  kinds?: readonly string[],
): Promise<Html | undefined> {
  const acts = await listActsOfPet(db, id, { limit: kinds ? lookedThroughMax : 1 });
  const last = kinds ? acts.find(({ kind }) => kind !== null && kinds.includes(kind)) : acts[0];
  return last && html`Meanwhile, ${actText(last, name, visit)} (${visit.times.at(last.at)}).`;
}
