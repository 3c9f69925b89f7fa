import { METHODS } from 'node:http';
import { beforeEach, describe, expect, test } from 'vitest';
import { addPet, createManager } from '../adoption-steps.ts';
import { errorResponse } from '../error-response.ts';
import { ManualClock } from '../manual-clock.ts';
import { sendRaw } from '../raw-request.ts';
import { createTestStore, openTestStore } from '../test-store.ts';

const clock = new ManualClock('2026-12-01T12:00:00Z');
const store = await openTestStore({ clock });
const key = await createManager(store);
beforeEach(() => clock.advance(60_000));

const call = (method: string, path: string) => store.call(method, path, { key: key.key });
/** A complete request except for its last empty line. */
const head = (line: string) => `${line} HTTP/1.1\r\nAuthorization: Bearer ${key.key}\r\n`;
const trio = {
  'x-ratelimit-limit': expect.stringMatching(/^\d+$/),
  'x-ratelimit-remaining': expect.stringMatching(/^\d+$/),
  'x-ratelimit-reset': expect.stringMatching(/^\d+$/),
};

describe('A path', () => {
  test.each(['/v1/no-such-path', '/v1', '/v1/', '/v1/pets/1/', '/v1/PETS', '/v1/store', '/v1/store/orders/1/2/3'])(
    '%s, which does not exist, is 404',
    async (path) => {
      expect(await call('GET', path)).toMatchObject({
        ...errorResponse(404, 'route_not_found', `There is no operation at ${path}.`),
        headers: trio,
      });
    },
  );

  test('that does not exist is shown without its query, truncated', async () => {
    const { json } = await store.call<{ message: string }>('GET', `/v1/${'x'.repeat(5_000)}?secret=1`, { key: key.key });
    expect(json.message.length).toBeLessThan(150);
    expect(json.message).not.toContain('secret');
  });

  test.each(['/v1/pets/%zz', '/v1/%', '/v1/pets/%E0%A4%A'])('%s, which is not a valid URL path, is 404', async (path) => {
    expect(await call('GET', path)).toMatchObject({
      ...errorResponse(404, 'route_not_found', 'The path is not a valid URL.'),
      headers: { ...trio, 'x-request-id': expect.stringMatching(/^req_/), link: '</docs/errors/route_not_found>; rel="help"' },
    });
  });

  test.each([
    ['GET', '/v1/pets/', '/v1/pets'],
    ['HEAD', '/v1/pets/', '/v1/pets'],
    ['POST', '/v1/pets/', '/v1/pets'],
    ['PUT', '/v1/pets/', '/v1/pets'],
    ['PATCH', '/v1/pets/?a=1', '/v1/pets'],
    ['DELETE', '/v1/pets/', '/v1/pets'],
    ['GET', '/v1/pets//', '/v1/pets'],
    ['GET', '/v1/pets/1/', '/v1/pets/1'],
    ['GET', '/v1/store/orders/', '/v1/store/orders'],
    ['POST', '/v1/store/orders/', '/v1/store/orders'],
    ['POST', '/v1/store/orders/1/approve/', '/v1/store/orders/1/approve'],
    ['PUT', '/v1/categories/', '/v1/categories'],
    ['GET', '/v1/webhooks/1/deliveries/', '/v1/webhooks/1/deliveries'],
  ])('with a slash at the end is 404 and names the one without: %s %s', async (method, path, plain) => {
    const { status, json } = await call(method, path);
    const message = `There is no operation at ${path.split('?')[0]}. Paths have no slash at the end: try ${plain}.`;
    expect({ status, json }).toEqual({
      status: 404,
      json: method === 'HEAD' ? undefined : { code: 'route_not_found', message, status: 404 },
    });
  });

  test.each([
    ['GET', '/v1/webhooks//deliveries'],
    ['POST', '/v1/store/orders//approve'],
  ])('without an id in its middle is 404: %s %s', async (method, path) => {
    expect(await call(method, path)).toMatchObject(errorResponse(404, 'route_not_found', `There is no operation at ${path}.`));
  });

  test('with a slash at the end is 401 without a key, like every unknown path, and 404 with a key of any scope', async () => {
    expect(await store.call('PATCH', '/v1/pets/')).toMatchObject(errorResponse(401, 'api_key_missing'));
    const reader = await store.createKey({ scopes: ['pets:read'] });
    expect(await store.call('PATCH', '/v1/pets/', { key: reader.key })).toMatchObject(errorResponse(404, 'route_not_found'));
  });

  test('/ leads to the documentation', async () => {
    expect(await store.call('GET', '/')).toMatchObject({ status: 302, headers: { location: '/docs' } });
  });

  test.each(['/v2/pets', '/pets'])('%s, outside the API, is 404 without a key and without a limit', async (path) => {
    const { status, json, headers } = await store.call('GET', path);
    expect({ status, json }).toMatchObject(errorResponse(404, 'route_not_found', path));
    expect(headers['x-ratelimit-limit']).toBeUndefined();
  });
});

