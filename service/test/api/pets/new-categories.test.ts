// The number of categories that a client may register by adding animals.

import { describe, expect, test, vi } from 'vitest';
import { theService } from '../../../src/domain/actor.ts';
import { addPet, createManager, type PetBody } from '../../adoption-steps.ts';
import { errorResponse } from '../../error-response.ts';
import { countLockWaits } from '../../lock-waits.ts';
import { openTestStore, type TestKey } from '../../test-store.ts';

const connections = 40;
const generous = { perMinute: 1_000_000, perDay: 100_000_000 };

let nextId = 1_000;
const store = await openTestStore({ env: { HOMEWARD_POOL_SIZE: String(connections) } });

const add = ({ key }: TestKey, categoryId: number, headers: Record<string, string> = {}) =>
  store.call<PetBody>('POST', '/v1/pets', { key, body: { name: 'Biscuit', categoryId }, headers });

const newId = () => (nextId += 1);

async function registerMany(key: TestKey, count: number): Promise<void> {
  for (let i = 0; i < count; i += 1) await addPet(store, key, { categoryId: newId() });
}

async function stored(): Promise<unknown> {
  const tables = ['pets', 'categories', 'history', 'outbox', 'idempotent_answers'];
  const counts = tables.map((table) => `(select count(*) from ${table}) as ${table}`);
  const registered = '(select sum(count) from category_registrations) as registered';
  return (await store.read(`select ${[...counts, registered].join(', ')}`))[0];
}

async function registeredBy({ clientId }: TestKey): Promise<bigint | undefined> {
  const text = 'select count from category_registrations where client_id = $1';
  return (await store.read<{ count: bigint }>(text, clientId))[0]?.count;
}

