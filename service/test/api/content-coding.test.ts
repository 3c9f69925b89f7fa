import { describe, expect, test } from 'vitest';
import { codings } from '../../src/platform/http/protocol/representations.ts';
import { addPet, createManager } from '../adoption-steps.ts';
import { type ByteResponse, requestBytes } from '../byte-request.ts';
import { openTestStore } from '../test-store.ts';

const list = '/v1/pets?limit=100&categoryId=5';
const large = 30;

const store = await openTestStore();
const [key, manager] = [await store.createKey(), await createManager(store, { scopes: ['store:manage', 'pets:read', 'webhooks:manage'] })];
const pet = await addPet(store, key);
for (let i = 0; i < large; i += 1) await addPet(store, key, { name: `Čapek ${i} 🐕`, categoryId: 5 });
for (let i = 0; i < large; i += 1) await store.call('PUT', `/v1/categories/${100 + i}`, { key: manager.key, body: { name: `Dogs ${i}` } });

const ask = (method: string, path: string, headers: Record<string, string> = {}): Promise<ByteResponse> =>
  requestBytes(store.url + path, method, { authorization: `Bearer ${key.key}`, ...headers });
const get = (path: string, coding?: string, headers: Record<string, string> = {}) =>
  ask('GET', path, { ...(coding && { 'accept-encoding': coding }), ...headers });
const changing = /^(date|x-request-id|x-ratelimit-remaining|ratelimit|x-ratelimit-reset)$/;
const fixed = (headers: object) => Object.fromEntries(Object.entries(headers).filter(([name]) => !changing.test(name)));

/** Read again: by Fastify. Cached: by the fast path, from the third time on. */
const sources: ReadonlyArray<readonly [string, (coding?: string, headers?: Record<string, string>) => Promise<ByteResponse>]> = [
  [
    'a page of animals that is read',
    async (...args) => {
      await addPet(store, key);
      return get(list, ...args);
    },
  ],
  [
    'a cached page of animals',
    async (...args) => {
      for (let i = 0; i < 2; i += 1) await get(list, ...args);
      return get(list, ...args);
    },
  ],
  ['a list of categories', (...args) => get('/v1/categories?limit=100', ...args)],
  ['a page of the documentation', (...args) => get('/docs/paging', ...args)],
  ['the OpenAPI document', (...args) => get('/openapi.json', ...args)],
  ['a file of the SDK', (...args) => get('/sdk/index.js', ...args)],
];

