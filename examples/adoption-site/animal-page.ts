import type { Category, Pet } from '@homeward/sdk';
import { type AdoptionForm, adoptionForm } from './adoption-form.ts';
import { drawingOf } from './drawings.ts';
import { type Html, html } from './html.ts';
import { layout } from './layout.ts';
import { animalCard, statusBadge } from './list-page.ts';
import { categoryName } from './words.ts';

export interface AnimalPageParts {
  readonly animal: Pet;
  readonly categories: readonly Category[];
  /** Available animals of the same category. */
  readonly similar: readonly Pet[];
  readonly asOf: string;
  readonly form: AdoptionForm;
  /** Why a request to adopt was rejected, if one was. */
  readonly outcome?: { readonly title: string; readonly text: string } | undefined;
}

export function animalPage({ animal, categories, similar, asOf, form, outcome }: AnimalPageParts): Html {
  const { name, status } = animal;
  return layout({
    title: outcome?.title ?? name,
    description: `${name} at the shelter: ${categoryName(animal, categories)}. Read what adopting means, and ask for ${name}.`,
    animals: [animal, ...similar],
    asOf,
    main: html`
<article class="animal" data-animal="${animal.id}">
<div class="portrait">${drawingOf(animal)}</div>
<div class="about">
${outcome && html`<div class="outcome" role="alert"><p><strong>${outcome.title}</strong></p><p>${outcome.text}</p></div>`}
<h1>${name}</h1>
<p class="facts"><span class="kind">${categoryName(animal, categories)}</span>${statusBadge(animal)}</p>
${status === 'available' ? askFor(animal, form) : taken(animal)}
</div>
</article>
${
  similar.length > 0 &&
  html`<section aria-labelledby="similar"><h2 id="similar" class="aside-title">They still need a home</h2>
<ul class="cards few">${similar.map((one) => animalCard(one, categories))}</ul></section>`
}
<p class="pager"><a class="button quiet" href="/">All animals</a></p>`,
  });
}

const askFor = ({ id, name }: Pet, form: AdoptionForm): Html => html`
<p>Adopting is a promise on both sides. It goes like this:</p>
<ol class="steps">
<li>You ask for ${name}. From then on nobody else can.</li>
<li>The shelter reads your request and replies by e-mail.</li>
<li>You meet, and if it fits, ${name} comes home with you.</li>
</ol>
<h2>Ask for ${name}</h2>
${adoptionForm(`/animals/${id}`, name, form)}`;

const taken = ({ name, status }: Pet): Html =>
  status === 'pending'
    ? html`<p class="lead">${name} is promised to someone.</p><p>That is not always the end of it: if the adoption is called off, ${name} needs a home again, and an open page says so at once.</p>`
    : html`<p class="lead">${name} has found a home.</p><p>That is the best reason to leave this page. Others are still waiting.</p>`;
