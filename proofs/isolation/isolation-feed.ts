// Checks what a client can learn about another client's orders and applications: from pages of the feed, from the stream, and at webhook endpoints.
import { eventTypes } from '../../service/src/domain/event-types.ts';
import { adopter, adopterOf } from '../../testkit/adopters.ts';
import type { HttpClient } from '../../testkit/http.ts';
import { unusedOrigin } from '../../testkit/isolation-matrix.ts';
import type { Key } from '../../testkit/store.ts';
import { StreamReader } from '../../testkit/stream-reader.ts';
import { until } from '../../testkit/until.ts';

interface FeedEvent {
  readonly type: string;
  readonly data: { readonly order?: { readonly id: number }; readonly application?: { readonly id: number } };
}

/** An order, and an application for the same animal. */
export interface Adoption {
  readonly id: number;
  readonly applicationId: number;
  readonly petId: number;
}

/** A reader of the feed, and the orders and applications whose events it may see. */
export interface Reader {
  readonly name: string;
  readonly key: Key;
  readonly adoptions: readonly Adoption[];
}

/** What is submitted and placed while the readers follow the feed, and the readers that may see its events. */
export interface LiveAdoption extends Adoption {
  readonly visibleTo: readonly Reader[];
}

export interface FeedFindings {
  /** Events of orders and applications that reached a reader that may not see them. */
  readonly leaks: readonly string[];
  /** All events that were checked, and how many of them are private ones that their reader may see. */
  readonly events: number;
  readonly own: number;
}

const timeoutMs = 15_000;
const pagesMax = 20;

/** Reads everything published so far in every way, and then what arrives while each reader follows the feed. */
export async function readAll(
  http: HttpClient,
  url: string,
  readers: readonly Reader[],
  makeAdoption: () => Promise<LiveAdoption>,
): Promise<FeedFindings> {
  const [leaks, counts] = [[] as string[], { events: 0, own: 0 }];
  const check = (reader: Reader, where: string, events: readonly FeedEvent[], adoptions = reader.adoptions) => {
    const allowed = new Set(adoptions.flatMap(({ id, applicationId }) => [`order ${id}`, `application ${applicationId}`]));
    const subjects = privateSubjectsIn(events);
    counts.events += events.length;
    counts.own += subjects.filter((subject) => allowed.has(subject)).length;
    leaks.push(...subjects.filter((subject) => !allowed.has(subject)).map((subject) => `${subject} to ${reader.name} in ${where}`));
  };
  for (const reader of readers) {
    const whole = await pagesOf(http, url, reader.key);
    check(reader, 'the feed', whole);
    for (const type of eventTypes) check(reader, `the feed of ${type}`, await pagesOf(http, url, reader.key, `&type=${type}`));
    check(reader, 'the stream from the beginning', await streamOf(url, reader.key, whole.length));
  }
  using streams = new DisposableStack();
  const following: StreamReader[] = [];
  for (const { key } of readers) following.push(streams.use(await StreamReader.open(`${url}/events?cursor=latest`, { key: key.key })));
  const { visibleTo, ...adoption } = await makeAdoption();
  for (const [i, reader] of readers.entries()) {
    const stream = following[i];
    // Every reader gets the animal's event, which is recorded after the others: once it has arrived, none of them can follow.
    const hasArrived = () =>
      stream?.events.some(({ type, data }) => type === 'pet.status_changed' && petIdIn(data) === adoption.petId) ?? false;
    await stream?.until(hasArrived, `event of animal ${adoption.petId}`, timeoutMs);
    const events = (stream?.events ?? []).map(({ data }) => JSON.parse(data) as FeedEvent);
    check(reader, 'the stream that it follows', events, visibleTo.includes(reader) ? [adoption] : []);
  }
  return { leaks, ...counts };
}

/** Resolves once the order's event has been published. */
export async function untilPublished(http: HttpClient, url: string, key: Key, orderId: number): Promise<void> {
  await until(`the event of order ${orderId} is published`, async () =>
    privateSubjectsIn(await pagesOf(http, url, key)).includes(`order ${orderId}`),
  );
}

/** Adds an endpoint. The key that adds it decides which events it gets. */
export async function addEndpoint(http: HttpClient, url: string, { key }: Key): Promise<number> {
  const { status, text } = await http.send(`${url}/webhooks`, { method: 'POST', key, body: { url: `${unusedOrigin}/hooks` } });
  if (status !== 201) throw new Error(`no endpoint was added: ${text}`);
  return (JSON.parse(text) as { id: number }).id;
}

/** The types of the events queued for an endpoint, once there are at least `countMin`. */
export async function typesQueued(http: HttpClient, url: string, { key }: Key, endpoint: number, countMin: number): Promise<string[]> {
  return until(`there are ${countMin} deliveries`, async () => {
    const { text } = await http.send(`${url}/webhooks/${endpoint}/deliveries?limit=100`, { key });
    const types = (JSON.parse(text) as Array<{ type: string }>).map(({ type }) => type).filter((type) => type !== 'webhook.test');
    return types.length >= countMin && types;
  });
}

/** Submits an application and places an order for a new animal. */
export async function adopt(http: HttpClient, url: string, client: Key): Promise<Adoption> {
  const { key } = client;
  const pet = await http.send(`${url}/pets`, { method: 'POST', key, body: { name: 'Biscuit', categoryId: 1 } });
  const { id: petId } = JSON.parse(pet.text) as { id: number };
  const { id: applicationId } = await submitApplication(http, url, client, { petId, adopter: adopterOf(petId) });
  const placed = await http.send(`${url}/store/orders`, { method: 'POST', key, body: { petId, adopter } });
  if (placed.status !== 201) throw new Error(`an order was not placed: ${placed.text}`);
  return { id: (JSON.parse(placed.text) as { id: number }).id, applicationId, petId };
}

export async function submitApplication(
  http: HttpClient,
  url: string,
  { key }: Key,
  body: { readonly petId: number; readonly adopter: object },
): Promise<{ id: number; shelterId: number }> {
  const { status, text } = await http.send(`${url}/applications`, { method: 'POST', key, body });
  if (status !== 201) throw new Error(`an application was not submitted: ${text}`);
  return JSON.parse(text) as { id: number; shelterId: number };
}

const petIdIn = (data: string) => (JSON.parse(data) as { data: { pet?: { id: number } } }).data.pet?.id;
const privateSubjectsIn = (events: readonly FeedEvent[]): string[] =>
  events.flatMap(({ data: { order, application } }) =>
    order ? [`order ${order.id}`] : application ? [`application ${application.id}`] : [],
  );

/** Reads up to the end of the feed, which is an empty page. */
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
