import { createHash } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { testAuthor } from '../../../testkit/test-author.ts';
import { deleteOldResponses } from '../../src/access/idempotency/idempotency-queries.ts';
import { eraseOrderAndApplicant } from '../../src/adoption/applications/applicants.ts';
import { theService } from '../../src/domain/actor.ts';
import { act, addPet, adopterOf, createManager, type OrderBody, type PetBody, placeOrder, readPet } from '../adoption-steps.ts';
import { errorResponse } from '../error-response.ts';
import { sendRaw } from '../raw-request.ts';
import { addShelter, shelterOf } from '../shelter-steps.ts';
import { openTestStore } from '../test-store.ts';

const store = await openTestStore();
const [key, manager] = [await store.createKey(), await createManager(store)];

const add = (idempotencyKey: string, body: unknown, { key: sent } = key) =>
  store.call<PetBody>('POST', '/v1/pets', { key: sent, body, headers: { 'idempotency-key': idempotencyKey } });
const place = (idempotencyKey: string, petId: number, { key: sent } = key) =>
  store.call<OrderBody>('POST', '/v1/store/orders', {
    key: sent,
    body: { petId, adopter: adopterOf(petId) },
    headers: { 'idempotency-key': idempotencyKey },
  });

async function countPets(name: string): Promise<bigint | undefined> {
  const rows = await store.read<{ count: bigint }>('select count(*) from pets where name = $1', name);
  return rows[0]?.count;
}

const letAge = (idempotencyKey: string, age: string) =>
  store.write('update idempotent_answers set created_at = now() - $2::interval where key = $1', idempotencyKey, age);

