import type { Category, Pet, PetListing } from '@homeward/sdk';
import { type AdoptionForm, adoptionForm } from './adoption-form.ts';
import { animalCard } from './animal-card.ts';
import { ageText, breedText, companionsOf, dateText, factsOf, sexText, townOf } from './animal-facts.ts';
import { type Terms, takesApplications } from './catalogue.ts';
import { gallery } from './gallery.ts';
import { type Html, html } from './html.ts';
import { animalData } from './json-ld.ts';
import { layout } from './layout.ts';
import { openingText } from './opening-text.ts';
import { type Outcome, outcomeBox } from './outcome.ts';
import type { OwnState } from './own-requests.ts';
import { pictureOf } from './photo.ts';
import { isWebAddress, shelterContact } from './shelter-contact.ts';
import { heldText, shownOf } from './shown-status.ts';
import { statusBadge } from './status-badge.ts';
import { categoryName } from './words.ts';

export interface AnimalPageParts {
  readonly listing: PetListing;
  /** Undefined if the animal has found a home. */
  readonly terms: Terms | undefined;
  readonly categories: readonly Category[];
  /** Those that it should be adopted together with. */
  readonly bonded: readonly PetListing[];
  /** Available animals of the same category. */
  readonly similar: readonly PetListing[];
  /** What the visitor's own request for it has come to. */
  readonly own?: OwnState | undefined;
  readonly asOf: string;
  readonly publicUrl: string;
  readonly form: AdoptionForm;
  /** Why a request to adopt was rejected, if one was. */
  readonly outcome?: Outcome | undefined;
}

const summaryCharsMax = 200;
/** The picture that is shared: wide enough for a large card, and no larger than needed. */
const sharedWidth = 800;
const and = new Intl.ListFormat('en');

export function animalPage({ listing, terms, categories, bonded, similar, own, asOf, publicUrl, form, outcome }: AnimalPageParts): Html {
  const { pet, profile, shelter, photos, hold } = listing;
  const { name, status } = pet;
  const kind = categoryName(pet, categories);
  const byApplication = takesApplications(listing, terms);
  const canAsk = !own && (status === 'available' || byApplication);
  const canonical = new URL(`/animals/${pet.id}`, publicUrl).href;
  const shared = photos[0]?.urls.find(({ width }) => width >= sharedWidth) ?? photos[0]?.urls.at(-1);
  const description = summaryOf(profile.description) ?? `${name} at the shelter: ${kind}. Read what adopting means, and ask for ${name}.`;
  return layout({
    title: outcome?.title ?? [name, breedText(profile) ?? kind, townOf(shelter)].filter((part) => part !== undefined).join(', '),
    description,
    canonical,
    image: shared && { ...shared, alt: photos[0]?.alt || name },
    data: animalData(listing, { kind, canonical, description }),
    drawn: [listing, ...bonded, ...similar],
    asOf,
    scripts: photos.length > 0 ? ['gallery.js', 'share.js'] : ['share.js'],
    main: html`
<article class="animal" data-animal="${pet.id}" data-status="${shownOf(listing).status}"${own && html` data-own`}>
<div class="portrait">${gallery(listing)}</div>
<div class="about"><div class="beside">
${outcome && outcomeBox(outcome)}
<h1>${name}</h1>
<p class="facts"><span class="kind">${[breedText(profile) ?? kind, ageText(profile), sexText(profile)?.toLowerCase()].filter((text) => text !== undefined).join(', ')}</span>${statusBadge(listing, { own })}</p>
${own && html`<p class="own">${own.text} <a href="${own.address}">See where it stands</a></p>`}
<p class="acts">${canAsk && html`<a class="button" href="#ask">Ask for ${name}</a>`}<button class="button quiet" type="button" data-share hidden>Share</button></p>
${!own && (hold ? held(listing, canAsk) : !canAsk && taken(pet))}
${together(listing, bonded)}
${facts(listing)}
${companions(listing)}
</div></div>
<div class="told">
${profile.description !== null && html`<div class="story">${profile.description.split(/\n\s*\n/).map((paragraph) => html`<p>${paragraph}</p>`)}</div>`}
${profile.tags.length > 0 && html`<ul class="tags" aria-label="In a few words">${profile.tags.map((tag) => html`<li>${tag}</li>`)}</ul>`}
${profile.videoUrl !== null && isWebAddress(profile.videoUrl) && html`<p><a href="${profile.videoUrl}" rel="noopener nofollow">Watch a video of ${name}</a></p>`}
<section><h2>Where ${name} is</h2>
${shelterContact(shelter)}
${terms && opening(terms)}</section>
</div>
${canAsk && html`<section class="ask">${terms && byApplication ? applyFor(listing, terms) : askFor(listing, form)}</section>`}
</article>
${
  similar.length > 0 &&
  html`<section aria-labelledby="similar"><h2 id="similar">They still need a home</h2>
<ul class="cards few">${similar.map((one) => animalCard(one, { categories, usual: 'available' }))}</ul></section>`
}
<p class="pager"><a class="button quiet" href="/">All animals</a></p>`,
  });
}

