// What search engines read of an animal, in the terms of https://schema.org/.
import type { PetListing } from '@homeward/sdk';
import { amountOf } from './animal-facts.ts';
import { Html } from './html.ts';
import { type ShownStatus, shownOf } from './shown-status.ts';

const availabilities: Readonly<Record<ShownStatus, string>> = {
  available: 'InStock',
  pending: 'Reserved',
  held: 'OutOfStock',
  sold: 'SoldOut',
};

/**
 * An animal is no product, but there is no term for one that is to be adopted, and search engines read this one. The fee is an offer only
 * if there is one: no price is made up.
 */
export function animalData(
  listing: PetListing,
  { kind, canonical, description }: { kind: string; canonical: string; description: string },
): Html {
  const { pet, profile, shelter, photos } = listing;
  const { adoptionFee } = profile;
  const seller = {
    '@type': 'AnimalShelter',
    name: shelter.name,
    ...(shelter.address !== null && { address: shelter.address }),
    ...(shelter.phone !== null && { telephone: shelter.phone }),
    ...(shelter.latitude !== null && { geo: { '@type': 'GeoCoordinates', latitude: shelter.latitude, longitude: shelter.longitude } }),
  };
  return jsonLd({
    '@context': 'https://schema.org',
    '@type': 'Product',
    name: pet.name,
    url: canonical,
    category: kind,
    description,
    image: photos.map(({ urls }) => urls.at(-1)?.url),
    ...(profile.colors.length > 0 && { color: profile.colors.join(', ') }),
    ...(adoptionFee && {
      offers: {
        '@type': 'Offer',
        url: canonical,
        price: amountOf(adoptionFee.amount, adoptionFee.currency),
        priceCurrency: adoptionFee.currency,
        availability: `https://schema.org/${availabilities[shownOf(listing).status]}`,
        seller,
      },
    }),
  });
}

/** A browser looks for the end of a script before anything else, so no text may contain a "<". JSON has an escape for it. */
const jsonLd = (data: object): Html =>
  new Html(`<script type="application/ld+json">${JSON.stringify(data).replaceAll('<', String.raw`\u003c`)}</script>`);
