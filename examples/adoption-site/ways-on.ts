// Where a visitor can go on whose search has found nobody, or few.
import type { Category, PetListing } from '@homeward/sdk';
import { animalCard } from './animal-card.ts';
import type { Catalogue, ListingPage } from './catalogue.ts';
import { type Chosen, nameOf } from './chosen-filters.ts';
import { addressOf, type Filter, isNarrow, ofKind, withinKmChoices } from './filter.ts';
import type { Place } from './filter-form.ts';
import { type Html, html } from './html.ts';
import { understoodFilter } from './understood-words.ts';

/** Up to as many are few. */
const fewMax = 3;
const othersMax = 4;

export const areFew = ({ cursor }: Filter, { items, cursor: next }: ListingPage): boolean =>
  cursor === undefined && next === undefined && items.length <= fewMax;

/**
 * Others of the kind that is asked for, also with words: who looks for a dog is shown no cats. Of all kinds if none is asked for, or if the
 * whole list is empty. They are of the first page of a list, which is cached.
 */
export async function findOthers(filter: Filter, page: ListingPage, catalogue: Catalogue): Promise<readonly PetListing[]> {
  const found = new Set(page.items.map(({ pet }) => String(pet.id)));
  const kind = ofKind(understoodFilter({ ...filter, cursor: undefined }, page.understoodAs));
  const lists = isNarrow(filter) ? [kind] : [{ status: 'available', goodWith: [] } as const];
  for (const list of lists) {
    // The page is useful without.
    const read = await catalogue.page(list).catch(() => undefined);
    const others = read?.value.items.filter(({ pet }) => !found.has(String(pet.id))) ?? [];
    if (others.length > 0) return others.slice(0, othersMax);
  }
  return [];
}

export interface WaysOnParts {
  /** Of the first page. */
  readonly filter: Filter;
  readonly chosen: readonly Chosen[];
  readonly category: Category | undefined;
  readonly categories: readonly Category[];
  readonly places: readonly Place[];
  readonly others: readonly PetListing[];
}

export function waysOn({ filter, chosen, category, categories, places, others }: WaysOnParts): Html | false {
  const { near, withinKm = 0, categoryId } = filter;
  const further = withinKmChoices.find((km) => km > withinKm);
  const ways: ReadonlyArray<readonly [text: string, to: Filter] | false> = [
    near !== undefined && further !== undefined && [`Within ${further} km of ${nameOf(near, places)}`, { ...filter, withinKm: further }],
    // Without the only filter, all of the kind are left.
    ...(chosen.length > 1 ? chosen.map(({ text, without }) => [`Without: ${text}`, without] as const) : []),
    chosen.length > 0 && [category ? `All of “${category.name}”` : 'All animals', ofKind(filter)],
    categoryId !== undefined && ['All kinds of animals', { ...filter, categoryId: undefined }],
  ];
  const shown = ways.filter((way) => way !== false);
  // What these are not known to be. The kind is in the heading.
  const dropped = chosen.map(({ text }) => text).filter((text) => text !== category?.name);
  return html`${
    shown.length > 0 &&
    html`<nav class="ways" aria-labelledby="ways"><h2 id="ways">Look further</h2>
<ul>${shown.map(([text, to]) => html`<li><a href="${addressOf(to)}">${text}</a></li>`)}</ul></nav>`
  }${
    others.length > 0 &&
    html`<section aria-labelledby="others"><h2 id="others">${isNarrow(filter) && category ? `Others of “${category.name}”` : 'Others who are here'}</h2>
${dropped.length > 0 && html`<p class="understood">Dropped from your search: ${dropped.join(', ')}.</p>`}
<ul class="cards few">${others.map((one) => animalCard(one, { categories, usual: 'available' }))}</ul></section>`
  }`;
}