describe('A retry of POST /v1/pets with the same Idempotency-Key', () => {
  test('gets the first response byte for byte, is marked, and adds nothing', async () => {
    const body = { name: 'Once', categoryId: 1 };
    const [first, second] = [await add('once', body), await add('once', body)];
    expect([first.status, second.status, second.text]).toEqual([201, 201, first.text]);
    expect([first.headers['idempotent-replayed'], second.headers['idempotent-replayed']]).toEqual([undefined, 'true']);
    expect(second.headers.etag).toBe(first.headers.etag);
    expect(await countPets('Once')).toBe(1n);
  });

  test('gets the first response even if the animal has changed since', async () => {
    const body = { name: 'Before', categoryId: 1 };
    const first = await add('changed-since', body);
    await store.call('PATCH', `/v1/pets/${first.json.id}`, { key: manager.key, body: { name: 'After' } });
    expect((await add('changed-since', body)).text).toBe(first.text);
  });

  test('preserves every digit of an int64', async () => {
    const send = () =>
      store.call('POST', '/v1/pets', {
        key: key.key,
        raw: '{"name":"Wide","categoryId":9223372036854775807}',
        headers: { 'idempotency-key': 'wide' },
      });
    await send();
    expect((await send()).text).toContain('"categoryId":9223372036854775807');
  });

  test('counts as a request', async () => {
    const poor = await store.createKey({ plan: { perMinute: 100_000, perDay: 1_000 } });
    const body = { name: 'Costs', categoryId: 1 };
    const responses = [await add('costs', body, poor), await add('costs', body, poor)];
    expect(responses.map(({ headers }) => headers['x-ratelimit-remaining'])).toEqual(['999', '998']);
  });

  test('but another body is 422 and adds nothing', async () => {
    await add('other-body', { name: 'First', categoryId: 1 });
    expect(await add('other-body', { name: 'Second', categoryId: 1 })).toMatchObject(
      errorResponse(
        422,
        'idempotency_key_reused',
        'used for a request with another method, path or body, or by an API key with other scopes. Use a new key.',
      ),
    );
    expect(await countPets('Second')).toBe(0n);
  });

  test('but the same body in another notation is 422', async () => {
    const send = (raw: string) => store.call('POST', '/v1/pets', { key: key.key, raw, headers: { 'idempotency-key': 'spelling' } });
    await send('{"name":"A","categoryId":1}');
    expect(await send('{"name":"A", "categoryId":1}')).toMatchObject(errorResponse(422, 'idempotency_key_reused'));
  });

  test('at another path is 422', async () => {
    await add('other-path', { name: 'A', categoryId: 1 });
    const { id } = await addPet(store, key);
    expect(await place('other-path', id)).toMatchObject(errorResponse(422, 'idempotency_key_reused'));
    expect((await readPet(store, key, id))?.status).toBe('available');
  });

  test('by another key of the client gets the first response', async () => {
    const [one, two] = [await store.createKey({ client: 'Two keys' }), await store.createKey({ client: 'Two keys' })];
    const body = { name: 'Shared', categoryId: 1 };
    const first = await add('shared', body, one);
    expect((await add('shared', body, two)).text).toBe(first.text);
  });

  test('by a key of another shelter, or of none, is 422, and adds its animal with another Idempotency-Key', async () => {
    const shelters = [await addShelter(store, 'A'), await addShelter(store, 'B')];
    const keyOf = (shelterId?: number) =>
      store.createKey({ client: 'Two shelters', ...(shelterId && { shelterId: BigInt(shelterId) }), scopes: ['pets:write'] });
    const [one, two, unbound] = [await keyOf(shelters[0]), await keyOf(shelters[1]), await keyOf()];
    const body = { name: 'Of a shelter', categoryId: 1 };
    const first = await add('two-shelters', body, one);
    for (const other of [two, unbound]) {
      expect(await add('two-shelters', body, other)).toMatchObject(
        errorResponse(422, 'idempotency_key_reused', 'This Idempotency-Key was used by an API key of another shelter. Use a new key.'),
      );
    }
    expect((await add('two-shelters', body, await keyOf(shelters[0]))).text).toBe(first.text);
    const { json } = await add('two-shelters-again', body, two);
    expect(await shelterOf(store, 'pets', json.id)).toBe(shelters[1]);
    expect(await countPets('Of a shelter')).toBe(2n);
  });

  test('of a key without a shelter, by a key of one, is 422', async () => {
    const bound = await store.createKey({ client: 'Unbound first', shelterId: BigInt(await addShelter(store)) });
    const body = { name: 'Of none', categoryId: 1 };
    await add('unbound-first', body, await store.createKey({ client: 'Unbound first' }));
    expect(await add('unbound-first', body, bound)).toMatchObject(errorResponse(422, 'idempotency_key_reused'));
  });

  test('has the fingerprint by which a response that an earlier release has stored is found', async () => {
    await add('fingerprint', { name: 'Same', categoryId: 1 });
    const rows = await store.read(`select fingerprint from idempotent_answers where key = 'fingerprint'`);
    const hashed = createHash('sha256').update('own POST /v1/pets\n{"name":"Same","categoryId":1}').digest('base64url');
    expect(rows).toEqual([{ fingerprint: hashed }]);
  });

  test('by another client is a separate request', async () => {
    const other = await store.createKey();
    const body = { name: 'Apart', categoryId: 1 };
    const responses = [await add('apart', body), await add('apart', body, other)];
    expect(responses.map(({ headers }) => headers['idempotent-replayed'])).toEqual([undefined, undefined]);
    expect(await countPets('Apart')).toBe(2n);
  });

  test('by a key that has lost the scope is 403', async () => {
    const [writer, reader] = [
      await store.createKey({ client: 'Scopes' }),
      await store.createKey({ client: 'Scopes', scopes: ['pets:read'] }),
    ];
    const body = { name: 'A', categoryId: 1 };
    await add('scopes', body, writer);
    expect(await add('scopes', body, reader)).toMatchObject(errorResponse(403, 'insufficient_scope'));
  });

  test("by a key of the client with fewer scopes is 422, so that it can't read what the store's key may read", async () => {
    const staff = await createManager(store, { client: 'Staff and site' });
    const site = await store.createKey({ client: 'Staff and site' });
    const order = await placeOrder(store, key, (await addPet(store, key)).id);
    const headers = { 'idempotency-key': 'fewer-scopes' };
    expect((await act(store, staff, order.id, 'cancel', { headers })).status).toBe(200);
    expect(await act(store, site, order.id, 'cancel', { headers })).toMatchObject(errorResponse(422, 'idempotency_key_reused'));
  });

  test('is recognised for 24 hours', async () => {
    const body = { name: 'A day', categoryId: 1 };
    await add('a-day', body);
    await letAge('a-day', '23 hours 59 minutes');
    expect((await add('a-day', body)).headers['idempotent-replayed']).toBe('true');
  });

  test('is a new request after 24 hours, and is then recognised itself', async () => {
    const body = { name: 'Two days', categoryId: 1 };
    const first = await add('two-days', body);
    await letAge('two-days', '24 hours 1 second');
    const second = await add('two-days', body);
    expect(second.json.id).not.toBe(first.json.id);
    expect((await add('two-days', body)).text).toBe(second.text);
  });
});

