// The form above the list. It is sent with GET, so a search has an address, and it works without JavaScript.
import type { Facet, Facets } from '@homeward/sdk';
import { type Companion, type Filter, withinKmChoices, wordsCharsMax } from './filter.ts';
import { type Html, html } from './html.ts';
import { meantParameters } from './meant-filters.ts';
import { ageWords, companionWords, sexWords, sizeWords } from './words.ts';

export interface Place {
  readonly name: string;
  /** Latitude and longitude, such as 53.27,-9.05. */
  readonly near: string;
}

/** The filters are folded, so that the animals are near the top. Counts are left out if they could not be read. */
export function filterForm(filter: Filter, places: readonly Place[], facets: Facets | undefined): Html {
  const { status, categoryId, shelterId, words, near, withinKm, age, sex, size, goodWith, sort } = filter;
  const on = [near, age, sex, size, sort, ...goodWith].filter((value) => value !== undefined).length;
  return html`<form class="filters" method="get" action="/" role="search">
${hidden('category', categoryId)}${hidden('status', status === 'available' ? undefined : status)}${hidden('shelter', shelterId)}${meantParameters(filter.meant).map(([name, value]) => hidden(name, value))}
<p class="search"><label for="q">Looking for</label>
<input id="q" name="q" type="search" maxlength="${wordsCharsMax}" placeholder="shy cat, labrador, Biscuit …" value="${words}" enterkeyhint="search"></p>
<details><summary>Filters${on > 0 && ` (${on})`}</summary>
<div class="more">
<p><label for="near">Near</label>
<select id="near" name="near"><option value="">Anywhere</option>
${near !== undefined && !places.some((place) => place.near === near) && html`<option value="${near}" selected>Where you are</option>`}
${places.map((place) => html`<option value="${place.near}"${place.near === near && html` selected`}>${place.name}</option>`)}</select></p>
<p><label for="within">Within</label>
<select id="within" name="within">${withinKmChoices.map((km) => html`<option value="${km}"${km === (withinKm ?? 50) && html` selected`}>${km} km</option>`)}</select></p>
${select('age', 'Age', ageWords, age, facets?.ages)}
${select('sex', 'Sex', sexWords, sex, facets?.sexes)}
${select('size', 'Size', sizeWords, size, facets?.sizes)}
<p><label for="sort">Order</label>
<select id="sort" name="sort"><option value="">Best match</option>
<option value="newest"${sort === 'newest' && html` selected`}>Newest first</option>
<option value="distance"${sort === 'distance' && html` selected`}>Nearest first</option></select></p>
<fieldset><legend>Good with</legend>
${Object.entries(companionWords).map(([name, text]) => html`<label class="tick"><input type="checkbox" name="good" value="${name}"${goodWith.includes(name as Companion) && html` checked`}> ${text}</label>`)}
</fieldset>
</div></details>
<p class="go"><button class="button quiet" type="button" id="near-me" hidden>Near me</button>
<button class="button" type="submit">Search</button></p>
</form>`;
}

/** Counts are those of what the other filters find, so a list that has a choice shows only the count of that one. */
function select(
  name: string,
  label: string,
  choices: Readonly<Record<string, string>>,
  chosen: string | undefined,
  counts: readonly Facet[] | undefined,
): Html {
  const countOf = (value: string) => {
    if (!counts || (chosen !== undefined && value !== chosen)) return '';
    return ` (${counts.find((facet) => facet.value === value)?.count ?? 0})`;
  };
  return html`<p><label for="${name}">${label}</label>
<select id="${name}" name="${name}"><option value="">Any</option>
${Object.entries(choices).map(([value, text]) => html`<option value="${value}"${value === chosen && html` selected`}>${text}${countOf(value)}</option>`)}</select></p>`;
}

const hidden = (name: string, value: string | number | bigint | undefined): Html | false =>
  value !== undefined && html`<input type="hidden" name="${name}" value="${value}">`;
