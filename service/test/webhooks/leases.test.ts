import { afterAll, beforeAll, expect, test } from 'vitest';
import { claimDeliveries, recordAttempts } from '../../src/webhooks/delivery-queries.ts';
import { sweepDeliveries } from '../../src/webhooks/webhooks.ts';
import { createTestStore, type TestKey, type TestStore } from '../test-store.ts';
import { addAnimal, addEndpoint, deliveriesOf, publishAll } from '../webhook-work.ts';

let store: TestStore;
let partner: TestKey;
beforeAll(async () => {
  store = await createTestStore();
  partner = await store.createKey();
});
afterAll(() => store[Symbol.asyncDispose]());

const bounds = { batchSizeMax: 100, shareMax: 3, failingShareMax: 1, scanMax: 50, leaseSeconds: 30 };
const claim = (more = {}) => claimDeliveries(store.dependencies.db, { ...bounds, ...more });
const sql = (text: string, values: unknown[] = []) => store.dependencies.db.query({ text, values });
const done = {
  at: new Date(),
  durationMs: 1,
  httpStatus: 204,
  answer: '',
  error: undefined,
  status: 'delivered' as const,
  delaySeconds: undefined,
  isGone: false,
};

test('an endpoint gets its share, a failing one a smaller share, and an expired lease is given again', async () => {
  const well = await addEndpoint(store, partner, { url: 'https://example.org/' });
  const ill = await addEndpoint(store, partner, { url: 'https://example.org/' });
  await sql('update webhooks set failing_since = now() where id = $1', [ill.id]);
  for (let i = 0; i < 5; i += 1) await addAnimal(store, partner);
  await publishAll(store.dependencies);
  const first = await claim();
  const counts = Object.groupBy(first, ({ webhookId }) => String(webhookId));
  expect([counts[well.id]?.length, counts[ill.id]?.length]).toEqual([3, 1]);
  expect(await claim()).toEqual([]);

  await sql(`update deliveries set next_attempt_at = now() - interval '1 hour', leased_until = now() where leased_until is not null`);
  const again = await claim();
  expect(again.map(({ id }) => id).sort()).toEqual(first.map(({ id }) => id).sort());
  const [old, renewed] = [first[0], again.find(({ id }) => id === first[0]?.id)];
  if (!old || !renewed) throw new Error('nothing leased');
  expect(renewed.lease).toBe(old.lease + 1n);

  await recordAttempts(store.dependencies.db, [{ ...done, deliveryId: old.id, lease: old.lease }], 5);
  const stillPending = await deliveriesOf(store, partner, Number(old.webhookId), '?status=delivered');
  expect(stillPending).toEqual([]);
  await recordAttempts(store.dependencies.db, [{ ...done, deliveryId: renewed.id, lease: renewed.lease }], 5);
  expect(await deliveriesOf(store, partner, Number(old.webhookId), '?status=delivered')).toMatchObject([
    { id: Number(old.id), attemptCount: 1 },
  ]);
});

test('two workers never lease the same delivery', async () => {
  await sql('update deliveries set leased_until = null, next_attempt_at = now()');
  const claims = (await Promise.all([claim(), claim(), claim()])).flat();
  expect(new Set(claims.map(({ id }) => id)).size).toBe(claims.length);
  expect(claims.length).toBeGreaterThan(0);
});

test('deliveries behind a retry of the same animal are delayed with it', async () => {
  const { id } = await addEndpoint(store, partner, { url: 'https://example.org/', types: ['pet.updated'] });
  for (const name of ['first', 'second', 'third'])
    await sql(`insert into outbox (type, pet_id, data) values ('pet.updated', 1, $1)`, [JSON.stringify({ name })]);
  await publishAll(store.dependencies);
  const mine = async () => (await claim()).filter(({ webhookId }) => webhookId === BigInt(id));
  const [head, ...others] = await mine();
  if (!head) throw new Error('nothing leased');
  expect(others).toEqual([]);
  const retry = { ...done, httpStatus: 500, status: 'pending' as const, delaySeconds: 3_600 };
  await recordAttempts(store.dependencies.db, [{ ...retry, deliveryId: head.id, lease: head.lease }], 5);
  expect(await mine()).toEqual([]);
  const { rows } = await sql('select count(distinct next_attempt_at)::int as count from deliveries where webhook_id = $1', [id]);
  expect(rows).toEqual([{ count: 1 }]);
  await sql('update deliveries set next_attempt_at = now() where id = $1', [head.id]);
  const [again] = await mine();
  if (!again) throw new Error('nothing leased');
  expect(again.id).toBe(head.id);
  await recordAttempts(store.dependencies.db, [{ ...done, deliveryId: again.id, lease: again.lease }], 5);
  expect((await mine()).map(({ data }) => JSON.parse(data).name)).toEqual(['second']);
});

test('more waiting deliveries of one animal than are scanned do not hide the first of them', async () => {
  const { id } = await addEndpoint(store, partner, { url: 'https://example.org/', types: ['pet.updated'] });
  for (let i = 0; i < 5; i += 1) await sql(`insert into outbox (type, pet_id, data) values ('pet.updated', 2, $1)`, [`{"n":${i}}`]);
  await publishAll(store.dependencies);
  await sql(`update deliveries set next_attempt_at = now() - interval '1 hour' where webhook_id = $1 and data <> '{"n":0}'`, [id]);
  const claimed = await claim({ scanMax: 3 });
  expect(claimed.filter(({ webhookId }) => webhookId === BigInt(id)).map(({ data }) => data)).toEqual(['{"n":0}']);
});

test('deliveries and attempts older than 30 days are deleted, and then removed endpoints', async () => {
  const { id } = await addEndpoint(store, partner, { url: 'https://example.org/' });
  await addAnimal(store, partner);
  await publishAll(store.dependencies);
  await sql(`update deliveries set created_at = now() - interval '31 days' where webhook_id <> $1`, [id]);
  await sql(`update webhooks set removed_at = now() - interval '31 days' where id <> $1`, [id]);
  while ((await sweepDeliveries(store.dependencies.db, 2)) > 0);
  expect((await sql('select distinct webhook_id as id from deliveries')).rows).toEqual([{ id: BigInt(id) }]);
  expect((await sql('select id from webhooks')).rows).toEqual([{ id: BigInt(id) }]);
  expect((await sql('select from delivery_attempts')).rows).toEqual([]);
});
