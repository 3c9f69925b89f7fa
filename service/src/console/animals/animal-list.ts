import { Type } from 'typebox';
import { NewPetSchema } from '../../animals/pets/pet-schemas.ts';
import { createPet } from '../../animals/pets/pets.ts';
import type { PictureFile } from '../../animals/photos/photo-json.ts';
import { type PetStatus, petStatuses } from '../../domain/pet-statuses.ts';
import { parseInt64 } from '../../platform/db/int64.ts';
import { AppError } from '../../platform/errors.ts';
import { type Html, html } from '../../platform/html.ts';
import {
  countAnimalsForStaff,
  findAnimalForStaff,
  listAnimalsForStaff,
  type StaffAnimal,
  type StaffAnimalPage,
  type StateCounts,
} from '../../search/listings/staff-list.ts';
import type { Choice } from '../forms/fields.ts';
import { type Column, emptyState, icon, pageLinks, table, withQuery } from '../frame/elements.ts';
import { dayText } from '../frame/times.ts';
import type { PageRoute, Screens } from '../screens/screens.ts';
import type { Visit } from '../screens/visit.ts';
import { leftPath } from './animal-leaving.ts';
import { litterPath } from './animal-litter.ts';
import { categoryName, stateLabel, statusWords } from './animal-words.ts';
import { type AnimalParts, categoryChoices, categoryField, registrantOf, toChange, toDescribe } from './one-animal.ts';

const path = '/animals';
const pageSize = 50;
/** More than these are not counted. */
const countedMax = 1_000;
const searchLengthMax = 100;

const { name, categoryId } = NewPetSchema.properties;
const newAnimal = Type.Object({ name, categoryId });