/** The request is for one animal. Staff see in its profile that it belongs with others. */
function together({ pet: { name } }: PetListing, bonded: readonly PetListing[]): Html | false {
  const names = and.format(bonded.map(({ pet }) => pet.name));
  return (
    bonded.length > 0 &&
    html`<aside class="together" aria-labelledby="together"><h2 id="together">Must be adopted together</h2>
<p>${name} and ${names} belong together and need one home. You ask for one of them, and the shelter sees that they go together.</p>
<ul>${bonded.map((one) => html`<li data-animal="${one.pet.id}" data-status="${shownOf(one).status}"><a href="/animals/${one.pet.id}">${pictureOf(one, { sizes: '4rem', loading: 'lazy' })}${one.pet.name}</a>${statusBadge(one, { usual: 'available' })}</li>`)}</ul></aside>`
  );
}

/** As the page is made: it may stay open, so it says what holds until the next change. */
const opening = ({ openingHours, timezone }: Terms): Html | false =>
  openingHours !== null && timezone !== null && html`<p class="opening">${openingText(openingHours, timezone, new Date())}</p>`;

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
    html`<section><h2>In short</h2>\n<dl class="facts-list">${all.map(([label, text]) => html`<div><dt>${label}</dt><dd>${text}</dd></div>`)}</dl></section>`
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

const askFor = ({ pet: { id, name }, profile }: PetListing, form: AdoptionForm): Html => html`
<div><h2 id="ask">Ask for ${name}</h2>
<p>Adopting is a promise on both sides. It goes like this:</p>
<ol class="steps">
<li>You ask for ${name}. From then on nobody else can.</li>
<li>The shelter reads your request and decides. The page that you see after sending shows what it says.</li>
<li>You meet, and if it fits, ${name} comes home with you${profile.bondedWith.length > 0 && html`, together with those that ${name} belongs with`}.</li>
</ol></div>
${adoptionForm(`/animals/${id}`, name, form)}`;

/** The form is long, so it has a page of its own. */
const applyFor = ({ pet: { id, name, status }, shelter, hold }: PetListing, { questions }: Terms): Html => html`
<div><h2 id="ask">Ask for ${name}</h2>
${status === 'pending' && !hold && html`<p class="lead">${name} is being considered for someone. You can still apply.</p><p>If that comes to nothing, the shelter chooses among the others who have applied.</p>`}
<p>Adopting is a promise on both sides. It goes like this:</p>
<ol class="steps">
<li>You apply${questions.length > 0 && html`, and answer what ${shelter.name} would like to know`}. Others may apply too.</li>
<li>The shelter reads the applications and chooses. A page of your own shows where yours stands.</li>
<li>You meet, and if it fits, ${name} comes home with you.</li>
</ol>
<p><a class="button" href="/animals/${id}/apply">Apply for ${name}</a></p></div>`;

/** The shelter holds the animal back for a while. */
function held({ pet: { name }, hold }: PetListing, canAsk: boolean): Html | false {
  if (!hold) return false;
  const until = hold.until === undefined ? '' : `That is expected to last until ${dateText(hold.until)}. `;
  const then = canAsk
    ? `You can apply already: the shelter chooses when ${name} is ready.`
    : `Nobody can ask for ${name} meanwhile. If ${name} needs a home afterwards, an open page says so at once.`;
  return html`<div class="taken"><p class="lead">${heldText(name, hold)}</p><p>${until}${then}</p></div>`;
}

const taken = ({ name, status }: Pet): Html =>
  status === 'pending'
    ? html`<div class="taken"><p class="lead">${name} is promised to someone.</p><p>That is not always the end of it: if the adoption is called off, ${name} needs a home again, and an open page says so at once.</p></div>`
    : html`<div class="taken"><p class="lead">${name} has found a home.</p><p>That is the best reason to leave this page. Others are still waiting.</p></div>`;
