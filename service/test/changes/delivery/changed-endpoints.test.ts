// An endpoint whose settings change while it is sending.
import { expect, test } from 'vitest';
import { disposeAfterAll } from '../../dispose-after-all.ts';
import { poll } from '../../poll.ts';
import { openTestStore } from '../../test-store.ts';
import { WebhookReceiver } from '../../webhook-receiver.ts';
import { addAnimals, namesOf, publishChanges } from '../../webhook-steps.ts';
import { addEndpoint, deliver } from '../../webhook-work.ts';
import { FaultyDb } from './faulty-db.ts';

const store = await openTestStore({ env: { HOMEWARD_WEBHOOKS_TO_LOOPBACK: 'on', HOMEWARD_POOL_SIZE: '10' } });
const db = new FaultyDb(store.dependencies.db);
const receiver = disposeAfterAll(await WebhookReceiver.open());

test('An event that is published after an endpoint has asked for it is sent, though the worker read it before the change', async () => {
  const partner = await store.createKey();
  const { id } = await addEndpoint(store, partner, { url: receiver.url, types: ['pet.updated'] });
  const [first = 0, second = 0, third = 0] = await addAnimals(store, 3);
  await using _ = deliver({ db });
  const respond = receiver.hang();
  await publishChanges(store, [{ petId: first, name: 'first' }]);
  await poll(() => namesOf(receiver)).until((names) => names.includes('first'));

  // The worker reads the next page of the feed only after the change, and the change only after the page.
  db.stall(/^events$/);
  const changed = await store.call('PATCH', `/v1/webhooks/${id}`, { key: partner.key, body: { types: ['pet.updated', 'pet.created'] } });
  expect(changed.status).toBe(200);
  await publishChanges(store, [
    { petId: second, name: 'second', type: 'pet.created' },
    { petId: third, name: 'third' },
  ]);
  db.stall(/changed-webhooks/);
  await poll(() => db.isWaiting).until((isWaiting) => isWaiting);
  // The endpoint looks for what it sends next.
  respond({ status: 204 });
  await poll(() => store.write('select from webhook_attempts where webhook_id = $1', id)).until((attempts) => attempts.length > 0);
  db.resume();

  await poll(() => namesOf(receiver)).until((names) => names.includes('third'));
  expect(namesOf(receiver).toSorted()).toEqual(['first', 'second', 'third']);
});
