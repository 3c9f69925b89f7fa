// A page that is kept must not show that it is: the same answer, for the same price, to whoever may have it.
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { replaceEpoch } from '../../../src/clients/client-epochs.ts';
import { revokeApiKey } from '../../../src/clients/clients.ts';
import { addPet, type PetBody } from '../../adoption-steps.ts';
import { errorResponse } from '../../error-response.ts';
import { sendRaw } from '../../raw-request.ts';
import { createTestStore, type TestKey, type TestStore } from '../../test-store.ts';

let store: TestStore;
let key: TestKey;
let pet: PetBody;
let path: string;
beforeAll(async () => {
  store = await createTestStore();
  key = await store.createKey();
});
afterAll(() => store[Symbol.asyncDispose]());
beforeEach(async () => {
  pet = await addPet(store, key);
  path = `/v1/pets?limit=1&id=${pet.id}`;
  await list();
  await list();
});

const list = (headers: Record<string, string> = {}, sent = key) => store.call<PetBody[]>('GET', path, { key: sent.key, headers });

/** Past the service, so that only PostgreSQL knows. */
const renameUnseen = (name: string) =>
  store.dependencies.db.query({ text: 'update pets set name = $1 where id = $2', values: [name, pet.id] });

const fixed = (headers: Record<string, unknown>) =>
  Object.fromEntries(Object.entries(headers).filter(([name]) => !/^(date|x-request-id|x-ratelimit-remaining|ratelimit)$/.test(name)));

describe('A kept page', () => {
  test('is answered without a query', async () => {
    await renameUnseen('Unseen');
    expect((await list()).json).toEqual([pet]);
  });

  test('is read anew once an animal was added, by whichever process', async () => {
    await renameUnseen('Seen');
    await addPet(store, key);
    expect((await list()).json).toEqual([{ ...pet, name: 'Seen' }]);
  });

  test('has the headers of one that was read', async () => {
    const kept = await list();
    await addPet(store, key);
    const read = await list();
    expect(fixed(kept.headers)).toEqual(fixed(read.headers));
    expect(kept.headers['x-request-id']).not.toBe(read.headers['x-request-id']);
  });

  test('has the link to the next page', async () => {
    await addPet(store, key);
    const [read, kept] = [
      await store.call('GET', '/v1/pets?limit=1', { key: key.key }),
      await store.call('GET', '/v1/pets?limit=1', { key: key.key }),
    ];
    expect(kept.headers.link).toMatch(/rel="next"$/);
    expect(kept.headers.link).toBe(read.headers.link);
  });

  test('is 304 with its ETag, whose fields say the same as those of one that was read', async () => {
    const { headers } = await list();
    const kept = await list({ 'if-none-match': headers.etag ?? '' });
    await addPet(store, key);
    const read = await list({ 'if-none-match': headers.etag ?? '' });
    expect([kept.status, kept.text, read.status]).toEqual([304, '', 304]);
    expect(fixed(kept.headers)).toEqual(fixed(read.headers));
  });

  test('is counted, each time once, also where it turns out to be out of date', async () => {
    const limited = await store.createKey({ plan: { perMinute: 6, perDay: 100 } });
    const remaining: unknown[] = [];
    for (let i = 0; i < 6; i += 1) {
      if (i === 3) await addPet(store, key);
      remaining.push((await list({}, limited)).headers['x-ratelimit-remaining']);
    }
    expect(remaining).toEqual(['5', '4', '3', '2', '1', '0']);
    expect(await list({}, limited)).toMatchObject(errorResponse(429, 'rate_limit_exceeded'));
  });

  test('is refused to a key that was revoked', async () => {
    const revoked = await store.createKey();
    await list({}, revoked);
    await revokeApiKey(store.dependencies.db, revoked.id);
    await replaceEpoch(store.dependencies.redis, store.dependencies.redisKeys, revoked.clientId);
    expect(await list({}, revoked)).toMatchObject(errorResponse(401, 'api_key_revoked'));
  });

  test('is refused to a key without the scope', async () => {
    const writer = await store.createKey({ scopes: ['pets:write'] });
    await store.call('GET', '/v1/categories', { key: writer.key });
    expect(await list({}, writer)).toMatchObject(errorResponse(403, 'insufficient_scope'));
  });

  test('has no body for HEAD, and the length of the whole', async () => {
    const { text } = await list();
    const head = await store.call('HEAD', path, { key: key.key });
    expect([head.status, head.text, head.headers['content-length']]).toEqual([200, '', String(Buffer.byteLength(text))]);
  });

  test.each([
    ['two Authorization headers', 401, (auth: string) => `Host: a\r\n${auth}\r\n${auth}\r\n`],
    ['two Host headers', 400, (auth: string) => `Host: a\r\nHost: b\r\n${auth}\r\n`],
  ])('is refused to a request with %s', async (_, status, headers) => {
    const raw = `GET ${path} HTTP/1.1\r\n${headers(`Authorization: Bearer ${key.key}`)}Connection: close\r\n\r\n`;
    expect((await sendRaw(store.url, raw)).status).toBe(status);
  });

  test('is read anew each time where pages are not kept', async () => {
    await using plain = await createTestStore({ env: { HOMEWARD_PAGE_CACHE: 'off' } });
    const own = await plain.createKey();
    const added = await addPet(plain, own);
    const read = () => plain.call<PetBody[]>('GET', '/v1/pets', { key: own.key });
    await read();
    await plain.dependencies.db.query({ text: 'update pets set name = $1 where id = $2', values: ['Seen', added.id] });
    expect((await read()).json).toEqual([{ ...added, name: 'Seen' }]);
  });
});
