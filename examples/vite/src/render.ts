// What runs on the server: reads animals and renders them to HTML.
import { createStore, type PetListing, placeholderColor } from '@homeward/sdk';
import { factsOf, statusWords } from './animal.ts';

export interface Rendered {
  readonly status: number;
  readonly html: string;
}

// Reads HOMEWARD_URL and HOMEWARD_KEY. A visitor is waiting, hence the short timeout.
const store = createStore({ totalTimeoutMs: 5_000 });

export async function render({ pathname, searchParams }: URL): Promise<Rendered> {
  const [, id] = /^\/pets\/(\d{1,18})$/.exec(pathname) ?? [];
  if (id) return animalPage(BigInt(id));
  return pathname === '/' ? listPage(searchParams.get('cursor')) : notFound;
}

async function listPage(start: string | null): Promise<Rendered> {
  const { items, cursor } = await store.listings.search({ limit: 24, ...(start && { cursor: start }) }).page();
  const more = cursor ? `<a href="/?cursor=${encodeURIComponent(cursor)}">More animals</a>` : '';
  const html = `<h1>Waiting for a home</h1>
<p class="lead"><label>Find by name: <input id="search" type="search" autocomplete="off" /></label></p>
<ul class="animals">${items.map(card).join('')}</ul>
${more}`;
  return { status: 200, html };
}

async function animalPage(id: bigint): Promise<Rendered> {
  const { items } = await store.listings.search({ id: [id] }).page();
  const [animal] = items;
  if (!animal) return notFound;
  const { pet, profile, shelter } = animal;
  const html = `<h1>${escapeHtml(pet.name)}</h1>
<p class="lead">${escapeHtml(factsOf(animal))}</p>
${photo(animal, '(min-width: 48rem) 44rem, 100vw')}
<p>${status(animal)} ${escapeHtml(shelter.name)}</p>
<p class="story">${escapeHtml(profile.description ?? '')}</p>
<a href="/">All animals</a>`;
  return { status: 200, html };
}

const card = (animal: PetListing): string => `<li class="card">${photo(animal, '(min-width: 40rem) 18rem, 100vw')}
<h2><a href="/pets/${animal.pet.id}">${escapeHtml(animal.pet.name)}</a></h2>
<p>${escapeHtml(factsOf(animal))}</p>
<p>${escapeHtml(animal.shelter.name)}</p>
${status(animal)}</li>`;

const status = ({ pet }: PetListing): string => `<span class="status ${pet.status}">${statusWords[pet.status]}</span>`;

/** The first photo. The browser loads the smallest file that will do for its width on the page, and shows its colour until then. */
function photo({ pet, photos }: PetListing, sizes: string): string {
  const [first] = photos;
  if (!first) return '<span class="photo">No photo yet</span>';
  const files = first.urls.map(({ url, width }) => `${addressOf(url)} ${width}w`);
  return `<img class="photo" src="${escapeHtml(addressOf(first.urls[0]?.url ?? ''))}" srcset="${escapeHtml(files.join(', '))}" sizes="${sizes}"
alt="${escapeHtml(first.alt || pet.name)}" style="background-color: ${placeholderColor(first.placeholder)}" />`;
}

/** A path is one of the store. */
const addressOf = (url: string): string => new URL(url, process.env['HOMEWARD_URL']).href;

const notFound: Rendered = {
  status: 404,
  html: '<h1>Not here</h1><p class="lead">This page does not exist.</p><a href="/">All animals</a>',
};

/** Names are user input. */
const escapeHtml = (text: string): string => text.replace(/[&<>"']/g, (one) => `&#${one.charCodeAt(0)};`);
