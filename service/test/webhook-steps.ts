// Steps for tests of the delivery of webhooks: events without the detour by animals, and changes that only time would make.

import { vi } from 'vitest';
import type { EventType } from '../src/domain/event-types.ts';
import { publishAll } from './event-steps.ts';
import { poll } from './poll.ts';
import type { TestStore } from './test-store.ts';
import type { WebhookReceiver } from './webhook-receiver.ts';

export interface Change {
  readonly petId: number;
  /** Shown in the event's data. */
  readonly name: string;
  readonly type?: EventType;
  /** The client whose order it is about. */
  readonly clientId?: bigint;
}

/** Adds animals without events. Returns their ids. */
export async function addAnimals(store: TestStore, count: number): Promise<number[]> {
  const rows = await store.write<{ id: bigint }>(
    `insert into pets (category_id, status, name) select 1, 'available', 'Biscuit' from generate_series(1, $1) returning id`,
    count,
  );
  return rows.map(({ id }) => Number(id));
}

/** Publishes an event for each change, in this order. Returns the position of the last one. */
export async function publishChanges(store: TestStore, changes: readonly Change[]): Promise<number> {
  await store.write(
    `insert into outbox (type, pet_id, client_id, data)
      select type, pet_id, client_id, json_build_object('pet', json_build_object('id', pet_id, 'name', name))::text
        from unnest($1::text[], $2::bigint[], $3::bigint[], $4::text[]) with ordinality as change (type, pet_id, client_id, name, n) order by n`,
    changes.map(({ type }) => type ?? 'pet.updated'),
    changes.map(({ petId }) => petId),
    changes.map(({ clientId }) => clientId ?? null),
    changes.map(({ name }) => name),
  );
  await publishAll(store);
  return feedEnd(store);
}

/** Publishes an event for each name. The animal is given by the name up to the first space. Returns the position of the last one. */
export async function publishNames(store: TestStore, ...names: string[]): Promise<number> {
  const animalOf = (name: string) => name.split(' ', 1)[0];
  const animals = [...new Set(names.map(animalOf))];
  const petIds = await addAnimals(store, animals.length);
  const changes = names.map((name) => ({ petId: petIds[animals.indexOf(animalOf(name))] ?? 0, name }));
  return publishChanges(store, changes);
}

export async function feedEnd(store: TestStore): Promise<number> {
  const [feed] = await store.write<{ last: bigint }>('select last_position as last from feed');
  return Number(feed?.last);
}

/** Lets the worker read an endpoint again, as the API does after a change. */
export async function notify(store: TestStore, id: number): Promise<void> {
  await store.write('update webhooks set is_changed = true, revision = revision + 1 where id = $1', id);
}

/** Makes retries due now, since they would be minutes or hours later. */
export async function hurry(store: TestStore, id: number): Promise<void> {
  const rows = `select delivery_id from delivery_exceptions where webhook_id = $1 and next_attempt_at < 'infinity' for update skip locked`;
  await store.write(`update delivery_exceptions set next_attempt_at = now() where webhook_id = $1 and delivery_id in (${rows})`, id);
  await notify(store, id);
}

/** The names of the animals in what was received, in order. */
export const namesOf = ({ received }: WebhookReceiver): string[] => received.flatMap(({ json }) => json.data.pet?.name ?? []);

const realNow = performance.now.bind(performance);
let skippedMs = 0;

/** Moves the clock of this process's workers forward: they do now what they would do after this time. */
export function passTime(ms: number): void {
  skippedMs += ms;
  vi.spyOn(performance, 'now').mockImplementation(() => realNow() + skippedMs);
}

/** Waits until the worker has stored that the endpoint shares the cursor of its shard: it has caught up. */
export async function sharesCursor(store: TestStore, id: number): Promise<void> {
  let polls = 0;
  await poll(() => {
    // Cursors are stored every 5 s. The endpoint may fall asleep only after that.
    if (polls % 20 === 0) passTime(5_000);
    polls += 1;
    return store.write('select from webhooks where id = $1 and position is null', id);
  }).until((rows) => rows.length === 1);
}
