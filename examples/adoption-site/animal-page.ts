import type { Category, Pet, PetListing } from '@homeward/sdk';
import { type AdoptionForm, adoptionForm } from './adoption-form.ts';
import { animalCard, statusBadge } from './animal-card.ts';
import { ageText, breedText, companionsOf, factsOf, sexText, townOf } from './animal-facts.ts';
import { type Terms, takesApplications } from './catalogue.ts';
import { drawingOf } from './drawings.ts';
import { type Html, html } from './html.ts';
import { animalData } from './json-ld.ts';
import { layout } from './layout.ts';
import { type Outcome, outcomeBox } from './outcome.ts';
import { photoOf } from './photo.ts';
import { shelterContact } from './shelter-contact.ts';
import { categoryName } from './words.ts';

export interface AnimalPageParts {
  readonly listing: PetListing;
  /** Undefined if the animal has found a home. */
  readonly terms: Terms | undefined;
  readonly categories: readonly Category[];
  /** Available animals of the same category. */
  readonly similar: readonly PetListing[];
  readonly asOf: string;
  readonly publicUrl: string;
  readonly form: AdoptionForm;
  /** Why a request to adopt was rejected, if one was. */
  readonly outcome?: Outcome | undefined;
}

const summaryCharsMax = 200;
/** The picture that is shared: wide enough for a large card, and no larger than needed. */
const sharedWidth = 800;
const sizes = { first: '(min-width: 48rem) 30rem, 92vw', other: '(min-width: 48rem) 15rem, 45vw' };

export function animalPage({ listing, terms, categories, similar, asOf, publicUrl, form, outcome }: AnimalPageParts): Html {
  const { pet, profile, shelter, photos } = listing;
  const { name, status } = pet;
  const kind = categoryName(pet, categories);
  const byApplication = takesApplications(listing, terms);
  const canonical = new URL(`/animals/${pet.id}`, publicUrl).href;
  const shared = photos[0]?.urls.find(({ width }) => width >= sharedWidth) ?? photos[0]?.urls.at(-1);
  const description = summaryOf(profile.description) ?? `${name} at the shelter: ${kind}. Read what adopting means, and ask for ${name}.`;
  return layout({
    title: outcome?.title ?? [name, breedText(profile) ?? kind, townOf(shelter)].filter((part) => part !== undefined).join(', '),
    description,
    canonical,
    image: shared && { ...shared, alt: photos[0]?.alt || name },
    data: animalData(listing, { kind, canonical, description }),
    drawn: [listing, ...similar],
    asOf,
    main: html`
<article class="animal" data-animal="${pet.id}">
<div class="portrait">${photos.length === 0 ? drawingOf(pet) : gallery(listing)}</div>
<div class="about">
${outcome && outcomeBox(outcome)}
<h1>${name}</h1>
<p class="facts"><span class="kind">${[breedText(profile) ?? kind, ageText(profile), sexText(profile)?.toLowerCase()].filter((text) => text !== undefined).join(', ')}</span>${statusBadge(pet)}</p>
${(status === 'available' || byApplication) && html`<p><a class="button" href="#ask">Ask for ${name}</a></p>`}
${profile.description !== null && html`<div class="story">${profile.description.split(/\n\s*\n/).map((paragraph) => html`<p>${paragraph}</p>`)}</div>`}
${companions(listing)}
${facts(listing)}
<h2>Where ${name} is</h2>
${shelterContact(shelter)}
${terms && byApplication ? applyFor(listing, terms) : status === 'available' ? askFor(pet, form) : taken(pet)}
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

const gallery = ({ pet, photos }: PetListing): Html =>
  html`<ul class="gallery">${photos.map((photo, index) => html`<li>${photoOf(photo, pet.name, index === 0 ? { sizes: sizes.first, loading: 'first' } : { sizes: sizes.other, loading: 'eager' })}</li>`)}</ul>`;

const companionTexts = { yes: 'yes', no: 'no', unknown: 'not known yet' };

function companions({ profile }: PetListing): Html | false {
  const all = companionsOf(profile);
  return (
    all.length > 0 &&
    html`<h2>Good with</h2>
<ul class="good-with">${all.map(({ who, known }) => html`<li data-known="${known}">${who}: ${companionTexts[known]}</li>`)}</ul>`
  );
}

function facts({ profile }: PetListing): Html | false {
  const all = factsOf(profile);
  return (
    all.length > 0 &&
    html`<h2>In short</h2>\n<dl class="facts-list">${all.map(([label, text]) => html`<div><dt>${label}</dt><dd>${text}</dd></div>`)}</dl>`
  );
}

/** For search engines and links in messages: one line. */
function summaryOf(description: string | null): string | undefined {
  const line = description?.replaceAll(/\s+/g, ' ').trim();
  if (!line) return undefined;
  const letters = [...line];
  return letters.length <= summaryCharsMax
    ? line
    : `${letters
        .slice(0, summaryCharsMax)
        .join('')
        .replace(/\s\S*$/, '')} …`;
}

const askFor = ({ id, name }: Pet, form: AdoptionForm): Html => html`
<h2 id="ask">Ask for ${name}</h2>
<p>Adopting is a promise on both sides. It goes like this:</p>
<ol class="steps">
<li>You ask for ${name}. From then on nobody else can.</li>
<li>The shelter reads your request and decides. The page that you see after sending shows what it says.</li>
<li>You meet, and if it fits, ${name} comes home with you.</li>
</ol>
${adoptionForm(`/animals/${id}`, name, form)}`;

/** The form is long, so it has a page of its own. */
const applyFor = ({ pet: { id, name, status }, shelter }: PetListing, { questions }: Terms): Html => html`
<h2 id="ask">Ask for ${name}</h2>
${status === 'pending' && html`<p class="lead">${name} is being considered for someone. You can still apply.</p><p>If that comes to nothing, the shelter chooses among the others who have applied.</p>`}
<p>Adopting is a promise on both sides. It goes like this:</p>
<ol class="steps">
<li>You apply${questions.length > 0 && html`, and answer what ${shelter.name} would like to know`}. Others may apply too.</li>
<li>The shelter reads the applications and chooses. A page of your own shows where yours stands.</li>
<li>You meet, and if it fits, ${name} comes home with you.</li>
</ol>
<p><a class="button" href="/animals/${id}/apply">Apply for ${name}</a></p>`;

const taken = ({ name, status }: Pet): Html =>
  status === 'pending'
    ? html`<p class="lead">${name} is promised to someone.</p><p>That is not always the end of it: if the adoption is called off, ${name} needs a home again, and an open page says so at once.</p>`
    : html`<p class="lead">${name} has found a home.</p><p>That is the best reason to leave this page. Others are still waiting.</p>`;
