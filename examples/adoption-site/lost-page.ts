import type { Category, PetListing } from '@homeward/sdk';
import { animalCard } from './animal-card.ts';
import { type Html, html } from './html.ts';
import { layout } from './layout.ts';
import { photoOrigins } from './photo.ts';
import type { Reply, Site } from './site-replies.ts';

const shownMax = 4;

interface Lost {
  readonly title: string;
  readonly text: string;
}

/** The store does not say what has become of an animal that is no longer listed, so the site doesn't either. */
export const noLongerListed = (site: Site): Promise<Reply> =>
  showLost(site, {
    title: 'No longer listed here',
    text: 'There is no animal at this address, or not any more. Others are still waiting:',
  });

/** A way on: a search, and animals that need a home. They are of the first page of the list, which is cached. */
export async function showLost(
  { catalogue }: Pick<Site, 'catalogue'>,
  { title, text }: Lost = {
    title: 'There is no such page here',
    text: 'The address may be mistyped, or out of date. These are still waiting:',
  },
): Promise<Reply> {
  const [categories, { items }] = await Promise.all([
    catalogue.categories(),
    catalogue.page({ status: 'available', goodWith: [] }).then(({ value }) => value),
  ]).catch(() => [[], { items: [] }] as const);
  const shown = items.slice(0, shownMax);
  return { status: 404, page: lostPage({ title, text }, shown, categories), photosFrom: photoOrigins(shown) };
}

const lostPage = ({ title, text }: Lost, animals: readonly PetListing[], categories: readonly Category[]): Html =>
  layout({
    title,
    drawn: animals,
    main: html`<div class="message"><h1>${title}</h1><p>${text}</p></div>
<form class="filters short" method="get" action="/" role="search">
<p class="search"><label for="q">Looking for</label><input id="q" name="q" type="search" maxlength="100" placeholder="shy cat, labrador, Biscuit …" enterkeyhint="search"></p>
<p class="go"><button class="button" type="submit">Search</button></p></form>
${animals.length > 0 && html`<ul class="cards few">${animals.map((listing) => animalCard(listing, { categories, usual: 'available', loading: 'eager' }))}</ul>`}
<p class="pager"><a class="button quiet" href="/">All animals</a></p>`,
  });
