// The tests do not wait: they create partitions of past days, and change when events were published.

import pg from 'pg';
import { beforeEach, describe, expect, test } from 'vitest';
import { eventRetentionDays, rotatePartitions } from '../../../src/changes/events/events.ts';
import { theService } from '../../../src/domain/actor.ts';
import { addPet } from '../../adoption-steps.ts';
import { errorResponse } from '../../error-response.ts';
import { type EventBody, publishAll, readOn } from '../../event-steps.ts';
import { nextPage } from '../../page-walk.ts';
import { createTestStore, type TestKey, type TestStore } from '../../test-store.ts';

let store: TestStore;
let owner: pg.Client;
let key: TestKey;
beforeEach(async () => {
  store = await createTestStore();
  owner = new pg.Client({ connectionString: store.databaseUrl });
  await owner.connect();
  key = await store.createKey();
  return async () => {
    await owner.end();
    await store[Symbol.asyncDispose]();
  };
});

const list = (path: string) => store.call<EventBody[]>('GET', path, { key: key.key });

/** Changes all published events to have been published this many days ago. */
async function shiftBack(days: number): Promise<void> {
  const { rows } = await owner.query<{ name: string; from: Date; to: Date }>({
    text: `select 'events_' || to_char(day, 'YYYYMMDD') as name, day at time zone 'utc' as from, (day + interval '1 day') at time zone 'utc' as to
      from (select date_trunc('day', now() at time zone 'utc') - make_interval(days => $1) as day) as one`,
    values: [days],
  });
  const [day] = rows;
  if (!day) throw new Error('no day');
  await owner.query(
    `create table ${day.name} partition of events for values from ('${day.from.toISOString()}') to ('${day.to.toISOString()}')`,
  );
  await owner.query({
    text: "update events set published_at = published_at - make_interval(days => $1) where published_at > now() - interval '1 day'",
    values: [days],
  });
}

const partitions = async () => {
  const { rows } = await owner.query<{ name: string }>(
    `select inhrelid::regclass::text as name from pg_inherits where inhparent = 'events'::regclass order by 1`,
  );
  return rows.map(({ name }) => name);
};

const dayName = (daysAhead: number) =>
  `events_${new Date(Date.now() + daysAhead * 86_400_000).toISOString().slice(0, 10).replaceAll('-', '')}`;

async function publishPets(count: number): Promise<number[]> {
  const ids: number[] = [];
  for (let i = 0; i < count; i += 1) ids.push((await addPet(store, key)).id);
  await publishAll(store);
  return ids;
}

describe('The partitions of the feed', () => {
  test('exist for today and the next two days', async () => {
    expect(await partitions()).toEqual([dayName(0), dayName(1), dayName(2)]);
  });

  test('are created if they are missing, also by two workers at the same time', async () => {
    await owner.query(`drop table ${dayName(1)}, ${dayName(2)}`);
    await Promise.all([rotatePartitions(store.dependencies.db), rotatePartitions(store.dependencies.db)]);
    expect(await partitions()).toEqual([dayName(0), dayName(1), dayName(2)]);
  });

  test('are created during a read and a publication', async () => {
    await owner.query(`drop table ${dayName(2)}`);
    await publishPets(1);
    await owner.query('begin');
    await owner.query('select from events');
    await owner.query("insert into outbox (type, pet_id, data) values ('pet.updated', 1, '{}')");
    await owner.query('update events set data = data');
    await rotatePartitions(store.dependencies.db);
    await owner.query('commit');
    expect(await partitions()).toContain(dayName(2));
  });

  test(`are dropped after ${eventRetentionDays} days`, async () => {
    await publishPets(2);
    await shiftBack(eventRetentionDays);
    expect(await rotatePartitions(store.dependencies.db)).toBe(0);
    expect((await list('/v1/events')).json).toHaveLength(2);
    await publishPets(1);
    await shiftBack(eventRetentionDays + 1);
    expect(await rotatePartitions(store.dependencies.db)).toBe(1);
    expect(await partitions()).toEqual([dayName(-eventRetentionDays), dayName(0), dayName(1), dayName(2)]);
  });

  test('are dropped once by two workers at the same time', async () => {
    await publishPets(1);
    await shiftBack(40);
    const dropped = await Promise.all([rotatePartitions(store.dependencies.db), rotatePartitions(store.dependencies.db)]);
    expect(dropped.sort()).toEqual([0, 1]);
  });

  test('and those of the attempts are found by any plan, which may look at the names of other tables first', async () => {
    await store.dependencies.db.transaction(async (tx) => {
      await tx.query({ text: 'set local enable_nestloop = off' });
      await tx.query({ text: `select drop_event_partitions(interval '30 days'), drop_attempt_partitions(interval '30 days')` });
    }, theService);
    expect(await partitions()).toContain(dayName(0));
  });

  test("can't be dropped by the application before a day has passed", async () => {
    const drop = store.read(`select drop_event_partitions(interval '1 hour')`);
    await expect(drop).rejects.toThrow('events are kept for a day at least');
  });

  test("are looked up in the store's schema, whatever temporary tables a session has created", async () => {
    await store.dependencies.db.transaction(async (tx) => {
      await tx.query({ text: 'create temp table feed (first_position bigint) on commit drop' });
      await tx.query({ text: 'create temp table events (position bigint) on commit drop' });
      await tx.query({ text: 'select make_event_partitions(), drop_event_partitions(make_interval(days => 1))' });
    }, theService);
    expect(await partitions()).toEqual([dayName(0), dayName(1), dayName(2)]);
  });
});

