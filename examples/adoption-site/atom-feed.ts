// The newest animals as a feed (RFC 4287), for feed readers and other sites.
import type { PetListing } from '@homeward/sdk';
import { breedText, townOf } from './animal-facts.ts';
import { Html, html } from './html.ts';
import { siteName } from './words.ts';

/** `startedAt` is the date of animals about whose arrival nothing is known. */
export function atomFeed(newestFirst: readonly PetListing[], publicUrl: string, startedAt: Date): Html {
  const entries = withDates(newestFirst, startedAt);
  const home = new URL('/', publicUrl).href;
  return withoutControls(html`<?xml version="1.0" encoding="utf-8"?>
<feed xmlns="http://www.w3.org/2005/Atom" xml:lang="en">
<id>${home}</id>
<title>${siteName}: animals that need a home</title>
<updated>${entries[0]?.updated ?? startedAt.toISOString()}</updated>
<author><name>${siteName}</name></author>
<link href="${home}"/>
<link rel="self" type="application/atom+xml" href="${new URL('/feed.xml', publicUrl).href}"/>
${entries.map(({ listing: { pet, profile, shelter, photos }, updated }) => {
  const address = new URL(`/animals/${pet.id}`, publicUrl).href;
  const picture = photos[0]?.urls.at(-1);
  return html`<entry>
<id>${address}</id>
<title>${[pet.name, breedText(profile), townOf(shelter)].filter((part) => part !== undefined).join(', ')}</title>
<updated>${updated}</updated>
<link href="${address}"/>
${picture && html`<link rel="enclosure" type="image/webp" href="${picture.url}"/>`}
<summary>${profile.description ?? `${pet.name} needs a home.`}</summary>
</entry>
`;
})}</feed>
`);
}

/**
 * Each entry needs a date. An animal without one came after the next older one, so it has at least that date; and no entry is newer than
 * one above it, as the store lists them by when they were added.
 */
function withDates(newestFirst: readonly PetListing[], startedAt: Date): Array<{ listing: PetListing; updated: string }> {
  const oldest = newestFirst.findLast(({ profile }) => profile.arrivedOn !== null)?.profile.arrivedOn;
  let latest = oldest ? `${oldest}T00:00:00Z` : startedAt.toISOString();
  return newestFirst
    .toReversed()
    .map((listing) => {
      const { arrivedOn } = listing.profile;
      if (arrivedOn !== null && `${arrivedOn}T00:00:00Z` > latest) latest = `${arrivedOn}T00:00:00Z`;
      return { listing, updated: latest };
    })
    .toReversed();
}

/** XML has no way to write these characters, not even escaped. */
const withoutControls = ({ text }: Html): Html => new Html(text.toWellFormed().replaceAll(/(?![\t\n\r])\p{Cc}|[\uFFFE\uFFFF]/gu, ''));
