import { scopesThat } from '../../domain/scopes.ts';
import type { Db } from '../../platform/db/handles.ts';
import { type Html, type HtmlValue, html } from '../../platform/html.ts';
import { listActsOfPet } from '../../store/history/history-list.ts';
import { findForStaff, type StaffAnimal } from '../../store/listings/staff-list.ts';
import { icon } from '../frame/icons.ts';
import { notFound } from '../screens/page-error.ts';
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

export const noAnimal = () => notFound('There is no such animal here. It may have left, or be in another shelter.');

export const pathOf = ({ id }: Pick<StaffAnimal, 'id'>): string => `/animals/${id}`;

/** The top of each page about one animal. */
export const headOf = (
  animal: StaffAnimal,
  title: HtmlValue,
): Html => html`<a class="crumb" href="${pathOf(animal)}">${icon('back')}<bdi>${animal.name}</bdi></a>
<h1>${title}</h1>`;

/** The last thing that was done with the animal, for who has tried to change it at the same time. */
export async function explainChange(db: Db, visit: Visit): Promise<string> {
  const animal = await getAnimal(db, visit);
  const [last] = await listActsOfPet(db, animal.id, { limit: 1 });
  return last ? `Meanwhile, ${actText(last, animal.name, visit)}.` : 'Somebody else has changed this animal meanwhile.';
}