describe('A cursor', () => {
  test('of deleted events is 410, one at the boundary is not, and without one the feed starts with the oldest stored event', async () => {
    const start = nextPage(await list('/v1/events?limit=1')) ?? '';
    await publishPets(3);
    const within = nextPage(await list('/v1/events?limit=2')) ?? '';
    const edge = nextPage(await list('/v1/events?limit=3')) ?? '';
    await shiftBack(40);
    await rotatePartitions(store.dependencies.db);
    const [stored] = await publishPets(1);
    expect(await list(start)).toMatchObject(errorResponse(410, 'cursor_expired', `kept for ${eventRetentionDays} days`));
    expect(await list(within)).toMatchObject(errorResponse(410, 'cursor_expired'));
    expect((await list(edge)).json.map(({ data }) => data.pet?.id)).toEqual([stored]);
    expect((await list('/v1/events')).json.map(({ data }) => data.pet?.id)).toEqual([stored]);
  });

  test('at the end of a feed without stored events is valid, and continues with new events', async () => {
    await publishPets(2);
    const { next } = await readOn(store, key);
    await shiftBack(40);
    await rotatePartitions(store.dependencies.db);
    expect(await list(next)).toMatchObject({ status: 200, text: '[]' });
    const [id] = await publishPets(1);
    expect((await list(next)).json.map(({ data }) => data.pet?.id)).toEqual([id]);
  });

  test('is also 410 for a stream', async () => {
    const start = nextPage(await list('/v1/events?limit=1')) ?? '';
    await publishPets(1);
    await shiftBack(40);
    await rotatePartitions(store.dependencies.db);
    expect(await store.call('GET', start, { key: key.key, headers: { accept: 'text/event-stream' } })).toMatchObject(
      errorResponse(410, 'cursor_expired'),
    );
  });

  test('is 410 if events after it were dropped, so that there is never a gap', async () => {
    await publishPets(1);
    const first = nextPage(await list('/v1/events?limit=1')) ?? '';
    await publishPets(1);
    await shiftBack(40);
    await owner.query(`update events set published_at = now() where position = 1`);
    await rotatePartitions(store.dependencies.db);
    expect(await list(first)).toMatchObject(errorResponse(410, 'cursor_expired'));
    expect((await list('/v1/events')).json).toEqual([]);
  });

  test('is 410 after a restore, once the operator has advanced the feed as docs/operations/webhooks.md describes', async () => {
    await publishPets(3);
    const { next } = await readOn(store, key);
    await owner.query('update feed set first_position = last_position + 1000000001, last_position = last_position + 1000000000');
    expect(await list(next)).toMatchObject(errorResponse(410, 'cursor_expired'));
    const fresh = nextPage(await list('/v1/events')) ?? '';
    const [id] = await publishPets(1);
    expect((await list(fresh)).json.map(({ data }) => data.pet?.id)).toEqual([id]);
  });
});