/** The animals of a shelter, or of the store: to find one, and to add one. */
export function addAnimalList(screens: Screens, { db, clock, config }: AnimalParts): PageRoute {
  const list: PageRoute = screens.page({
    path,
    needs: 'pets:read',
    place: { name: 'Animals', icon: 'paw', order: 2 },
    show: async (visit) => {
      const { caller, query } = visit;
      const asked = readQuery(query);
      const page = { cursor: query.get('cursor') ?? undefined, limit: pageSize, nowMs: clock.now() };
      const [found, counts, categories, added] = await Promise.all([
        unlessBusy(listAnimalsForStaff(db, caller, asked, page)),
        countAnimalsForStaff(db, caller, countedMax + 1),
        categoryChoices(db),
        findAdded(visit),
      ]);
      return {
        title: 'Animals',
        main: html`<h1>Animals</h1>
${visit.may('pets:write') && quickAdd(visit, categories, { added, isEmpty: sum(counts) === 0 })}
${stateTabs(visit, counts)}
${filterForm(query, categories)}
${found ? pageOf(visit, found, sum(counts) === 0) : busySearch}`,
      };
    },
  });

  const add = screens.form({
    path: '/animals/add',
    page: list,
    needs: 'pets:write',
    fields: newAnimal,
    act: async ({ visit, tx, values }) => {
      const { caller } = visit;
      const rules = { categories: config.categories, shelterId: caller.shelterId, registrant: registrantOf(caller) };
      const pet = await createPet(tx, values, caller, rules);
      return { to: `${path}?added=${pet.id}`, done: `${pet.name} is added, with the number ${pet.id}.` };
    },
  });

  /**
   * Who adds one animal adds others: the name has the focus again, and the category stays. The first time it is chosen: who types a name and
   * presses Enter would add a bird. On a phone it is folded, so that the animals are on the first screen.
   */
  const quickAdd = (
    visit: Visit,
    categories: readonly Choice[],
    { added, isEmpty }: { readonly added: StaffAnimal | undefined; readonly isEmpty: boolean },
  ): Html => html`<details class="card quick"${(isEmpty || added || visit.rejected) && html` open`}><summary>${icon('plus')}Add an animal</summary>
${visit.form(
  add,
  {
    submit: html`${icon('plus')}Add`,
    values: { categoryId: added?.categoryId ?? (categories.length === 1 ? categories[0]?.value : undefined) },
  },
  (fields) =>
    html`${fields.text('name', 'Name of a new animal', { isFirst: added !== undefined, key: 'n' })}
${categoryField(fields, categories, added, { mustChoose: !added && categories.length > 1 })}`,
)}
${added && html`<p><a href="${path}/${added.id}">Describe <bdi>${added.name}</bdi></a> <span class="soft">or add the next one.</span></p>`}
${visit.may(toDescribe) && html`<div class="litter"><a href="${litterPath}">Add a litter</a> <span class="soft">with one profile for all.</span></div>`}
</details>`;

  async function findAdded({ query, caller }: Visit): Promise<StaffAnimal | undefined> {
    const id = parseInt64(query.get('added') ?? '');
    return id === undefined ? undefined : findAnimalForStaff(db, caller, id);
  }

  const pageOf = (visit: Visit, { animals, next }: StaffAnimalPage, isEmpty: boolean): Html =>
    html`${animals.length > 0 ? rowsOf(visit, animals) : whyEmpty(visit.query, { isEmpty, isLast: next === undefined })}
${pageLinks(path, withoutAdded(visit.query), next)}`;

  function rowsOf({ caller, workplace }: Visit, animals: readonly StaffAnimal[]): Html {
    const columns: [Column<StaffAnimal>, ...Column<StaffAnimal>[]] = [
      {
        name: 'Name',
        cell: ({ id, name: called, thumbnail: file }) =>
          html`<span class="named">
${thumbnail(file, config.photosUrl)}
<span><a href="${path}/${id}" data-row><bdi>${called}</bdi></a><span class="soft small number">${id}</span></span>
</span>`,
      },
      { name: 'Category', cell: categoryName },
      {
        name: 'Status',
        cell: (animal) => html`<span>${stateLabel(animal)}${endOf(animal, workplace.zone)}</span>`,
      },
      ...(caller.shelterId === null
        ? [
            {
              name: 'Shelter',
              cell: ({ shelter }: StaffAnimal) => html`<a href="${path}?shelter=${shelter.id}"><bdi>${shelter.name}</bdi></a>`,
            },
          ]
        : []),
    ];
    return table('Animals', animals, columns);
  }

  return list;
}

/** When its hold ends. */
const endOf = ({ hold }: StaffAnimal, zone: string): Html | false =>
  hold?.until != null && html` <span class="soft small">until ${dayText(zone, hold.until)}</span>`;

type State = PetStatus | 'held';
const states: readonly State[] = ['available', 'pending', 'held', 'sold'];
const stateName = (state: State) => (state === 'held' ? 'On hold' : statusWords[state].name);

/** What is none of the values is left out, as if it were not asked for. */
function readQuery(query: URLSearchParams) {
  const status = query.get('status');
  const q = query.get('q')?.trim().slice(0, searchLengthMax);
  return {
    status: petStatuses.find((one) => one === status),
    isHeld: status === 'held',
    categoryId: parseInt64(query.get('category') ?? ''),
    shelterId: parseInt64(query.get('shelter') ?? ''),
    lacksPhoto: query.get('photo') === 'none',
    q: q === '' ? undefined : q,
  };
}

const withoutAdded = (query: URLSearchParams) => new URLSearchParams([...query].filter(([key]) => key !== 'added'));

const isFiltered = (query: URLSearchParams) => ['q', 'category', 'shelter', 'photo'].some((key) => (query.get(key) ?? '') !== '');

