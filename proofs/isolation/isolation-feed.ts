// What one client is told of another's orders: in pages of the feed, in its stream, and at its endpoints.
import { setTimeout as sleep } from 'node:timers/promises';
import { eventTypes } from '../../service/src/domain/event-types.ts';
import { adopter } from '../../testkit/adopters.ts';
import type { HttpClient } from '../../testkit/http.ts';
import { nowhere } from '../../testkit/isolation-matrix.ts';
import type { Key } from '../../testkit/store.ts';
import { StreamReader } from '../../testkit/stream-reader.ts';

interface FeedEvent {
  readonly type: string;
  readonly data: { readonly order?: { readonly id: number } };
}

/** A reader of the feed, and the orders that it may be told of. */
export interface Reader {
  readonly name: string;
  readonly key: Key;
  readonly orders: readonly number[];
}

/** An order that is placed while the readers follow the feed, and those of them who may be told of it. */
export interface LiveOrder {
  readonly id: number;
  readonly petId: number;
  readonly of: readonly Reader[];
}

export interface Told {
  /** Events of orders that reached somebody who may not know of them. */
  readonly leaks: readonly string[];
  /** Events that were looked at, and events of orders among them that their reader may know of. */
  readonly events: number;
  readonly ownOrders: number;
}

const timeoutMs = 15_000;
const pagesMax = 20;

/** Everything that is published so far, read in every way, and then what comes while each of them follows the feed. */
export async function readAll(http: HttpClient, url: string, readers: readonly Reader[], order: () => Promise<LiveOrder>): Promise<Told> {
  const [leaks, counts] = [[] as string[], { events: 0, ownOrders: 0 }];
  const look = (reader: Reader, where: string, events: readonly FeedEvent[], orders = reader.orders) => {
    const ids = orderIdsIn(events);
    counts.events += events.length;
    counts.ownOrders += ids.filter((id) => orders.includes(id)).length;
    leaks.push(...ids.filter((id) => !orders.includes(id)).map((id) => `order ${id} to ${reader.name} in ${where}`));
  };
  for (const reader of readers) {
    const whole = await pagesOf(http, url, reader.key);
    look(reader, 'the feed', whole);
    for (const type of eventTypes) look(reader, `the feed of ${type}`, await pagesOf(http, url, reader.key, `&type=${type}`));
    look(reader, 'the stream from the beginning', await streamOf(url, reader.key, whole.length));
  }
  using streams = new DisposableStack();
  const following: StreamReader[] = [];
  for (const { key } of readers) following.push(streams.use(await StreamReader.open(`${url}/events?cursor=latest`, { key: key.key })));
  const { id, petId, of } = await order();
  for (const [i, reader] of readers.entries()) {
    const stream = following[i];
    // Everybody is told of the animal, after the order that has moved it: nothing about the order comes later than this.
    const isTold = () => stream?.events.some(({ type, data }) => type === 'pet.status_changed' && petIdIn(data) === petId) ?? false;
    await stream?.until(isTold, `event of animal ${petId}`, timeoutMs);
    const events = (stream?.events ?? []).map(({ data }) => JSON.parse(data) as FeedEvent);
    look(reader, 'the stream that it follows', events, of.includes(reader) ? [id] : []);
  }
  return { leaks, ...counts };
}

/** Once this order has been published. */
export async function untilTold(http: HttpClient, url: string, key: Key, orderId: number): Promise<void> {
  await until(async () => orderIdsIn(await pagesOf(http, url, key)).includes(orderId), `event of order ${orderId}`);
}

/** One endpoint of each key: what it is told of is decided by the key that adds it. */
export async function addEndpoint(http: HttpClient, url: string, { key }: Key): Promise<number> {
  const { status, text } = await http.send(`${url}/webhooks`, { method: 'POST', key, body: { url: `${nowhere}/hooks` } });
  if (status !== 201) throw new Error(`no endpoint was added: ${text}`);
  return (JSON.parse(text) as { id: number }).id;
}

/** The types that were queued for an endpoint, once there are so many deliveries. */
export async function typesQueued(http: HttpClient, url: string, { key }: Key, endpoint: number, countMin: number): Promise<string[]> {
  let types: string[] = [];
  await until(async () => {
    const { text } = await http.send(`${url}/webhooks/${endpoint}/deliveries?limit=100`, { key });
    types = (JSON.parse(text) as Array<{ type: string }>).map(({ type }) => type);
    return types.length >= countMin;
  }, `${countMin} deliveries`);
  return types;
}

export async function placeOrder(http: HttpClient, url: string, { key }: Key): Promise<{ id: number; petId: number }> {
  const pet = await http.send(`${url}/pets`, { method: 'POST', key, body: { name: 'Biscuit', categoryId: 1 } });
  const { id: petId } = JSON.parse(pet.text) as { id: number };
  const placed = await http.send(`${url}/store/orders`, { method: 'POST', key, body: { petId, adopter } });
  if (placed.status !== 201) throw new Error(`an order was not placed: ${placed.text}`);
  return { id: (JSON.parse(placed.text) as { id: number }).id, petId };
}

const petIdIn = (data: string) => (JSON.parse(data) as { data: { pet?: { id: number } } }).data.pet?.id;
const orderIdsIn = (events: readonly FeedEvent[]) => events.flatMap(({ data }) => data.order?.id ?? []);

/** To the end of the feed: a page that is empty. */
async function pagesOf(http: HttpClient, url: string, { key }: Key, filter = ''): Promise<FeedEvent[]> {
  const events: FeedEvent[] = [];
  let next = `/v1/events?limit=100${filter}`;
  for (let pages = 0; pages < pagesMax; pages += 1) {
    const { status, text, headers } = await http.send(url.replace(/\/v1$/, '') + next, { key });
    if (status !== 200) throw new Error(`the feed could not be read: ${text}`);
    const page = JSON.parse(text) as FeedEvent[];
    events.push(...page);
    next = /<([^>]+)>; rel="next"/.exec(String(headers.link))?.[1] ?? '';
    if (page.length === 0) return events;
  }
  throw new Error(`the feed has more than ${pagesMax} pages`);
}

async function streamOf(url: string, { key }: Key, count: number): Promise<FeedEvent[]> {
  using stream = await StreamReader.open(`${url}/events`, { key });
  const sent = await stream.untilCount(count, timeoutMs);
  return sent.map(({ data }) => JSON.parse(data) as FeedEvent);
}

async function until(isSo: () => Promise<boolean>, what: string): Promise<void> {
  const deadline = performance.now() + timeoutMs;
  while (!(await isSo())) {
    if (performance.now() > deadline) throw new Error(`no ${what} in ${timeoutMs} ms`);
    await sleep(50);
  }
}
