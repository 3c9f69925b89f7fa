// A cached page must not differ from one that was read: the same response, counted the same, for the same keys.

import { beforeEach, describe, expect, test } from 'vitest';
import { settleClientChange } from '../../../src/access/clients/client-changes.ts';
import { revokeApiKey } from '../../../src/access/clients/clients.ts';
import { theService } from '../../../src/domain/actor.ts';
import { addPet, createManager, type PetBody } from '../../adoption-steps.ts';
import { errorResponse } from '../../error-response.ts';
import { sendRaw } from '../../raw-request.ts';
import { createTestStore, openTestStore } from '../../test-store.ts';

let pet: PetBody;
let path: string;
const store = await openTestStore();
const [key, manager] = [await store.createKey(), await createManager(store)];
beforeEach(async () => {
  pet = await addPet(store, key);
  path = `/v1/pets?limit=1&id=${pet.id}`;
  await list();
  await list();
});

const list = (headers: Record<string, string> = {}, sent = key) => store.call<PetBody[]>('GET', path, { key: sent.key, headers });

/** Bypasses the service, so that nothing is invalidated. */
const renameUnseen = (name: string) => store.write('update pets set name = $1 where id = $2', name, pet.id);

/** Changes the animal and changes it back: the page must be read again, and is the same. */
async function touch(process = store): Promise<void> {
  for (const categoryId of [pet.categoryId + 1, pet.categoryId]) {
    await process.call('PATCH', `/v1/pets/${pet.id}`, { key: manager.key, body: { categoryId } });
  }
}

const fixed = (headers: Record<string, unknown>) =>
  Object.fromEntries(Object.entries(headers).filter(([name]) => !/^(date|x-request-id|x-ratelimit-remaining|ratelimit)$/.test(name)));

describe('A cached page', () => {
  test('is served without a query', async () => {
    await renameUnseen('Unseen');
    expect((await list()).json).toEqual([pet]);
  });

  test('is read again after a change of an animal on it by any process', async () => {
    await using another = await createTestStore({ env: { DATABASE_URL: store.databaseUrl } });
    await renameUnseen('Seen');
    await touch(another);
    expect((await list()).json).toEqual([{ ...pet, name: 'Seen' }]);
  });

  test('is not read again after a change of another animal', async () => {
    await renameUnseen('Unseen');
    await addPet(store, key);
    expect((await list()).json).toEqual([pet]);
  });

  test('has the headers of a page that was read', async () => {
    const cached = await list();
    await touch();
    const read = await list();
    expect(fixed(cached.headers)).toEqual(fixed(read.headers));
    expect(cached.headers['x-request-id']).not.toBe(read.headers['x-request-id']);
  });

  test.each(['Béla', 'Жучка', '犬 🐕'])('has the name %s as it was given, cached or read', async (name) => {
    const named = await addPet(store, key, { name });
    const get = (headers = {}) => store.call<PetBody[]>('GET', `/v1/pets?limit=1&id=${named.id}`, { key: key.key, headers });
    const [read, cached] = [await get(), await get()];
    expect(read.json).toEqual([named]);
    expect(cached.text).toBe(read.text);
    expect(cached.headers['content-length']).toBe(String(Buffer.byteLength(read.text)));
    expect(fixed(cached.headers)).toEqual(fixed(read.headers));
    const head = await store.call('HEAD', `/v1/pets?limit=1&id=${named.id}`, { key: key.key });
    expect(fixed(head.headers)).toEqual(fixed(read.headers));
    const unmodified = [await get({ 'if-none-match': read.headers['etag'] }), await get({ 'if-none-match': read.headers['etag'] })];
    expect(unmodified.map(({ status, text }) => [status, text])).toEqual([
      [304, ''],
      [304, ''],
    ]);
  });

  test('has the link to the next page', async () => {
    await addPet(store, key);
    const [read, cached] = [
      await store.call('GET', '/v1/pets?limit=1', { key: key.key }),
      await store.call('GET', '/v1/pets?limit=1', { key: key.key }),
    ];
    expect(cached.headers.link).toMatch(/rel="next"$/);
    expect(cached.headers.link).toBe(read.headers.link);
  });

  test('is 304 with its ETag, with the headers of a page that was read', async () => {
    const { headers } = await list();
    const cached = await list({ 'if-none-match': headers.etag ?? '' });
    await touch();
    const read = await list({ 'if-none-match': headers.etag ?? '' });
    expect([cached.status, cached.text, read.status]).toEqual([304, '', 304]);
    expect(fixed(cached.headers)).toEqual(fixed(read.headers));
  });

  test('is counted once for each request, even if it turns out to be stale', async () => {
    const limited = await store.createKey({ plan: { perMinute: 6, perDay: 100 } });
    const remaining: unknown[] = [];
    for (let i = 0; i < 6; i += 1) {
      if (i === 3) await touch();
      remaining.push((await list({}, limited)).headers['x-ratelimit-remaining']);
    }
    expect(remaining).toEqual(['5', '4', '3', '2', '1', '0']);
    expect(await list({}, limited)).toMatchObject(errorResponse(429, 'rate_limit_exceeded'));
  });

  test('is rejected for a revoked key', async () => {
    const revoked = await store.createKey();
    await list({}, revoked);
    await store.dependencies.db.transaction((tx) => revokeApiKey(tx, revoked.id), theService);
    await settleClientChange(store.dependencies.redis, store.dependencies.redisKeys, revoked.clientId);
    expect(await list({}, revoked)).toMatchObject(errorResponse(401, 'api_key_revoked'));
  });

  test('is rejected for a key without the scope', async () => {
    const writer = await store.createKey({ scopes: ['pets:write'] });
    await store.call('GET', '/v1/categories', { key: writer.key });
    expect(await list({}, writer)).toMatchObject(errorResponse(403, 'insufficient_scope'));
  });

  test('has no body for HEAD, and the length of the full body', async () => {
    const { text } = await list();
    const head = await store.call('HEAD', path, { key: key.key });
    expect([head.status, head.text, head.headers['content-length']]).toEqual([200, '', String(Buffer.byteLength(text))]);
  });

  test.each([
    ['two Authorization headers', 401, (auth: string) => `Host: a\r\n${auth}\r\n${auth}\r\n`],
    ['two Host headers', 400, (auth: string) => `Host: a\r\nHost: b\r\n${auth}\r\n`],
  ])('is rejected for a request with %s', async (_, status, headers) => {
    const raw = `GET ${path} HTTP/1.1\r\n${headers(`Authorization: Bearer ${key.key}`)}Connection: close\r\n\r\n`;
    expect((await sendRaw(store.url, raw)).status).toBe(status);
  });

  test('is read for each request if the page cache is off', async () => {
    await using plain = await createTestStore({ env: { HOMEWARD_PAGE_CACHE: 'off' } });
    const own = await plain.createKey();
    const added = await addPet(plain, own);
    const read = () => plain.call<PetBody[]>('GET', '/v1/pets', { key: own.key });
    await read();
    await plain.write('update pets set name = $1 where id = $2', 'Seen', added.id);
    expect((await read()).json).toEqual([{ ...added, name: 'Seen' }]);
  });
});
