// The store whose pages are checked: with animals of every category and status, profiles, photos and an order. And the example site
// on it.
import path from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { type Store as Client, createStore } from '../../sdk/src/index.ts';
import { castOf, place } from '../../testkit/adopters.ts';
import { HttpClient } from '../../testkit/http.ts';
import type { Store } from '../../testkit/store.ts';
import { devAnimals } from '../../tools/dev-animals.ts';
import { devAsking } from '../../tools/dev-questions.ts';
import { addPictures, describeAnimals, untilPicturesAreReady } from '../../tools/dev-seed.ts';

export interface Shop {
  readonly url: string;
  /** A partner's API key. */
  readonly key: string;
  /** Ids of animals, by status. */
  readonly available: readonly number[];
  readonly pending: readonly number[];
  readonly sold: readonly number[];
  /** Ids of animals whose shelter takes applications: available ones, and at the end one that is pending. */
  readonly byApplication: readonly number[];
  /** The id of an available animal with photos. */
  readonly photographed: number;
  order(petId: number): Promise<void>;
  /** With the scopes of the store's staff. */
  readonly staff: Client;
}

const ownRoot = fileURLToPath(new URL('../..', import.meta.url));
const animalCount = 60;

/** Adds animals of every category and status with profiles, photos of the newest ones, and places an order. The store needs a worker. */
export async function openShop(store: Store, picturedMax: number): Promise<Shop> {
  const { manager, partners } = await castOf(store, 1);
  const [partner] = partners;
  if (!partner) throw new Error('there is no partner');
  const url = store.processes[0]?.url ?? '';
  const ids: Record<'available' | 'pending' | 'sold', number[]> = { available: [], pending: [], sold: [] };
  using http = new HttpClient(1);
  for (const animal of devAnimals().slice(0, animalCount)) {
    const { status, text } = await http.send(`${url}/pets`, { method: 'POST', key: manager.key, body: animal });
    if (status !== 201) throw new Error(`an animal was not added: ${text}`);
    ids[animal.status].push(Number(JSON.parse(text).id));
  }
  const client = createStore({ url: url.replace(/\/v1$/, ''), key: manager.key });
  await describeAnimals(client);
  await addPictures(client, { animalsMax: picturedMax });
  const order = async (petId: number) => {
    using sender = new HttpClient(1);
    const { status, text } = await place(sender, url, partner, petId);
    if (status !== 201) throw new Error(`an animal was not ordered: ${text}`);
  };
  const ordered = ids.available.pop() ?? 0;
  await order(ordered);
  const byApplication = [ids.available.pop() ?? 0, ids.available.pop() ?? 0, ids.pending.pop() ?? 0];
  await letApply(client, byApplication);
  const newest = await untilPicturesAreReady(client, picturedMax);
  const photographed = newest.find(
    ({ pet, photos }) => pet.status === 'available' && photos.length > 1 && !byApplication.includes(Number(pet.id)),
  )?.pet.id;
  return {
    ...ids,
    pending: [ordered, ...ids.pending],
    byApplication,
    photographed: Number(photographed),
    url: url.replace(/\/v1$/, ''),
    key: partner.key,
    order,
    staff: client,
  };
}

/** Moves animals to a shelter that takes applications and asks questions. */
async function letApply(client: Client, petIds: readonly number[]): Promise<void> {
  const [asking] = devAsking;
  if (!asking) throw new Error('no shelter asks anything');
  const shelter = { name: 'The Asking House', adoption: 'application', applicationNote: asking.note } as const;
  const { id: shelterId } = await client.shelters.create(shelter);
  await client.shelters.setQuestions(shelterId, { questions: [...asking.questions] });
  for (const id of petIds) await client.pets.move(id, { shelterId });
}

/** `root`: of a source tree with a deliberate fault. */
export async function openSite({ url, key }: Shop, root = ownRoot): Promise<{ url: string } & AsyncDisposable> {
  // Imported only here: it needs the built SDK, and other proofs run without it.
  const file = pathToFileURL(path.join(root, 'examples/adoption-site/start-site.ts')).href;
  const { startSite } = (await import(file)) as typeof import('../../examples/adoption-site/start-site.ts');
  const site = await startSite({ url, key, port: 0 });
  return { url: site.url, [Symbol.asyncDispose]: () => site.close() };
}
