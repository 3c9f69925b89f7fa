import type { IncomingMessage } from 'node:http';
import type { Int64, PetListing } from '@homeward/sdk';
import { type AnimalPageParts, animalPage } from './animal-page.ts';
import type { Catalogue } from './catalogue.ts';
import { noLongerListed } from './lost-page.ts';
import { findOwnStates, readOwnRequests } from './own-requests.ts';
import { photoOrigins } from './photo.ts';
import type { Reply, Site } from './site-replies.ts';

const similarMax = 4;

export async function showAnimal(
  request: IncomingMessage,
  id: Int64,
  site: Site,
  parts: Pick<AnimalPageParts, 'form' | 'outcome'>,
  reply?: Omit<Reply, 'page'>,
): Promise<Reply> {
  const { catalogue, publicUrl, key } = site;
  const [{ value: listing, asOf }, categories] = await Promise.all([catalogue.findAnimal(id), catalogue.categories()]);
  if (!listing) return noLongerListed(site);
  const { status } = listing.pet;
  const [similar, bonded, own, terms] = await Promise.all([
    similarTo(listing, catalogue),
    // The page is useful without.
    catalogue.findAnimals(listing.profile.bondedWith).catch(() => undefined),
    findOwnStates(readOwnRequests(request, key), [listing], catalogue),
    // Nobody can ask for an animal that is at home.
    status === 'sold' ? undefined : catalogue.terms(listing.shelter.id),
  ]);
  const shown = { listing, terms, categories, similar, bonded: bonded?.value ?? [], own: own.get(String(id)), asOf, publicUrl };
  const page = animalPage({ ...parts, ...shown });
  return { status: 200, ...reply, page, photosFrom: photoOrigins([listing, ...shown.bonded, ...similar]) };
}

async function similarTo({ pet: { id, status, categoryId } }: PetListing, catalogue: Catalogue): Promise<PetListing[]> {
  if (status === 'available') return [];
  const { items } = (await catalogue.page({ status: 'available', categoryId, goodWith: [] })).value;
  return items.filter(({ pet }) => pet.id !== id).slice(0, similarMax);
}
