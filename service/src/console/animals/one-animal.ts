import type { PersonCaller } from '../../access/principals/principals.ts';
import { getDeparture } from '../../adoption/outcomes/outcomes.ts';
import { type Registrant, readNamedCategories } from '../../animals/categories/categories.ts';
import { isUnlimited, scopesThat } from '../../domain/scopes.ts';
import type { Clock } from '../../platform/clock.ts';
import type { Config } from '../../platform/config.ts';
import type { Db, Searcher, Transactor } from '../../platform/db/handles.ts';
import { AppError, type ErrorCode } from '../../platform/errors.ts';
import { type Html, type HtmlValue, html } from '../../platform/html.ts';
import { findAnimalForStaff, type StaffAnimal } from '../../search/listings/staff-list.ts';
import type { Choice, Fields } from '../forms/fields.ts';
import { icon } from '../frame/elements.ts';
import { FormError, notFound, PageError } from '../screens/page-error.ts';
import type { Visit } from '../screens/visit.ts';
import { categoryName } from './animal-words.ts';

/** What the screens of animals are made of. */
export interface AnimalParts {
  readonly db: Transactor & Searcher & Db;
  readonly clock: Clock;
  readonly config: Pick<Config, 'categories' | 'photosUrl'>;
  /** An origin. */
  readonly consoleUrl: string;
  /** Mail is on: adopters are told. */
  readonly mails: boolean;
}

/** What staff may do with an animal, and volunteers may not. */
export const toChange = scopesThat('changePets');
/** To write its profile and send photos: volunteers may, too. */
export const toDescribe = scopesThat('describePets');

/** The animal of the page. One of another shelter is not found, like one that there is not. */
export async function getAnimal(db: Db, visit: Visit): Promise<StaffAnimal> {
  const animal = await findAnimalForStaff(db, visit.caller, visit.id('petId'));
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
    (await findAnimalForStaff(db, visit.caller, id)) ??
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

/** An animal that was marked as adopted has no order. */
export const ifBack = (name: string): string =>
  `If it came back, choose “${name} came back” on its order. If it has no order, make it available on its page.`;

/** What the operations reject, as somebody in front of a page can act on it: their own messages are for programs. */
const inWords: Partial<Record<ErrorCode, (name: string) => string>> = {
  pet_has_open_order: (name) => `${name} is reserved by an order. Decide on the order first.`,
  pet_on_hold: (name) => `${name} is on hold. End the hold first: then ${name} is available, unless an order reserves it.`,
  pet_not_available: (name) => `${name} is adopted. Only an animal that is available or pending can be held.`,
  pet_is_sold: (name) => `${name} is adopted, so there is nothing else to note. ${ifBack(name)}`,
  outcome_final: (name) => `It is too late: ${name} has left more than 30 days ago. If it is back, add it again.`,
  category_not_found: () => 'There is no such category. Choose another one.',
};

/** Carries out an act on the animal with this name. */
export async function inWordsOf<T>(name: string, act: () => Promise<T>): Promise<T> {
  try {
    return await act();
  } catch (error) {
    const words = error instanceof AppError ? inWords[error.code] : undefined;
    if (!words) throw error;
    throw new FormError(words(name));
  }
}

const namedMax = 200;

/** The categories that staff have named, by name. A store without names has none to choose from: then a number is typed. */
export async function categoryChoices(db: Db): Promise<Choice[]> {
  const categories = await readNamedCategories(db, namedMax);
  return categories.toSorted((a, b) => a.name.localeCompare(b.name)).map(({ id, name }) => ({ value: id, label: name }));
}

/** To choose among named categories, or to type a number. */
export function categoryField(
  fields: Fields,
  categories: readonly Choice[],
  animal: StaffAnimal | undefined,
  { mustChoose = false }: { readonly mustChoose?: boolean } = {},
): Html {
  if (categories.length === 0) return fields.text('categoryId', 'Category');
  return fields.select('categoryId', 'Category', [...(mustChoose ? [toChoose] : []), ...withChosen(categories, animal)]);
}

const toChoose: Choice = { value: '', label: 'Choose' };

/** With the category of the animal, which may have no name. */
const withChosen = (categories: readonly Choice[], animal: Pick<StaffAnimal, 'category' | 'categoryId'> | undefined): Choice[] =>
  animal === undefined || categories.some(({ value }) => value === animal.categoryId)
    ? [...categories]
    : [...categories, { value: animal.categoryId, label: categoryName(animal) }];

export const registrantOf = ({ scopes, clientId, bounds }: PersonCaller): Registrant | undefined =>
  isUnlimited(scopes) ? undefined : { clientId, perDayMax: bounds.newCategoriesPerDay };