describe('A method that a path does not have', () => {
  test.each([
    ['PUT', '/v1/pets', 'GET, HEAD, POST', 'GET, HEAD, OPTIONS, POST'],
    ['DELETE', '/v1/pets', 'GET, HEAD, POST', 'GET, HEAD, OPTIONS, POST'],
    ['POST', '/v1/pets/1', 'DELETE, GET, HEAD, PATCH', 'DELETE, GET, HEAD, OPTIONS, PATCH'],
    ['POST', '/v1/categories', 'GET, HEAD', 'GET, HEAD, OPTIONS'],
    ['GET', '/v1/categories/1', 'DELETE, PUT', 'DELETE, OPTIONS, PUT'],
    ['DELETE', '/v1/store/orders/1', 'GET, HEAD', 'GET, HEAD, OPTIONS'],
    ['GET', '/v1/store/orders/1/approve', 'POST', 'OPTIONS, POST'],
  ])('%s %s is 405, and lists the allowed methods in the message and in Allow', async (method, path, named, allow) => {
    expect(await call(method, path)).toMatchObject({
      ...errorResponse(405, 'method_not_allowed', `${method} isn't supported here. Allowed: ${named}.`),
      headers: { ...trio, allow },
    });
  });

  test.each(METHODS.filter((method) => !['CONNECT', 'GET', 'HEAD', 'OPTIONS', 'POST'].includes(method)))(
    '%s /v1/pets is 405',
    async (method) => {
      expect((await call(method, '/v1/pets')).status).toBe(405);
    },
  );

  test('is 405 whatever its body is', async () => {
    const response = await store.call('PUT', '/v1/pets', { key: key.key, raw: '{', headers: { 'content-type': 'text/plain' } });
    expect(response).toMatchObject(errorResponse(405, 'method_not_allowed'));
  });

  test('CONNECT is 405', async () => {
    expect(await sendRaw(store.url, `${head('CONNECT example.org:443')}Host: x\r\n\r\n`)).toMatchObject({
      ...errorResponse(405, 'method_not_allowed', "CONNECT isn't supported here."),
      headers: { ...trio, allow: '' },
    });
  });
});

describe('An error', () => {
  test('has exactly code, message and status in its body', async () => {
    const { json } = await store.call<object>('GET', '/v1/pets?limit=0', { key: key.key });
    expect(Object.keys(json).sort()).toEqual(['code', 'message', 'status']);
  });

  test('links to the page of its code, which exists', async () => {
    const { headers } = await call('GET', '/v1/pets?limit=0');
    expect(headers.link).toBe('</docs/errors/invalid_query>; rel="help"');
    expect((await store.call('GET', '/docs/errors/invalid_query')).status).toBe(200);
  });

  test('must not be stored (Cache-Control: no-store)', async () => {
    expect((await call('GET', '/v1/pets?limit=0')).headers['cache-control']).toBe('no-store');
  });

  test('is JSON, whatever the caller accepts', async () => {
    const response = await store.call('GET', '/v1/nothing', { key: key.key, headers: { accept: 'text/html' } });
    expect(response).toMatchObject({ status: 404, headers: { 'content-type': 'application/json; charset=utf-8' } });
  });
});

describe('An unexpected error', () => {
  test('is 500 with the rate limit, and reveals nothing about its cause', async () => {
    await using broken = await createTestStore();
    const { key: sent } = await broken.createKey();
    await broken.asOwner('alter table orders rename to orders_gone');
    const response = await broken.call('GET', '/v1/store/orders', { key: sent });
    expect(response).toMatchObject({
      ...errorResponse(500, 'internal_error', 'Retry later; if the error persists, report the X-Request-Id.'),
      headers: { ...trio, 'x-request-id': expect.stringMatching(/^req_/) },
    });
    expect(response.text).not.toMatch(/orders|relation|select/);
  });
});