describe.each(sources)('A response with %s', (_, read) => {
  test('is plain without Accept-Encoding, and says that it varies', async () => {
    const { status, headers, bytes } = await read();
    expect({ status, etag: headers.etag, vary: headers.vary }).toEqual({
      status: 200,
      etag: expect.stringMatching(/^"[\w-]{22}"$/),
      vary: 'accept-encoding',
    });
    expect(headers['content-encoding']).toBeUndefined();
    expect(headers['content-length']).toBe(String(bytes.length));
  });

  test.each(codings)('is the same content in %s, smaller, with its own ETag and the right length', async (coding) => {
    const [plain, coded] = [await read(), await read(coding)];
    expect(coded.headers['content-encoding']).toBe(coding);
    expect(coded.text).toBe(plain.text);
    expect(coded.bytes.length).toBeLessThan(plain.bytes.length / 2);
    expect(fixed(coded.headers)).toEqual({
      ...fixed(plain.headers),
      'content-encoding': coding,
      'content-length': String(coded.bytes.length),
      etag: plain.headers.etag?.replace(/"$/, `-${coding}"`),
    });
  });

  test('is 304 for the ETag of any coding, weak too, with the ETag of what would have been sent', async () => {
    const plain = String((await read()).headers.etag);
    const tags = [plain, ...codings.map((coding) => plain.replace(/"$/, `-${coding}"`))];
    for (const [i, coding] of [undefined, ...codings].entries()) {
      for (const tag of tags.flatMap((one) => [one, `W/${one}`])) {
        const { status, headers, bytes } = await read(coding, { 'if-none-match': tag });
        expect({ tag, coding, status, etag: headers.etag, length: bytes.length }).toEqual({
          tag,
          coding,
          status: 304,
          etag: tags[i],
          length: 0,
        });
        expect(headers.vary).toBe('accept-encoding');
        expect(headers['content-encoding']).toBeUndefined();
      }
    }
    expect((await read('br', { 'if-none-match': plain.replace(/"$/, '-zstd"') })).status).toBe(200);
  });

  test('is plain for a caller that accepts no coding of ours', async () => {
    for (const accepted of ['identity', 'gzip;q=0, br;q=0', 'deflate', 'identity;q=0', 'gzip;q=x']) {
      const { status, headers } = await read(accepted);
      expect({ accepted, status, coding: headers['content-encoding'] }).toEqual({ accepted, status: 200, coding: undefined });
    }
  });
});

describe('HEAD', () => {
  test.each([list, '/v1/categories?limit=100', '/docs/paging', '/openapi.json'])('of %s has the headers of GET', async (path) => {
    for (const coding of ['identity', ...codings]) {
      const [head, got] = [await ask('HEAD', path, { 'accept-encoding': coding }), await get(path, coding)];
      expect(head.bytes.length).toBe(0);
      expect({ status: head.status, headers: fixed(head.headers) }).toEqual({ status: 200, headers: fixed(got.headers) });
    }
  });

  test('that is 304 does not show the length of another coding', async () => {
    for (const coding of ['identity', ...codings]) {
      const length = (await get(list, coding)).headers['content-length'];
      const { status, headers } = await ask('HEAD', list, { 'accept-encoding': coding, 'if-none-match': '*' });
      expect({ coding, status, length: headers['content-length'] ?? length }).toEqual({ coding, status: 304, length });
    }
  });
});

describe('A page of animals that changes', () => {
  test('is never sent compressed as it was', async () => {
    const { id } = await addPet(store, key, { categoryId: 5, name: 'Before' });
    for (let i = 0; i < 3; i += 1) expect((await get(list, 'br')).text).toContain('Before');
    await store.call('PATCH', `/v1/pets/${id}`, { key: manager.key, body: { name: 'After' } });
    for (let i = 0; i < 3; i += 1) {
      const { text } = await get(list, 'br');
      expect([text.includes('Before'), text.includes('After')]).toEqual([false, true]);
    }
  });

  test('is counted once for each request in any coding', async () => {
    const limited = await store.createKey({ plan: { perMinute: 100_000, perDay: 100 } });
    const remaining: unknown[] = [];
    for (const coding of ['identity', 'br', 'br', 'gzip', 'gzip', 'identity']) {
      const { headers } = await get(list, coding, { authorization: `Bearer ${limited.key}` });
      remaining.push(headers['x-ratelimit-remaining']);
    }
    expect(remaining).toEqual(['99', '98', '97', '96', '95', '94']);
  });
});

describe('Not compressed is', () => {
  const accepted = { 'accept-encoding': 'br, gzip' };
  const codingOf = (headers: object) => (headers as Record<string, unknown>)['content-encoding'];

  test('a small response, whose ETag has no suffix', async () => {
    const { headers } = await get(`/v1/pets?id=${pet.id}`, 'br');
    expect([codingOf(headers), headers.etag, headers.vary]).toEqual([undefined, expect.stringMatching(/^"[\w-]{22}"$/), 'accept-encoding']);
  });

  test('an error, even a long one', async () => {
    const { status, headers, bytes } = await get(
      `/v1/pets?${'x'.repeat(300)}=1&${Array.from({ length: 9 }, (_, i) => `${'y'.repeat(300)}${i}=1`).join('&')}`,
      'br',
    );
    expect([status, codingOf(headers), headers['content-length']]).toEqual([400, undefined, String(bytes.length)]);
  });

  test.each(['', '/rotate-secret'])('a response with a secret: POST /v1/webhooks%s, however long', async (action) => {
    const body = { url: `https://example.org/${'a'.repeat(1_900)}` };
    const created = await store.call<{ id: number; secret: string }>('POST', '/v1/webhooks', { key: manager.key, body, headers: accepted });
    const path = `/v1/webhooks/${created.json.id}${action}`;
    const sent = action === '' ? created : await store.call<{ secret: string }>('POST', path, { key: manager.key, headers: accepted });
    expect(sent.text.length).toBeGreaterThan(1_900);
    expect(sent.json.secret).toMatch(/^whsec_/);
    expect(codingOf(sent.headers)).toBeUndefined();
  });

  test('a stream of events', async () => {
    const headers = { authorization: `Bearer ${key.key}`, accept: 'text/event-stream', ...accepted };
    const response = await fetch(`${store.url}/v1/events`, { headers });
    const names = ['content-type', 'content-encoding'].map((name) => response.headers.get(name));
    await response.body?.cancel();
    expect([response.status, ...names]).toEqual([200, expect.stringContaining('text/event-stream'), null]);
  });

  test('the package of the SDK, which is compressed', async () => {
    const { headers, bytes } = await get('/sdk/sdk.tgz', 'br, gzip');
    expect([codingOf(headers), headers['content-type'], bytes.subarray(0, 2).toString('hex')]).toEqual([
      undefined,
      'application/gzip',
      '1f8b',
    ]);
  });
});

describe('If-Match', () => {
  const change = (headers: Record<string, string>) =>
    store.call('PATCH', `/v1/pets/${pet.id}`, { key: manager.key, body: { name: 'Biscuit' }, headers });

  test('accepts the ETag of any coding, and no weak or unknown one', async () => {
    const etag = String((await get(`/v1/pets?id=${pet.id}`)).headers.etag);
    const suffixed = (suffix: string) => etag.replace(/"$/, `-${suffix}"`);
    const statuses = [];
    for (const tag of [etag, suffixed('gzip'), suffixed('br'), suffixed('zstd'), `W/${suffixed('br')}`, '"other-br"']) {
      statuses.push((await change({ 'if-match': tag })).status);
    }
    expect(statuses).toEqual([200, 200, 200, 412, 412, 412]);
  });
});

describe('A request with Content-Encoding', () => {
  test('is read as it is, as before', async () => {
    const options = { key: key.key, body: { name: 'Plain', categoryId: 1 }, headers: { 'content-encoding': 'gzip' } };
    expect((await store.call('POST', '/v1/pets', options)).status).toBe(201);
  });
});
