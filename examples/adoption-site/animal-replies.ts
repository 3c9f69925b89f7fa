import type { Int64 } from '@homeward/sdk';
import { type AnimalPageParts, animalPage } from './animal-page.ts';
import { photoOrigins } from './photo.ts';
import { notFound, type Reply, type Site } from './site-replies.ts';

const similarMax = 4;

export async function showAnimal(
  id: Int64,
  { catalogue, publicUrl }: Site,
  parts: Pick<AnimalPageParts, 'form' | 'outcome'>,
  reply?: Omit<Reply, 'page'>,
): Promise<Reply> {
  const [{ value: listing, asOf }, categories] = await Promise.all([catalogue.findAnimal(id), catalogue.categories()]);
  if (!listing) return notFound(`There is no animal ${id} here, or not any more.`);
  const { status, categoryId } = listing.pet;
  const others = status === 'available' ? [] : (await catalogue.page({ status: 'available', categoryId, goodWith: [] })).value.items;
  const similar = others.filter(({ pet }) => pet.id !== id).slice(0, similarMax);
  // Nobody can ask for an animal that is at home.
  const terms = status === 'sold' ? undefined : await catalogue.terms(listing.shelter.id);
  const page = animalPage({ ...parts, listing, terms, categories, similar, asOf, publicUrl });
  return { status: 200, ...reply, page, photosFrom: photoOrigins([listing, ...similar]) };
}