describe('A response', () => {
  test('is never 406', async () => {
    const response = await store.call('GET', '/v1/pets', { key: key.key, headers: { accept: 'image/png' } });
    expect(response).toMatchObject({ status: 200, headers: { 'content-type': 'application/json; charset=utf-8' } });
  });

  test('has its own request id, whatever the caller sends', async () => {
    const ids = new Set<unknown>();
    for (let i = 0; i < 5; i += 1) {
      const { headers } = await store.call('GET', '/v1/pets', { key: key.key, headers: { 'x-request-id': 'mine', 'request-id': 'mine' } });
      ids.add(headers['x-request-id']);
    }
    expect([...ids]).toEqual(Array(5).fill(expect.stringMatching(/^req_[\w-]{16}$/)));
    expect(ids.size).toBe(5);
  });

  test.each([
    ['200', 'GET', '/v1/pets', {}],
    ['201', 'POST', '/v1/pets', { body: { name: 'A', categoryId: 1 } }],
    ['400', 'POST', '/v1/pets', { body: {} }],
    ['404', 'GET', '/v1/pets/999999', {}],
    ['405', 'PUT', '/v1/pets', {}],
    ['413', 'POST', '/v1/pets', { raw: ' '.repeat(1_048_577) }],
    ['415', 'POST', '/v1/pets', { raw: 'x', headers: { 'content-type': 'text/plain' } }],
  ])('%s has all rate limit headers', async (status, method, path, options) => {
    expect(await store.call(method, path, { key: key.key, ...options })).toMatchObject({
      status: Number(status),
      headers: {
        'x-ratelimit-limit': '1000000',
        'x-ratelimit-remaining': expect.stringMatching(/^9999\d\d$/),
        'x-ratelimit-reset': String(Math.floor(clock.now() / 60_000) * 60 + 60),
        'ratelimit-policy': '"minute";q=1000000;w=60, "day";q=100000000;w=86400',
        ratelimit: expect.stringMatching(/^"minute";r=\d+;t=60, "day";r=\d+;t=\d+$/),
      },
    });
  });

  test('204 has the rate limit headers too', async () => {
    const { id } = await addPet(store, key);
    expect(await call('DELETE', `/v1/pets/${id}`)).toMatchObject({ status: 204, headers: { ...trio, 'x-ratelimit-limit': '1000000' } });
  });
});

describe('Bytes that are not a valid request', () => {
  test.each([
    ['no HTTP at all', 'hello\r\n\r\n'],
    ['two different lengths', 'POST /v1/pets HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\n{}'],
    ['a length and chunks', 'POST /v1/pets HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n'],
    ['a folded header', 'GET /v1/pets HTTP/1.1\r\nHost: x\r\nX-A: b\r\n c\r\n\r\n'],
    ['a line feed alone', 'GET /v1/pets HTTP/1.1\nHost: x\n\n'],
  ])('with %s are 400, with the body and headers of an error', async (_, bytes) => {
    expect(await sendRaw(store.url, bytes)).toMatchObject({
      ...errorResponse(400, 'malformed_request', 'This is not a valid HTTP/1.1 request'),
      headers: {
        ...trio,
        'ratelimit-policy': '"minute";q=60;w=60',
        'x-request-id': expect.stringMatching(/^req_/),
        link: '</docs/errors/malformed_request>; rel="help"',
        connection: 'close',
      },
    });
  });

  test('with 100 kB of headers are 431, with the body and headers of an error', async () => {
    const bytes = `GET /v1/pets HTTP/1.1\r\nHost: x\r\nX-Big: ${'a'.repeat(100_000)}\r\n\r\n`;
    expect(await sendRaw(store.url, bytes)).toMatchObject({ ...errorResponse(431, 'headers_too_large', '16 KiB'), headers: trio });
  });

  test('count against the address that sent them', async () => {
    const [first, second] = [await sendRaw(store.url, 'hello\r\n\r\n'), await sendRaw(store.url, 'hello\r\n\r\n')];
    expect([first, second].map(({ headers }) => headers['x-ratelimit-remaining'])).toEqual(['59', '58']);
  });

  test('without a Host are 400', async () => {
    expect(await sendRaw(store.url, `${head('GET /v1/pets')}\r\n`)).toMatchObject({
      ...errorResponse(400, 'malformed_request', 'The Host header was sent 0 times; send it once.'),
      headers: trio,
    });
  });

  test('with two Hosts are 400', async () => {
    expect(await sendRaw(store.url, `${head('GET /v1/pets')}Host: a\r\nHost: b\r\n\r\n`)).toMatchObject(
      errorResponse(400, 'malformed_request', 'The Host header was sent 2 times'),
    );
  });

  test('with an unknown Expect header are served without it', async () => {
    expect((await sendRaw(store.url, `${head('GET /v1/pets')}Host: x\r\nExpect: wonders\r\n\r\n`)).status).toBe(200);
  });
});
