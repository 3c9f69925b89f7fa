// Fills a store with shelters, animals, their profiles and their pictures, through the API, as a partner would.
import { setTimeout as sleep } from 'node:timers/promises';
import type { Int64, PetListing, Store } from '../sdk/src/index.ts';
import type { DevAnimal } from './dev-animals.ts';
import { lookOf } from './dev-looks.ts';
import { renderPicture, shotsOf, whereOf } from './dev-pictures.ts';
import { altTextOf, devProfile, photoCountOf } from './dev-profiles.ts';
import { devShelters, devStore } from './dev-shelters.ts';

const requestsAtOnceMax = 8;
/** Of half of the animals that are pending. */
const holdReasons = ['medical', 'stray', 'trial', 'behaviour'] as const;
/** A client may send two photos at once. */
const picturesAtOnceMax = 2;
const processingTimeoutMs = 300_000;

/** One after another, so that they have the same ids on every machine. Those that the store has already are the first. */
export async function addAnimals(store: Store, animals: readonly DevAnimal[], signal?: AbortSignal): Promise<void> {
  let count = 0;
  for await (const _ of store.pets.list()) count += 1;
  for (const animal of animals.slice(count)) await store.pets.add(animal, calling(signal));
}

/** Gives every animal without a profile one, and a shelter; the newest first, because sites show those first. */
export async function describeAnimals(store: Store, signal?: AbortSignal): Promise<void> {
  const shelterIds = await addShelters(store, signal);
  const listings = await readListings(store);
  await inParallel(requestsAtOnceMax, [...listings.entries()], async ([index, { pet, profile }]) => {
    signal?.throwIfAborted();
    if (profile.description !== null) return;
    const animal = { ...pet, id: Number(pet.id), categoryId: Number(pet.categoryId) };
    const shelterId = shelterIds[(animal.id * 7) % shelterIds.length];
    if (shelterId !== undefined) await store.pets.move(pet.id, { shelterId }, calling(signal));
    await store.pets.profile(pet.id).put(devProfile(animal, 1 - (index + 1) / listings.length), calling(signal));
    const reason = holdReasons[animal.id % (2 * holdReasons.length)];
    if (pet.status === 'pending' && reason) await store.pets.hold(pet.id, { reason }, calling(signal));
  });
}

/** Sends the pictures of animals without any, the newest first. The worker processes them afterwards. */
export async function addPictures(
  store: Store,
  { signal, animalsMax = 1_000, shelter }: { signal?: AbortSignal; animalsMax?: number; shelter?: string } = {},
) {
  const listings = (await readListings(store)).filter((one) => shelter === undefined || one.shelter.name === shelter);
  const missing = listings.filter(({ photos }) => photos.length === 0).slice(0, animalsMax);
  await inParallel(picturesAtOnceMax, missing, async ({ pet }) => {
    const animal = { ...pet, id: Number(pet.id), categoryId: Number(pet.categoryId) };
    const look = lookOf(animal);
    for (const shot of shotsOf(look, photoCountOf(animal.id))) {
      signal?.throwIfAborted();
      const picture = new Blob([new Uint8Array(await renderPicture(look, shot))], { type: 'image/jpeg' });
      const photo = await store.pets.photos.add(pet.id, picture, calling(signal));
      await store.pets.photos.update(pet.id, photo.id, { alt: altTextOf(animal, look, whereOf(shot)) }, calling(signal));
    }
  });
}

/** Waits until the worker has processed the photos of the newest animals. Returns the listings of these animals. */
export async function untilPicturesAreReady(store: Store, animalsMax: number): Promise<PetListing[]> {
  for (const deadlineMs = Date.now() + processingTimeoutMs; Date.now() < deadlineMs; await sleep(500)) {
    const { items } = await store.listings.search({ sort: 'newest', limit: animalsMax }).page();
    const photos = await Promise.all(items.map(({ pet }) => store.pets.photos.list(pet.id)));
    if (photos.flat().every(({ status }) => status !== 'processing')) return (await readListings(store)).slice(0, animalsMax);
  }
  throw new Error('the worker did not process the photos in time');
}

/** The ids of the shelters. The one that a store starts with becomes the store itself, without animals. */
async function addShelters(store: Store, signal: AbortSignal | undefined): Promise<Int64[]> {
  const known = new Map<string, Int64>();
  for await (const { name, id } of store.shelters.list()) known.set(name, id);
  const [oldest] = known;
  // Stores from before have one of the shelters there.
  const isPlain = oldest !== undefined && ![devStore, ...devShelters].some(({ name }) => name === oldest[0]);
  if (isPlain) await store.shelters.update(oldest[1], devStore, calling(signal));
  for (const shelter of devShelters)
    if (!known.has(shelter.name)) known.set(shelter.name, (await store.shelters.create(shelter, calling(signal))).id);
  return devShelters.map(({ name }) => known.get(name)).filter((id) => id !== undefined);
}

async function readListings(store: Store): Promise<PetListing[]> {
  const listings: PetListing[] = [];
  for await (const listing of store.listings.search({ sort: 'newest' })) listings.push(listing);
  return listings;
}

const calling = (signal: AbortSignal | undefined) => (signal ? { signal } : {});

async function inParallel<Item>(atOnceMax: number, items: readonly Item[], work: (item: Item) => Promise<void>): Promise<void> {
  const left = items.values();
  await Promise.all(
    Array.from({ length: atOnceMax }, async () => {
      for (const item of left) await work(item);
    }),
  );
}
