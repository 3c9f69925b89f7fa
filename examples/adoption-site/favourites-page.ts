// The animals that a visitor likes. The browser stores which they are; the address of the page names them, so it can be shared.
import type { IncomingMessage } from 'node:http';
import type { Category, PetListing } from '@homeward/sdk';
import { animalCard } from './animal-card.ts';
import type { Seen } from './catalogue.ts';
import { readId } from './filter.ts';
import { type Html, html } from './html.ts';
import { layout } from './layout.ts';
import { findOwnStates, type OwnState, readOwnRequests } from './own-requests.ts';
import { photoOrigins } from './photo.ts';
import type { Reply, Site } from './site-replies.ts';

/** As many as `public/favourites.js` stores. */
const favouritesMax = 50;

interface Parts {
  readonly seen: Seen<readonly PetListing[]>;
  readonly askedCount: number;
  readonly categories: readonly Category[];
  readonly own: ReadonlyMap<string, OwnState>;
}

export async function showFavourites(request: IncomingMessage, query: URLSearchParams, { catalogue, key }: Site): Promise<Reply> {
  const ids = [...new Set(query.getAll('id').map(readId))].filter((id) => id !== undefined).slice(0, favouritesMax);
  const [seen, categories] = await Promise.all([catalogue.findAnimals(ids), catalogue.categories()]);
  const own = await findOwnStates(readOwnRequests(request, key), seen.value, catalogue);
  const page = favouritesPage({ seen, askedCount: ids.length, categories, own });
  return { status: 200, page, photosFrom: photoOrigins(seen.value), headers: { 'x-robots-tag': 'noindex' } };
}

function favouritesPage({ seen: { value: animals, asOf }, askedCount, categories, own }: Parts): Html {
  const goneCount = askedCount - animals.length;
  return layout({
    title: 'Favourites',
    description: 'Animals to look at again, to share and to compare.',
    drawn: animals,
    asOf,
    scripts: ['share.js'],
    main: html`
<div class="hero"><h1>Favourites</h1>
${askedCount > 0 && html`<p>${animals.length === 1 ? '1 animal' : `${animals.length} animals`}, as they are now. The address of this page contains the list: share it with those who live with you.</p>`}</div>
${goneCount > 0 && html`<p class="note" id="gone">${goneCount === 1 ? 'One animal is' : `${goneCount} animals are`} no longer listed here.</p>`}
${
  animals.length > 0 &&
  html`<p class="acts"><button class="button quiet" type="button" data-share hidden>Share this list</button></p>
<ul class="cards" data-favourites>${animals.map((listing, index) => animalCard(listing, { categories, own, loading: index === 0 ? 'first' : index < 4 ? 'eager' : 'lazy' }))}</ul>`
}
${askedCount === 0 && html`<p class="empty" id="no-favourites">Nobody is here yet. Press the heart on an animal, and this browser stores it. No account is needed.</p><noscript><p class="empty">Your browser runs no scripts, so there are no favourites. Bookmark their pages instead.</p></noscript>`}
<p class="pager"><a class="button quiet" href="/">All animals</a></p>`,
  });
}