describe('A rejected request', () => {
  test('is not stored: 400, then 201 with another body and the same key', async () => {
    expect((await add('corrected', { name: '', categoryId: 1 })).status).toBe(400);
    expect((await add('corrected', { name: 'Right', categoryId: 1 })).status).toBe(201);
  });

  test('is not stored: 409, then 201 once the animal is available', async () => {
    const { id } = await addPet(store, key);
    const { id: other } = await placeOrder(store, key, id);
    expect((await place('in-the-end', id)).status).toBe(409);
    await act(store, key, other, 'cancel');
    expect((await place('in-the-end', id)).status).toBe(201);
  });
});

describe('A retry of POST /v1/store/orders', () => {
  test('gets the same order and its Location, and does not reserve the animal again', async () => {
    const { id } = await addPet(store, key);
    const [first, second] = [await place('order', id), await place('order', id)];
    expect(second).toMatchObject({ status: 201, text: first.text, headers: { 'idempotent-replayed': 'true' } });
    expect(second.headers['location']).toBe(first.headers['location']);
  });

  test('after the adopter was erased does not contain the adopter', async () => {
    const { id } = await addPet(store, key);
    const first = await place('erased', id);
    const erased = await eraseOrderAndApplicant(store.dependencies.db, () => true, testAuthor, BigInt(first.json.id));
    expect(erased).toMatchObject({ responses: 1 });
    const retry = await place('erased', id);
    expect(retry).toMatchObject({ status: 201, headers: { 'idempotent-replayed': 'true' } });
    expect(retry.json).toEqual({ ...first.json, adopter: null });
  });
});

describe('A retry of an action on an order', () => {
  test.each(['cancel', 'approve'])('%s gets the first response and not 409', async (action) => {
    const order = await placeOrder(store, key, (await addPet(store, key)).id);
    const headers = { 'idempotency-key': `retry-${action}` };
    const first = await act(store, manager, order.id, action, { headers });
    expect(first.status).toBe(200);
    expect(await act(store, manager, order.id, action, { headers })).toMatchObject({ status: 200, text: first.text });
  });

  test('of another order is 422', async () => {
    const [one, two] = [
      await placeOrder(store, key, (await addPet(store, key)).id),
      await placeOrder(store, key, (await addPet(store, key)).id),
    ];
    const headers = { 'idempotency-key': 'one-order' };
    await act(store, manager, one.id, 'approve', { headers });
    expect(await act(store, manager, two.id, 'approve', { headers })).toMatchObject(errorResponse(422, 'idempotency_key_reused'));
  });
});

