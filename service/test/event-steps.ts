// Setup steps for tests about events.

import { Publisher } from '../src/changes/events/publisher.ts';
import type { PetStatus } from '../src/domain/pet-statuses.ts';
import type { OrderBody, PetBody } from './adoption-steps.ts';
import { nextPage } from './page-walk.ts';
import type { TestKey, TestStore } from './test-store.ts';

export interface EventBody {
  readonly id: string;
  readonly type: string;
  readonly createdAt: string;
  readonly data: { readonly pet?: PetBody; readonly previousStatus?: PetStatus; readonly order?: Omit<OrderBody, 'adopter'> };
}

const batchesMax = 1_000;
const pagesMax = 1_000;

/** Publishes everything that is committed by now, like a worker. Returns the number of events. */
export async function publishAll(store: TestStore): Promise<number> {
  const { db, catalogue } = store.dependencies;
  const publisher = new Publisher({ db, batchSizeMax: 500, beforePublishing: (ids) => catalogue.announceMissing(ids) });
  let published = 0;
  for (let batches = 0; batches < batchesMax; batches += 1) {
    const count = await publisher.publish();
    if (count === 0) return published;
    published += count;
  }
  throw new Error(`the outbox is not empty after ${batchesMax} batches`);
}

/** Publishes, and reads all pages from `from` on. `next` is the page that a reader continues with later. */
export async function readOn(
  store: TestStore,
  { key }: TestKey,
  from = '/v1/events?limit=100',
): Promise<{ events: EventBody[]; next: string; texts: string[] }> {
  await publishAll(store);
  const [events, texts]: [EventBody[], string[]] = [[], []];
  let next = from;
  for (let pages = 0; pages < pagesMax; pages += 1) {
    const page = await store.call<EventBody[]>('GET', next, { key });
    const link = nextPage(page);
    if (page.status !== 200 || !link) throw new Error(`${next}: ${page.status} ${page.text}`);
    next = link;
    if (page.json.length === 0) return { events, next, texts };
    events.push(...page.json);
    texts.push(page.text);
  }
  throw new Error(`more than ${pagesMax} pages`);
}

export const typesOf = (events: readonly EventBody[]): string[] => events.map(({ type }) => type);

/** The animal that an event is about. */
export const petIdOf = ({ data }: EventBody): number | undefined => data.pet?.id ?? data.order?.petId;
