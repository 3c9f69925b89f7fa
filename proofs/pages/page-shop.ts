// The store whose pages are checked: with animals of every category and status, and an order. And the example site on it.
import { castOf, place } from '../../testkit/adopters.ts';
import { HttpClient } from '../../testkit/http.ts';
import type { Store } from '../../testkit/store.ts';
import { devAnimals } from '../../tools/dev-animals.ts';

export interface Shop {
  readonly url: string;
  /** A partner's API key. */
  readonly key: string;
  /** Ids of animals, by status. */
  readonly available: readonly number[];
  readonly pending: readonly number[];
  readonly sold: readonly number[];
  order(petId: number): Promise<void>;
}

const animalCount = 60;

/** Adds animals of every category and status, and places an order. */
export async function openShop(store: Store): Promise<Shop> {
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
  const order = async (petId: number) => {
    using client = new HttpClient(1);
    const { status, text } = await place(client, url, partner, petId);
    if (status !== 201) throw new Error(`an animal was not ordered: ${text}`);
  };
  const ordered = ids.available.pop() ?? 0;
  await order(ordered);
  return { ...ids, pending: [ordered, ...ids.pending], url: url.replace(/\/v1$/, ''), key: partner.key, order };
}

export async function openSite({ url, key }: Shop): Promise<{ url: string } & AsyncDisposable> {
  // Imported only here: it needs the built SDK, and other proofs run without it.
  const { startSite } = await import('../../examples/adoption-site/start-site.ts');
  const site = await startSite({ url, key, port: 0 });
  return { url: site.url, [Symbol.asyncDispose]: () => site.close() };
}