describe('A retry while the first request is in progress', () => {
  test('is 409 at once with Retry-After; the first request then succeeds, and so does the next retry', async () => {
    const { id } = await addPet(store, key);
    const { db } = store.dependencies;
    let first: ReturnType<typeof place> | undefined;
    // The animal's row is locked, so that the first request waits in the middle of its transaction.
    await db.transaction(async (tx) => {
      await tx.query({ text: 'select from pets where id = $1 for update', values: [id] });
      first = place('at-once', id);
      await expect.poll(() => waitingForLocks(), { timeout: 1_500, interval: 10 }).toBe(1n);
      expect(await place('at-once', id)).toMatchObject({
        ...errorResponse(409, 'idempotency_in_progress', 'is still in progress. Retry in 1 s.'),
        headers: { 'retry-after': '1' },
      });
    }, theService);
    expect((await first)?.status).toBe(201);
    expect((await place('at-once', id)).text).toBe((await first)?.text);
  });

  test('by twenty concurrent requests creates one order, and every 201 is the same', async () => {
    const { id } = await addPet(store, key);
    const responses = await Promise.all(Array.from({ length: 20 }, () => place('twenty', id)));
    const done = responses.filter(({ status }) => status === 201);
    expect(responses.filter(({ status }) => status === 409)).toHaveLength(20 - done.length);
    expect(new Set(done.map(({ text }) => text)).size).toBe(1);
  });

  async function waitingForLocks(): Promise<bigint | undefined> {
    const rows = await store.read<{ count: bigint }>(
      'select count(*) from pg_locks join pg_stat_activity using (pid) where datname = current_database() and not granted',
    );
    return rows[0]?.count;
  }
});

describe('An Idempotency-Key', () => {
  test.each([
    ['of 255 characters', 'k'.repeat(255)],
    ['of one character', '!'],
    ['that is a UUID', '0b8e4c0a-6c1e-4f58-9a55-1f2f0c6c7f10'],
  ])('%s is accepted', async (_, idempotencyKey) => {
    expect((await add(idempotencyKey, { name: 'A', categoryId: 1 })).status).toBe(201);
  });

  test.each([
    ['of 256 characters', 'k'.repeat(256)],
    ['of none', ''],
    ['with a blank', 'a b'],
    ['outside ASCII', 'clé'],
  ])('%s is 400 and adds nothing', async (_, idempotencyKey) => {
    expect(await add(idempotencyKey, { name: 'Rejected', categoryId: 1 })).toMatchObject(
      errorResponse(400, 'invalid_idempotency_key', 'Idempotency-Key must be 1–255 visible ASCII characters, given once; got "'),
    );
    expect(await countPets('Rejected')).toBe(0n);
  });

  test('given twice is 400', async () => {
    const body = '{"name":"Twice","categoryId":1}';
    const head = [
      'POST /v1/pets HTTP/1.1',
      'Host: x',
      `Authorization: Bearer ${key.key}`,
      'Content-Type: application/json',
      `Content-Length: ${body.length}`,
      'Idempotency-Key: a',
      'Idempotency-Key: a',
    ].join('\r\n');
    expect(await sendRaw(store.url, `${head}\r\n\r\n${body}`)).toMatchObject(errorResponse(400, 'invalid_idempotency_key', 'given once'));
  });

  test('is deleted with its response after 24 hours, and not before', async () => {
    await add('deleted', { name: 'A', categoryId: 1 });
    await add('stored', { name: 'A', categoryId: 1 });
    await letAge('deleted', '24 hours 1 second');
    await letAge('stored', '23 hours 59 minutes');
    await deleteOldResponses(store.dependencies.db, 1_000);
    const rows = await store.read(`select key from idempotent_answers where key in ('deleted', 'stored')`);
    expect(rows).toEqual([{ key: 'stored' }]);
  });

  test('is deleted in batches', async () => {
    for (const one of ['batch-1', 'batch-2', 'batch-3']) {
      await add(one, { name: 'A', categoryId: 1 });
      await letAge(one, '25 hours');
    }
    const { db } = store.dependencies;
    const counts = [await deleteOldResponses(db, 2), await deleteOldResponses(db, 2), await deleteOldResponses(db, 2)];
    expect(counts).toEqual([2, 1, 0]);
  });
});
