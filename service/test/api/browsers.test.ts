import { beforeEach, describe, expect, test } from 'vitest';
import { errorResponse } from '../error-response.ts';
import { ManualClock } from '../manual-clock.ts';
import { openTestStore } from '../test-store.ts';

const clock = new ManualClock('2026-12-01T12:00:00Z');
const store = await openTestStore({ clock });
const key = await store.createKey();
beforeEach(() => clock.advance(60_000));

const origin = 'https://partner.example';
const preflight = (path: string, method = 'POST', headers: Record<string, string> = {}) =>
  store.call('OPTIONS', path, { headers: { origin, 'access-control-request-method': method, ...headers } });
const words = (field: string | undefined) => (field ?? '').toLowerCase().split(', ');

describe('A preflight', () => {
  test('is 204 without a key, for any origin and without credentials', async () => {
    const { status, text, headers } = await preflight('/v1/pets');
    expect({ status, text }).toEqual({ status: 204, text: '' });
    expect(headers['access-control-allow-origin']).toBe('*');
    expect(headers['access-control-allow-credentials']).toBeUndefined();
  });

  test('allows every method and header of the API', async () => {
    const { headers } = await preflight('/v1/pets');
    expect(headers['access-control-allow-methods']).toBe('GET, HEAD, POST, PUT, PATCH, DELETE');
    expect(words(headers['access-control-allow-headers'])).toEqual([
      'authorization',
      'content-type',
      'idempotency-key',
      'if-match',
      'if-none-match',
      'last-event-id',
    ]);
  });

  test.each(['/v1/pets/1', '/v1/categories/1', '/v1/store/orders/1/cancel', '/v1/no-such-path'])('is 204 at %s', async (path) => {
    expect((await preflight(path)).status).toBe(204);
  });

  test("shows the address's limit and counts nothing", async () => {
    const trio = { 'x-ratelimit-limit': '60', 'x-ratelimit-remaining': '60', 'x-ratelimit-reset': String(clock.now() / 1_000 + 60) };
    expect([await preflight('/v1/pets'), await preflight('/v1/pets')]).toMatchObject([{ headers: trio }, { headers: trio }]);
  });

  test('is 204 after the address has used up its limit', async () => {
    for (let i = 0; i < 61; i += 1) await store.call('GET', '/v1/pets');
    expect((await store.call('GET', '/v1/pets')).status).toBe(429);
    expect(await preflight('/v1/pets')).toMatchObject({ status: 204, headers: { 'x-ratelimit-remaining': '0' } });
  });
});

describe('OPTIONS that is not a preflight', () => {
  const options = (path: string, headers: Record<string, string> = {}) => store.call('OPTIONS', path, { headers });

  test.each([
    ['/v1/pets', 'GET, HEAD, OPTIONS, POST'],
    ['/v1/pets/1', 'DELETE, GET, HEAD, OPTIONS, PATCH'],
    ['/v1/categories/1', 'DELETE, OPTIONS, PUT'],
    ['/v1/store/orders/1/approve', 'OPTIONS, POST'],
  ])('at %s is 204 without a key, with Allow', async (path, allow) => {
    const { status, text, headers } = await options(path);
    expect({ status, text, allow: headers.allow }).toEqual({ status: 204, text: '', allow });
    expect(headers).toMatchObject({ 'access-control-allow-origin': '*', 'x-request-id': expect.stringMatching(/^req_/) });
    expect(headers['access-control-allow-methods']).toBeUndefined();
  });

  test.each([{ 'access-control-request-method': 'GET' }, { origin }])('has Allow with only %j', async (headers) => {
    expect(await options('/v1/pets', headers)).toMatchObject({ status: 204, headers: { allow: 'GET, HEAD, OPTIONS, POST' } });
  });

  test.each(['/v1/no-such-path', '/v1/pets/', '/v1/pets/1/', '/v1'])('at %s, which does not exist, is 404 without a key', async (path) => {
    expect(await options(path)).toMatchObject({
      ...errorResponse(404, 'route_not_found', `There is no operation at ${path}.`),
      headers: { 'x-ratelimit-limit': '60', 'cache-control': 'no-store' },
    });
  });

  test("shows the address's limit and counts nothing, even where nothing is", async () => {
    const unused = { headers: { 'x-ratelimit-limit': '60', 'x-ratelimit-remaining': '60' } };
    expect([await options('/v1/pets'), await options('/v1/nothing'), await options('/v1/pets')]).toMatchObject([unused, unused, unused]);
  });

  test('is 204 whatever key it has, and after the address has used up its limit', async () => {
    for (let i = 0; i < 61; i += 1) await store.call('GET', '/v1/pets');
    expect(await options('/v1/pets', { authorization: 'Bearer nonsense' })).toMatchObject({
      status: 204,
      headers: { 'x-ratelimit-remaining': '0' },
    });
  });
});

describe('A response to a page from another origin', () => {
  test.each([
    ['200', () => store.call('GET', '/v1/pets', { key: key.key, headers: { origin } })],
    ['400', () => store.call('GET', '/v1/pets?limit=0', { key: key.key, headers: { origin } })],
    ['401', () => store.call('GET', '/v1/pets', { headers: { origin } })],
    ['404 of the router', () => store.call('GET', '/v1/pets/%zz', { key: key.key, headers: { origin } })],
  ])('%s is readable, with all headers that the page needs', async (status, send) => {
    const response = await send();
    expect(response).toMatchObject({ status: Number.parseInt(status, 10), headers: { 'access-control-allow-origin': '*' } });
    expect(response.headers['access-control-allow-credentials']).toBeUndefined();
    expect(words(response.headers['access-control-expose-headers'])).toEqual(
      expect.arrayContaining([
        'x-ratelimit-limit',
        'x-ratelimit-remaining',
        'x-ratelimit-reset',
        'x-ratelimit-strikes-remaining',
        'ratelimit-policy',
        'ratelimit',
        'retry-after',
        'link',
        'etag',
        'deprecation',
        'sunset',
        'x-request-id',
      ]),
    );
  });
});
