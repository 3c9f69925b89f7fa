// What is sent to the endpoints of a shelter's keys.

import { describe, expect, test } from 'vitest';
import { testAuthor } from '../../../../testkit/test-author.ts';
import { rotateKeyAndWebhooks } from '../../../src/changes/webhooks/endpoint-keys.ts';
import type { Scope } from '../../../src/domain/scopes.ts';
import { poll } from '../../poll.ts';
import { addShelter, createShelterKey } from '../../shelter-steps.ts';
import type { TestKey } from '../../test-store.ts';
import { webhookBench } from '../../webhook-bench.ts';
import { WebhookReceiver } from '../../webhook-receiver.ts';
import { addAnimals, namesOf, publishChanges } from '../../webhook-steps.ts';
import { addEndpoint } from '../../webhook-work.ts';

const bench = await webhookBench();
const [one, other] = [await addShelter(bench.store, 'One'), await addShelter(bench.store, 'Other')];

const staffScopes: readonly Scope[] = ['webhooks:manage', 'shelter:manage'];
const staffOf = (shelter: number) => createShelterKey(bench.store, shelter, staffScopes);

/** An order's event, of the partner or of `by`, for a new animal of a shelter. Its name is shown in what is sent. */
async function publishOrder(shelter: number, name: string, by = bench.partner): Promise<void> {
  const [petId = 0] = await addAnimals(bench.store, 1);
  await bench.store.write('update pets set shelter_id = $2 where id = $1', petId, shelter);
  await publishChanges(bench.store, [{ type: 'order.placed', petId, name, clientId: by.clientId }]);
}

/** Waits until everything has been sent that may be: an endpoint of the partner gets every event that is published here. */
async function allIsSent(): Promise<void> {
  await using last = await WebhookReceiver.open();
  await addEndpoint(bench.store, bench.partner, { url: last.url, types: ['pet.removed'] });
  const [petId = 0] = await addAnimals(bench.store, 1);
  await publishChanges(bench.store, [{ type: 'pet.removed', petId, name: 'last' }]);
  await last.has(1);
}

const endpoint = (key: TestKey) => addEndpoint(bench.store, key, { url: bench.receiver.url, types: ['order.placed'] });
const received = async (count: number) => poll(() => namesOf(bench.receiver)).until((names) => names.length >= count);

describe('An endpoint of a key with shelter:manage', () => {
  test('gets the orders of its shelter and its own, each once, and no others', async () => {
    const staff = await staffOf(one);
    await endpoint(staff);
    await publishOrder(other, 'foreign');
    await publishOrder(one, 'of the shelter');
    await publishOrder(one, 'both', staff);
    await publishOrder(other, 'own', staff);
    await received(3);
    await allIsSent();
    expect(namesOf(bench.receiver).toSorted()).toEqual(['both', 'of the shelter', 'own']);
  });

  test('gets them when it is far behind, from the database, and lists them as queued until then', async () => {
    const staff = await staffOf(one);
    const { id } = await endpoint(staff);
    await poll(async () => (await bench.call<{ status: string }>('GET', `/${id}`, undefined, staff)).json.status).until(
      (status) => status === 'enabled',
    );
    await bench.stopWorker();
    await bench.store.write('update webhooks set position = (select last_position from feed) where id = $1', id);
    await publishOrder(one, 'first');
    await publishOrder(other, 'foreign');
    await publishOrder(one, 'second', staff);
    const { json: queued } = await bench.call<Array<{ type: string; status: string }>>('GET', `/${id}/deliveries`, undefined, staff);
    expect(queued.filter(({ type }) => type === 'order.placed')).toMatchObject([{ status: 'pending' }, { status: 'pending' }]);
    bench.startWorker();
    expect(await received(2)).toEqual(['first', 'second']);
  });

  test('replays them by time, and none of another shelter', async () => {
    const staff = await staffOf(one);
    const { id } = await endpoint(staff);
    const from = new Date().toISOString();
    await publishOrder(one, 'of the shelter');
    await publishOrder(other, 'foreign');
    await received(1);
    const range = { from, to: new Date(Date.now() + 60_000).toISOString() };
    const { json } = await bench.call<{ count: number }>('POST', `/${id}/replay`, range, staff);
    expect(Object.values(json)).toEqual([1]);
    expect(await received(2)).toEqual(['of the shelter', 'of the shelter']);
  });

  test('of a rotated key still gets them', async () => {
    const staff = await staffOf(one);
    await endpoint(staff);
    await rotateKeyAndWebhooks(bench.store.dependencies.db, () => true, testAuthor, staff.id, {
      overlapSeconds: 0,
      environment: 'production',
    });
    await publishOrder(one, 'after the rotation');
    expect(await received(1)).toEqual(['after the rotation']);
  });

  test('gets them no more when a key without shelter:manage takes it over, and those of the other shelter when its key does', async () => {
    const { store } = bench;
    const client = 'Moving staff';
    const add = (shelterId: number | undefined, scopes: readonly Scope[]) =>
      store.createKey({ client, scopes, ...(shelterId !== undefined && { shelterId: BigInt(shelterId) }) });
    const { id } = await endpoint(await add(one, staffScopes));
    const takeOver = async (key: TestKey) => {
      const { status } = await bench.call('PATCH', `/${id}`, { types: ['order.placed'] }, key);
      expect(status).toBe(200);
      await poll(
        async () => (await store.write<{ isChanged: boolean }>('select is_changed as "isChanged" from webhooks where id = $1', id))[0],
      ).until((row) => row?.isChanged === false);
    };
    await takeOver(await add(undefined, ['webhooks:manage', 'orders:read']));
    await publishOrder(one, 'too late');
    await takeOver(await add(other, staffScopes));
    await publishOrder(one, 'still too late');
    await publishOrder(other, 'of the other');
    await received(1);
    await allIsSent();
    expect(namesOf(bench.receiver)).toEqual(['of the other']);
  });
});

test('An endpoint of a key that is bound, without shelter:manage, gets the orders of its client only', async () => {
  const bound = await createShelterKey(bench.store, one, ['webhooks:manage', 'orders:read']);
  await endpoint(bound);
  await publishOrder(one, 'of the shelter');
  await publishOrder(one, 'own', bound);
  await received(1);
  await allIsSent();
  expect(namesOf(bench.receiver)).toEqual(['own']);
});
