// A database that fails now and then: whatever statement it is, everything arrives, in order, and is accepted once.

import { beforeEach, describe, expect, test } from 'vitest';
import { poll } from '../../poll.ts';
import { openTestStore, type TestKey } from '../../test-store.ts';
import { type Received, WebhookReceiver } from '../../webhook-receiver.ts';
import { hurry, namesOf, publishNames, sharesCursor } from '../../webhook-steps.ts';
import { addEndpoint, deliver, deliveriesOf, type Work } from '../../webhook-work.ts';
import { FaultyDb } from './faulty-db.ts';

let db: FaultyDb;
let work: Work;
let partner: TestKey;
let receiver: WebhookReceiver;
const store = await openTestStore({ env: { HOMEWARD_WEBHOOKS_TO_LOOPBACK: 'on', HOMEWARD_POOL_SIZE: '10' } });
beforeEach(async () => {
  partner = await store.createKey();
  receiver = await WebhookReceiver.open();
  db = new FaultyDb(store.dependencies.db);
  work = deliver({ db }, { mayFail: true });
  return async () => {
    await work[Symbol.asyncDispose]();
    await receiver[Symbol.asyncDispose]();
  };
});

const endpoint = () => addEndpoint(store, partner, { url: receiver.url, types: ['pet.updated'] });
const delivered = (id: number, count: number) =>
  poll(() => deliveriesOf(store, partner, id, '?limit=100')).until(
    (all) => all.length === count && all.every(({ status }) => status === 'delivered'),
  );

/** Accepts everything, but rejects the first request for each of these names. */
function rejectOnce(...names: string[]): string[] {
  const accepted: string[] = [];
  receiver.respond = ({ json }: Received) => {
    const name = json.data.pet?.name ?? json.type;
    const isFirst = namesOf(receiver).filter((one) => one === name).length === 1;
    if (names.includes(name) && isFirst) return { status: 500 };
    accepted.push(name);
    return { status: 204 };
  };
  return accepted;
}

const publish = (...names: string[]) => publishNames(store, ...names);

describe('A statement that fails', () => {
  test.each([
    /^events$/,
    /changed-webhooks/,
    /mark-webhooks-read/,
    /due-states/,
    /due-rows/,
    /decide-deliveries/,
    /insert-webhook-attempts/,
    /insert-failed-deliveries/,
    /wake-next-deliveries/,
  ])('such as %s delays deliveries, and nothing else', async (name) => {
    const accepted = rejectOnce('a 1');
    const { id } = await endpoint();
    db.fail(name);
    await publish('a 1', 'a 2', 'b 1', 'a 3', 'b 2', 'c 1');
    await poll(() => store.write('select from delivery_exceptions where webhook_id = $1 and attempt_count = 1', id)).until(
      (rows) => rows.length === 1,
    );
    await hurry(store, id);
    await delivered(id, 6);
    expect(db.hasFailed).toBe(true);
    expect(accepted.toSorted()).toEqual(['a 1', 'a 2', 'a 3', 'b 1', 'b 2', 'c 1']);
    for (const animal of ['a', 'b']) {
      const own = accepted.filter((one) => one.startsWith(animal));
      expect(own).toEqual(own.toSorted());
    }
  });

  test.each([/webhook-shards$/, /served-webhooks/, /insert-webhook-worker/])('at the start, such as %s, is tried again', async (name) => {
    await work[Symbol.asyncDispose]();
    const { id } = await endpoint();
    await publish('a', 'b');
    db.fail(name);
    work = deliver({ db }, { mayFail: true });
    await delivered(id, 2);
    expect([db.hasFailed, namesOf(receiver).toSorted()]).toEqual([true, ['a', 'b']]);
  });

  test('while several retries are due makes none of them wait for another event', async () => {
    const { id } = await endpoint();
    const names = Array.from({ length: 8 }, (_, i) => `a${i}`);
    await publish(...names);
    const all = await delivered(id, 8);
    await sharesCursor(store, id);
    db.fail(/decide-deliveries/);
    await store.write(
      `insert into delivery_exceptions (webhook_id, delivery_id, pet_id, created_at, is_replay)
        select $1, position, pet_id, published_at, true from events where position = any($2::bigint[])`,
      id,
      all.map((one) => one.id),
    );
    await hurry(store, id);
    await poll(() => namesOf(receiver).length).until((count) => count === 16);
    expect([db.hasFailed, namesOf(receiver).slice(8).toSorted()]).toEqual([true, names]);
  });

  test('while an endpoint far behind reads pages is tried again', async () => {
    await work[Symbol.asyncDispose]();
    const { id } = await endpoint();
    const names = Array.from({ length: 70 }, (_, i) => `a${String(i).padStart(2, '0')}`);
    await publish(...names);
    await store.write('update webhook_shards set position = last_position from feed');
    db.fail(/subscribed-events/);
    work = deliver({ db }, { mayFail: true });
    await delivered(id, 70);
    expect([db.hasFailed, namesOf(receiver).toSorted()]).toEqual([true, names]);
  });

  test('at a shutdown loses nothing: another worker sends what is not stored', async () => {
    const { id } = await endpoint();
    db.fail(/insert-webhook-attempts|move-webhook-shards/, 1_000);
    await publish('a', 'b');
    await receiver.has(2);
    await work[Symbol.asyncDispose]();
    await publish('c');
    work = deliver({ db: store.dependencies.db });
    await delivered(id, 3);
    expect(new Set(namesOf(receiver))).toEqual(new Set(['a', 'b', 'c']));
  });
});
