import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { publishAll } from '../../service/test/event-steps.ts';
import { createTestStore, type TestStore } from '../../service/test/test-store.ts';
import { createStore, type FeedEvent, type Store } from '../src/index.ts';

let service: TestStore;
let store: Store;
beforeAll(async () => {
  service = await createTestStore();
  store = createStore({ url: service.url, key: (await service.createKey()).key });
});
afterAll(() => service[Symbol.asyncDispose]());

async function add(...names: string[]): Promise<void> {
  for (const name of names) await store.pets.add({ name, categoryId: 1 });
  await publishAll(service);
}

const nameOf = (event: FeedEvent) => ('pet' in event.data ? event.data.pet.name : '');

async function take(count: number, events: AsyncIterable<FeedEvent>): Promise<FeedEvent[]> {
  const taken: FeedEvent[] = [];
  for await (const event of events) if (taken.push(event) === count) break;
  return taken;
}

describe('follow', () => {
  test('yields every stored event, then new ones, each with the cursor to resume from', async () => {
    await add('One', 'Two');
    const following = take(3, store.events.follow());
    await add('Three');
    const events = await following;
    expect(events.map(nameOf)).toEqual(['One', 'Two', 'Three']);
    const [, second] = events;
    const [next] = await take(1, store.events.follow({ cursor: second?.cursor ?? '' }));
    expect(next).toEqual(events[2]);
  });

  test('yields only what the filters ask for', async () => {
    const { cursor = '' } = await store.events.page({ cursor: 'latest' });
    await store.pets.add({ name: 'Unwanted', categoryId: 1 });
    await store.pets.add({ name: 'Wanted', categoryId: 2 });
    await publishAll(service);
    const [first] = await take(1, store.events.follow({ cursor, categoryId: [2], shelterId: [1], type: 'pet.created' }));
    expect(first && nameOf(first)).toBe('Wanted');
  });

  test("starts with new events for the cursor 'latest'", async () => {
    const controller = new AbortController();
    const names: string[] = [];
    const read = async () => {
      for await (const event of store.events.follow({ cursor: 'latest', signal: controller.signal })) {
        names.push(nameOf(event));
        controller.abort();
      }
    };
    // The moment when following starts is unknown: the first event is any of those added after it.
    const change = async () => {
      for (let i = 0; !controller.signal.aborted && i < 50; i += 1) await add(`Late ${i}`);
    };
    await Promise.all([expect(read()).rejects.toThrow('aborted'), change()]);
    expect(names).toHaveLength(1);
    expect(names[0]).toMatch(/^Late/);
  });

  test('resumes where it was after a lost connection, and misses nothing', async () => {
    const lost: AbortController[] = [];
    const losing: typeof fetch = (input, init) => {
      const loss = new AbortController();
      lost.push(loss);
      return fetch(input, { ...init, signal: AbortSignal.any([loss.signal, ...(init?.signal ? [init.signal] : [])]) });
    };
    const unlucky = createStore({ url: service.url, key: (await service.createKey()).key, fetch: losing });
    const { cursor } = await store.events.page({ cursor: 'latest' });
    const seen: string[] = [];
    const expected = ['Four', 'Five', 'Six', 'Seven'];
    await add('Four');
    for await (const event of unlucky.events.follow({ cursor: cursor ?? '' })) {
      seen.push(nameOf(event));
      lost.at(-1)?.abort();
      const next = expected[seen.length];
      if (next === undefined) break;
      await add(next);
    }
    expect(seen).toEqual(expected);
    expect(lost).toHaveLength(expected.length);
  });

  test('throws an error that a retry cannot fix', async () => {
    await expect(take(1, store.events.follow({ cursor: 'nonsense' }))).rejects.toMatchObject({ code: 'invalid_cursor' });
  });

  test('filters by type', async () => {
    const [event] = await take(1, store.events.follow({ type: 'pet.created' }));
    expect(event?.type).toBe('pet.created');
  });
});

describe('page', () => {
  test('always has a cursor for the next page, even if there are no events yet', async () => {
    const end = await store.events.page({ cursor: 'latest' });
    expect(end.items).toEqual([]);
    await add('Paged');
    const page = await store.events.page({ cursor: end.cursor ?? '' });
    expect(page.items).toMatchObject([{ type: 'pet.created', data: { pet: { name: 'Paged' } } }]);
    expect(page.cursor).toBeDefined();
  });
});