describe('POST /v1/pets with a new category', () => {
  test('is 400 for the 21st of a Free client in a day, says how many were registered, and stores nothing', async () => {
    const key = await store.createKey({ plan: 'free' });
    await registerMany(key, 20);
    const before = await stored();
    const id = newId();
    expect(await add(key, id)).toMatchObject(
      errorResponse(
        400,
        'category_limit',
        `Category ${id} does not exist, and this client has registered 20 of 20 new categories today (UTC).`,
      ),
    );
    expect(await stored()).toEqual(before);
  });

  test('is 400 beyond the limit with an Idempotency-Key too, and is not stored under it', async () => {
    const key = await store.createKey({ plan: { ...generous, newCategoriesMax: 1 } });
    await registerMany(key, 1);
    const before = await stored();
    const [id, headers] = [newId(), { 'idempotency-key': 'once' }];
    expect(await add(key, id, headers)).toMatchObject(errorResponse(400, 'category_limit', 'registered 1 of 1 new categories'));
    expect(await stored()).toEqual(before);
    await addPet(store, await createManager(store), { categoryId: id });
    expect(await add(key, id, headers)).toMatchObject({ status: 201 });
  });

  test('registers exactly 20 of 60 concurrent ones if 20 are allowed', async () => {
    const key = await store.createKey({ plan: { ...generous, newCategoriesMax: 20 } });
    const ids = Array.from({ length: 60 }, newId);
    const waiting = [...ids.entries()];
    const statuses: number[] = [];
    // As many callers as there are connections for transactions, so that none waits for a connection.
    const callers = Array.from({ length: connections / 2 }, async () => {
      for (let next = waiting.pop(); next; next = waiting.pop()) {
        const [i, id] = next;
        statuses.push((await add(key, id, i % 2 === 0 ? { 'idempotency-key': `${i}` } : {})).status);
      }
    });
    await Promise.all(callers);
    expect(statuses.sort()).toEqual([...Array(20).fill(201), ...Array(40).fill(400)]);
    const rows = await store.read('select count(*) from categories where id = any($1)', ids);
    expect(rows).toEqual([{ count: 20n }]);
    expect(await registeredBy(key)).toBe(20n);
  });

  test('counts once if ten animals are added to it at the same time', async () => {
    const key = await store.createKey({ plan: { ...generous, newCategoriesMax: 1 } });
    const id = newId();
    const responses = await Promise.all(Array.from({ length: 10 }, () => add(key, id)));
    expect(responses.map(({ status }) => status)).toEqual(Array(10).fill(201));
    expect(await registeredBy(key)).toBe(1n);
  });

  test('is not counted for a client if another client registered it meanwhile', async () => {
    const key = await store.createKey({ plan: { ...generous, newCategoriesMax: 1 } });
    const id = newId();
    let adding: ReturnType<typeof add> | undefined;
    await store.dependencies.db.transaction(async (tx) => {
      await tx.query({ text: 'insert into categories (id) values ($1)', values: [id] });
      adding = add(key, id);
      await vi.waitUntil(async () => (await countLockWaits(store)) === 1n, { timeout: 1_500, interval: 10 });
    }, theService);
    expect(await adding).toMatchObject({ status: 201 });
    expect(await registeredBy(key)).toBeUndefined();
  });

  test('is 201 for a client at its limit if the category exists', async () => {
    const key = await store.createKey({ plan: { ...generous, newCategoriesMax: 1 } });
    await registerMany(key, 1);
    expect(await add(key, 1)).toMatchObject({ status: 201 });
    expect(await add(key, nextId)).toMatchObject({ status: 201 });
  });

  test('is 201 again from the next UTC day on', async () => {
    const key = await store.createKey({ plan: { ...generous, newCategoriesMax: 2 } });
    await registerMany(key, 2);
    expect((await add(key, newId())).status).toBe(400);
    await store.asOwner('update category_registrations set day = day - 1 where client_id = $1', key.clientId);
    await registerMany(key, 2);
    expect((await add(key, newId())).status).toBe(400);
  });

  test('does not reset the count of a new day by a transaction from before midnight', async () => {
    const key = await store.createKey({ plan: { ...generous, newCategoriesMax: 2 } });
    await registerMany(key, 1);
    await store.asOwner('update category_registrations set day = day + 1 where client_id = $1', key.clientId);
    await registerMany(key, 1);
    expect((await add(key, newId())).status).toBe(400);
  });

  test('is neither limited nor counted for a key with store:manage', async () => {
    const manager = await createManager(store, { plan: { ...generous, newCategoriesMax: 1 } });
    await registerMany(manager, 3);
    expect(await registeredBy(manager)).toBeUndefined();
  });

  test('is neither limited nor counted if staff change the category by PATCH', async () => {
    const manager = await createManager(store, { plan: { ...generous, newCategoriesMax: 1 } });
    const { id } = await addPet(store, manager);
    for (const categoryId of [newId(), newId()]) {
      const moved = await store.call('PATCH', `/v1/pets/${id}`, { key: manager.key, body: { categoryId } });
      expect(moved).toMatchObject({ status: 200, json: { categoryId } });
    }
    expect(await registeredBy(manager)).toBeUndefined();
  });

  test('is limited by client: another key of it is rejected, another client is not', async () => {
    const plan = { ...generous, newCategoriesMax: 1 };
    const [one, other] = [await store.createKey({ client: 'Paws', plan }), await store.createKey({ client: 'Paws', plan })];
    await registerMany(one, 1);
    expect((await add(other, newId())).status).toBe(400);
    expect((await add(await store.createKey({ plan }), newId())).status).toBe(201);
  });

  test('is in the next list of animals', async () => {
    const key = await store.createKey();
    const id = newId();
    const list = () => store.call<PetBody[]>('GET', `/v1/pets?categoryId=${id}`, { key: key.key });
    // Cached from here on.
    expect([(await list()).json, (await list()).json]).toEqual([[], []]);
    const { json } = await add(key, id);
    expect((await list()).json).toEqual([json]);
  });

  test('does not block lists while many animals wait for a stalled transaction that registers it', async () => {
    const key = await store.createKey();
    const id = newId();
    let adding: ReturnType<typeof add>[] = [];
    await store.dependencies.db.transaction(async (tx) => {
      await tx.query({ text: 'insert into categories (id) values ($1)', values: [id] });
      adding = Array.from({ length: connections }, () => add(key, id));
      await vi.waitUntil(async () => ((await countLockWaits(store)) ?? 0n) > 0n, { timeout: 1_500, interval: 10 });
      const lists = Array.from({ length: connections }, (_, i) => store.call('GET', `/v1/pets?limit=${i + 1}`, { key: key.key }));
      const startedAtMs = performance.now();
      expect((await Promise.all(lists)).map(({ status }) => status)).toEqual(Array(connections).fill(200));
      // A statement that waits for the transaction is cancelled after 2 s. Statements behind it on the same connection would wait as long.
      expect(performance.now() - startedAtMs).toBeLessThan(1_000);
    }, theService);
    await Promise.all(adding);
  });
});