/** The counts are of all animals, so they are only shown beside all of them. */
function stateTabs(visit: Visit, counts: StateCounts): Html {
  const query = withoutAdded(visit.query);
  const chosen = query.get('status') ?? '';
  const tab = (value: string, label: string, number?: number) => {
    const current = value === chosen && html` aria-current="true"`;
    const counted = number !== undefined && !isFiltered(query) && html` <span class="number soft">${upTo(number)}</span>`;
    return html`<a href="${withQuery(path, query, { status: value })}"${current}>${label}${counted}</a>
`;
  };
  return html`<nav class="tabs" aria-label="Status">
${tab('', 'All')}
${states.map((state) => tab(state, stateName(state), counts[state]))}
${visit.may(toChange) && html`<a href="${leftPath}">Left</a>`}
</nav>`;
}

const upTo = (number: number): string => (number > countedMax ? `${countedMax.toLocaleString('en')}+` : number.toLocaleString('en'));
const sum = (counts: StateCounts): number => counts.available + counts.pending + counts.sold;

function filterForm(query: URLSearchParams, categories: readonly Choice[]): Html {
  const kept = (key: string) => (query.get(key) ?? '') !== '' && html`<input type="hidden" name="${key}" value="${query.get(key) ?? ''}">`;
  const chosen = query.get('category') ?? '';
  const lacksPhoto = query.get('photo') === 'none';
  const bounds = html`maxlength="${searchLengthMax}" autocomplete="off"`;
  const unfiltered = withQuery(path, new URLSearchParams(), { status: query.get('status') ?? '' });
  return html`<form class="filters" action="${path}" role="search">
${kept('status')}
${kept('shelter')}
<div class="field">
<label for="q">Search</label>
<input id="q" name="q" type="search" value="${query.get('q') ?? ''}" ${bounds} placeholder="Name, number or words" data-key="/">
</div>
<button class="button quiet">${icon('search')}Search</button>
<details${(chosen !== '' || lacksPhoto) && html` open`}><summary>More filters</summary><div>
${categories.length > 0 && categoryFilter(categories, chosen)}
<label class="tick"><input type="checkbox" name="photo" value="none"${lacksPhoto && html` checked`}><span>Without a photo</span></label>
<button class="button quiet">Show</button>
</div></details>
${isFiltered(query) && html`<a class="clear" href="${unfiltered}">Clear search and filters</a>`}
</form>`;
}

function categoryFilter(categories: readonly Choice[], chosen: string): Html {
  const option = ({ value, label }: Choice) =>
    html`<option value="${value}"${String(value) === chosen && html` selected`}>${label}</option>`;
  return html`<div class="field">
<label for="category">Category</label>
<select id="category" name="category"><option value="">All</option>${categories.map(option)}</select>
</div>`;
}

function whyEmpty(query: URLSearchParams, { isEmpty, isLast }: { isEmpty: boolean; isLast: boolean }): Html {
  if (isEmpty) return emptyState('paw', 'No animals yet', 'Add the first one above: a name and a category are enough to begin with.');
  if (!isLast)
    return emptyState('search', 'None so far', 'None of the newest animals fits. Look on: the next page goes on with those before them.');
  const all = html`<a class="button quiet" href="${path}">Show all animals</a>`;
  if (query.has('cursor')) return emptyState('search', 'No more animals', 'That were all that fit.', all);
  return emptyState('search', 'No animal fits', 'Check how it is written, or ask for less.', all);
}

/** Undefined: the search has not got its turn in the time of a person. */
export const unlessBusy = <Found>(search: Promise<Found>): Promise<Found | undefined> =>
  search.catch((error: unknown) => {
    if (error instanceof AppError && error.code === 'too_many_searches') return undefined;
    throw error;
  });

export const busySearch = html`<p role="alert">So many of your colleagues are searching that this search has not got its turn.
What you typed is still here: reload the page in a few seconds.</p>`;

/** A small square picture, or a drawing in its place. It says nothing that the name beside it does not say. */
const thumbnail = (file: PictureFile | undefined, photosUrl: string): Html =>
  file
    ? html`<img class="thumb" src="${photosUrl}/${file.hash}.webp" width="56" height="56" alt="" loading="lazy" decoding="async">`
    : html`<span class="thumb">${icon('paw')}</span>`;
