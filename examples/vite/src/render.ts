// What runs on the server: reads animals and renders them to HTML.
import { createStore, type Pet } from '@homeward/sdk';
import { statusWords } from './status-words.ts';

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
  const { items, cursor } = await store.pets.list({ limit: 24, ...(start && { cursor: start }) }).page();
  const more = cursor ? `<a href="/?cursor=${encodeURIComponent(cursor)}">More animals</a>` : '';
  const html = `<h1>Waiting for a home</h1>
<p class="lead"><label>Find by name: <input id="search" type="search" autocomplete="off" /></label></p>
<ul class="animals">${items.map(card).join('')}</ul>
${more}`;
  return { status: 200, html };
}

async function animalPage(id: bigint): Promise<Rendered> {
  const pet = await store.pets.find(id);
  if (!pet) return notFound;
  const html = `<h1>${escapeHtml(pet.name)}</h1><p class="lead">${statusWords[pet.status]}</p><a href="/">All animals</a>`;
  return { status: 200, html };
}

function card({ id, name, status }: Pet): string {
  const escaped = escapeHtml(name);
  return `<li class="card"><h2>${escaped}</h2><span class="status ${status}">${statusWords[status]}</span>
<a href="/pets/${id}">Meet ${escaped}</a></li>`;
}

const notFound: Rendered = {
  status: 404,
  html: '<h1>Not here</h1><p class="lead">This page does not exist.</p><a href="/">All animals</a>',
};

/** Names are user input. */
const escapeHtml = (text: string): string => text.replace(/[&<>"']/g, (one) => `&#${one.charCodeAt(0)};`);
