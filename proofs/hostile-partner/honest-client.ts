// An ordinary partner: it reads lists, adds an animal now and then, orders and cancels, and follows the feed.
import { adopter } from '../../testkit/adopters.ts';
import type { HttpClient, Response } from '../../testkit/http.ts';
import type { Key } from '../../testkit/store.ts';

/** How many requests of each kind it sends a second. Writes between the lists make some lists cache misses. */
const shares = { list: 62, 'list of a category': 30, create: 1, order: 2, cancel: 2, feed: 3 } as const;
type Kind = keyof typeof shares;
const second = (Object.entries(shares) as Array<[Kind, number]>).flatMap(([kind, count]) => Array.from({ length: count }, () => kind));

export const honestPerSecond = second.length;

export class HonestClient {
  readonly #http: HttpClient;
  readonly #urls: readonly string[];
  readonly #key: string;
  readonly #animals: number[] = [];
  readonly #orders: number[] = [];
  #feed = '/v1/events?cursor=latest';

  constructor(http: HttpClient, urls: readonly string[], { key }: Key) {
    this.#http = http;
    this.#urls = urls;
    this.#key = key;
  }

  readonly #kinds: Readonly<Record<Kind, (url: string, index: number) => Promise<Response>>> = {
    list: (url) => this.#get(`${url}/pets?status=available`),
    'list of a category': (url, index) => this.#get(`${url}/pets?limit=50&categoryId=${1 + (index % 10)}`),
    create: (url) => this.#create(url),
    order: (url) => this.#order(url),
    cancel: (url) => this.#cancel(url),
    feed: (url) => this.#readFeed(url),
  };

  /** Sends request number `index`; the kinds are spread over the second. */
  send(index: number): Promise<Response> {
    // Each kind goes to each process in turn.
    const url = this.#urls[(index + Math.floor(index / second.length)) % this.#urls.length] ?? '';
    return this.#kinds[second[(index * 37) % second.length] ?? 'list'](url, index);
  }

  /** Orders an animal that is listed as available; undefined if none is. */
  async orderAvailable(url: string): Promise<Response | undefined> {
    const page = await this.#get(`${url}/pets?status=available&limit=100`);
    const [animal] = JSON.parse(page.text) as Array<{ id: number }>;
    return animal && this.#post(`${url}/store/orders`, { petId: animal.id, adopter });
  }

  async #create(url: string): Promise<Response> {
    const response = await this.#post(`${url}/pets`, { name: 'Biscuit', categoryId: 1 });
    if (response.status === 201) this.#animals.push((JSON.parse(response.text) as { id: number }).id);
    return response;
  }

  /** Orders its own animals in turn. Another partner may have been faster, which is not an error. */
  async #order(url: string): Promise<Response> {
    const petId = this.#animals.shift();
    if (petId === undefined) return this.#get(`${url}/store/orders?limit=10`);
    this.#animals.push(petId);
    const response = await this.#post(`${url}/store/orders`, { petId, adopter: { ...adopter, email: `adopter${petId}@example.org` } });
    if (response.status === 201) this.#orders.push((JSON.parse(response.text) as { id: number }).id);
    return response;
  }

  async #cancel(url: string): Promise<Response> {
    const id = this.#orders.shift();
    return id === undefined ? this.#get(`${url}/store/orders?limit=10`) : this.#post(`${url}/store/orders/${id}/cancel`);
  }

  async #readFeed(url: string): Promise<Response> {
    const response = await this.#get(url.replace(/\/v1$/, '') + this.#feed);
    this.#feed = /<([^>]+)>; rel="next"/.exec(String(response.headers.link))?.[1] ?? this.#feed;
    return response;
  }

  #get(url: string): Promise<Response> {
    return this.#http.send(url, { key: this.#key });
  }

  #post(url: string, body?: unknown): Promise<Response> {
    return this.#http.send(url, { method: 'POST', key: this.#key, body });
  }
}
