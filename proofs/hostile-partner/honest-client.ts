// An ordinary partner: it reads lists, searches, adds, changes and describes its animals, orders and cancels, and follows the feed.
import { randomUUID } from 'node:crypto';
import { adopterOf } from '../../testkit/adopters.ts';
import type { HttpClient, Response } from '../../testkit/http.ts';
import { mixed, type Samples } from '../../testkit/listing-searches.ts';
import type { Key } from '../../testkit/store.ts';

/** How many requests of each kind it sends a second. Writes between the lists make some of them, and most searches, cache misses. */
const shares = {
  list: 14,
  'list of a category': 9,
  search: 10,
  facets: 1,
  create: 1,
  'create once': 1,
  change: 2,
  describe: 1,
  order: 3,
  cancel: 3,
  'list of orders': 2,
  feed: 3,
} as const;
export type Kind = keyof typeof shares;
const second = (Object.entries(shares) as Array<[Kind, number]>).flatMap(([kind, count]) => Array.from({ length: count }, () => kind));
/** Coprime to their number, so that the kinds are spread over the second. */
const stride = 37;

export const honestPerSecond = second.length;
export const kindAt = (index: number): Kind => second[(index * stride) % second.length] ?? 'list';

/** The conflicts that are its own affair: it orders animals that it has ordered before. */
const expectedConflicts = ['pet_not_available', 'order_not_cancellable', 'pet_has_open_order'];

export const isServed = (response: Response | undefined): boolean =>
  response !== undefined && (response.status < 300 || expectedConflicts.some((code) => response.text.includes(code)));

const { 'deep cursor': _, ...searches } = mixed;
const searchKinds = Object.values(searches);

export class HonestClient {
  readonly #http: HttpClient;
  readonly #urls: readonly string[];
  readonly #key: string;
  readonly #samples: Samples;
  readonly #animals: number[] = [];
  readonly #orders: number[] = [];
  #feed = '/v1/events?cursor=latest';
  #sent = 0;

  constructor(http: HttpClient, urls: readonly string[], { key }: Key, samples: Samples) {
    this.#http = http;
    this.#urls = urls;
    this.#key = key;
    this.#samples = samples;
  }

  readonly #kinds: Readonly<Record<Kind, (url: string) => Promise<Response>>> = {
    list: (url) => this.#get(`${url}/pets?status=available`),
    'list of a category': (url) => this.#get(`${url}/pets?limit=50&categoryId=${1 + (this.#sent % 10)}`),
    search: (url) => this.#get(`${url}/listings?${searchKinds[this.#sent % searchKinds.length]?.(this.#samples)}`),
    facets: (url) => this.#get(`${url}/listings/facets?status=available&categoryId=${1 + (this.#sent % 20)}`),
    create: (url) => this.#create(url, {}),
    'create once': (url) => this.#create(url, { 'idempotency-key': randomUUID() }),
    change: (url) => this.#write(url, 'PATCH', '', { name: `Biscuit ${this.#sent}` }),
    describe: (url) => this.#write(url, 'PUT', '/profile', { description: `Biscuit loves long walks, ${this.#sent} a year.` }),
    order: (url) => this.#order(url),
    cancel: (url) => this.#cancel(url),
    'list of orders': (url) => this.#get(`${url}/store/orders?limit=10`),
    feed: (url) => this.#readFeed(url),
  };

  send(index: number): Promise<Response> {
    // Each kind goes to each process in turn.
    const url = this.#urls[(index + Math.floor(index / second.length)) % this.#urls.length] ?? '';
    this.#sent += 1;
    return this.#kinds[kindAt(index)](url);
  }

  /** Orders an animal that is listed as available; undefined if none is. */
  async orderAvailable(url: string): Promise<Response | undefined> {
    const page = await this.#get(`${url}/pets?status=available&limit=100`);
    const [animal] = JSON.parse(page.text) as Array<{ id: number }>;
    return animal && this.#send(`${url}/store/orders`, 'POST', { petId: animal.id, adopter: adopterOf(animal.id) });
  }

  async #create(url: string, headers: Record<string, string>): Promise<Response> {
    const response = await this.#send(`${url}/pets`, 'POST', { name: 'Biscuit', categoryId: 1 + (this.#sent % 10) }, headers);
    if (response.status === 201) this.#animals.push((JSON.parse(response.text) as { id: number }).id);
    return response;
  }

  /** Changes its own animals in turn. */
  async #write(url: string, method: string, path: string, body: unknown): Promise<Response> {
    const petId = this.#nextAnimal();
    return petId === undefined ? this.#create(url, {}) : this.#send(`${url}/pets/${petId}${path}`, method, body);
  }

  async #order(url: string): Promise<Response> {
    const petId = this.#nextAnimal();
    if (petId === undefined) return this.#create(url, {});
    const response = await this.#send(`${url}/store/orders`, 'POST', { petId, adopter: adopterOf(petId) });
    if (response.status === 201) this.#orders.push((JSON.parse(response.text) as { id: number }).id);
    return response;
  }

  #nextAnimal(): number | undefined {
    const petId = this.#animals.shift();
    if (petId !== undefined) this.#animals.push(petId);
    return petId;
  }

  async #cancel(url: string): Promise<Response> {
    const id = this.#orders.shift();
    return id === undefined ? this.#get(`${url}/store/orders?limit=10`) : this.#send(`${url}/store/orders/${id}/cancel`, 'POST');
  }

  async #readFeed(url: string): Promise<Response> {
    const response = await this.#get(url.replace(/\/v1$/, '') + this.#feed);
    this.#feed = /<([^>]+)>; rel="next"/.exec(String(response.headers.link))?.[1] ?? this.#feed;
    return response;
  }

  #get(url: string): Promise<Response> {
    return this.#http.send(url, { key: this.#key });
  }

  #send(url: string, method: string, body?: unknown, headers: Record<string, string> = {}): Promise<Response> {
    return this.#http.send(url, { method, key: this.#key, body, headers });
  }
}
