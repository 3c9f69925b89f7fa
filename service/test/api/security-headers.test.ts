// Every kind of response, from every part of the service that writes one.
import { describe, expect, test } from 'vitest';
import { StreamReader } from '../../../testkit/stream-reader.ts';
import { addPet, createManager } from '../adoption-steps.ts';
import { ManualClock } from '../manual-clock.ts';
import { sendRaw } from '../raw-request.ts';
import { type CallOptions, openTestStore } from '../test-store.ts';

const clock = new ManualClock('2026-12-01T12:00:00Z');
const store = await openTestStore({ clock });
const [key, manager] = [await store.createKey(), await createManager(store)];

interface Responded {
  readonly status: number;
  readonly headers: Readonly<Record<string, unknown>>;
}

const nosniff = (status: number) => ({ status, headers: { 'x-content-type-options': 'nosniff' } });
const call = (method: string, path: string, options: CallOptions = {}) => store.call(method, path, options);
const get = (path: string, headers: Record<string, string> = {}) => call('GET', path, { key: key.key, headers });
const list = '/v1/pets?limit=3';

/** The third request is served by the fast path: the first two fill the caches of keys and pages. */
async function getCached(headers: Record<string, string> = {}): Promise<Responded> {
  await get(list);
  await get(list);
  return get(list, headers);
}

async function ifNoneMatch(path: string): Promise<Record<string, string>> {
  return { 'if-none-match': String((await get(path)).headers['etag']) };
}

async function beyondLimit(): Promise<Responded> {
  const limited = await store.createKey({ plan: { perMinute: 1, perDay: 10 } });
  await call('GET', list, { key: limited.key });
  return call('GET', list, { key: limited.key });
}

async function openStream(): Promise<Responded> {
  using reader = await StreamReader.open(`${store.url}/v1/events`, { key: key.key });
  return { status: reader.status, headers: reader.headers };
}

const raw = (request: string) => sendRaw(store.url, request);
const preflight = { origin: 'https://partner.example', 'access-control-request-method': 'POST' };

const kinds: ReadonlyArray<readonly [string, number, () => Promise<Responded>]> = [
  ['a list', 200, () => get('/v1/categories')],
  ['HEAD of a list', 200, () => call('HEAD', list, { key: key.key })],
  ['a cached page', 200, () => getCached()],
  ['a cached page that the caller has', 304, async () => getCached(await ifNoneMatch(list))],
  ['a list that the caller has', 304, async () => get('/v1/categories', await ifNoneMatch('/v1/categories'))],
  ['an animal that was added', 201, () => call('POST', '/v1/pets', { key: key.key, body: { name: 'Biscuit', categoryId: 1 } })],
  ['an animal that was removed', 204, async () => call('DELETE', `/v1/pets/${(await addPet(store, key)).id}`, { key: manager.key })],
  ['a preflight', 204, () => call('OPTIONS', '/v1/pets', { headers: preflight })],
  ['OPTIONS that is not a preflight', 204, () => call('OPTIONS', '/v1/pets')],
  ['a stream of events', 200, openStream],
  ['an unknown parameter', 400, () => get('/v1/pets?colour=brown')],
  ['no key', 401, () => call('GET', list)],
  ['a key without the scope', 403, () => call('PUT', '/v1/categories/1', { key: key.key, body: { name: 'Mine' } })],
  ['an unknown path', 404, () => get('/v1/animals')],
  ['a path that is no URL', 404, () => get('/v1/pets/%zz')],
  ['a path that is no URL outside /v1', 404, () => get('/%zz')],
  ['another method', 405, () => call('DELETE', '/v1/pets', { key: manager.key })],
  ['a body that is too large', 413, () => call('POST', '/v1/pets', { key: key.key, raw: ' '.repeat(1_048_577) })],
  ['another type of body', 415, () => call('POST', '/v1/pets', { key: key.key, raw: 'x', headers: { 'content-type': 'text/plain' } })],
  ['a request beyond the limit', 429, beyondLimit],
  ['bytes that are not HTTP', 400, () => raw('FETCH /v1/pets HTTP/1.1\r\nHost: a\r\n\r\n')],
  ['headers that are too large', 431, () => raw(`GET /v1/pets HTTP/1.1\r\nHost: a\r\nCookie: ${'a'.repeat(20_000)}\r\n\r\n`)],
  ['a tunnel', 405, () => raw('CONNECT a:443 HTTP/1.1\r\nHost: a\r\n\r\n')],
  ['liveness', 200, () => get('/livez')],
  ['readiness', 200, () => get('/readyz')],
  ['the start', 302, () => get('/')],
  ['a page of the documentation', 200, () => get('/docs')],
  ['a page of the documentation that the caller has', 304, async () => get('/docs', await ifNoneMatch('/docs'))],
  ['a page that the documentation does not have', 404, () => get('/docs/none')],
  ['a page that has moved', 308, () => get('/docs/')],
  ['/llms.txt', 200, () => get('/llms.txt')],
  ['the OpenAPI document', 200, () => get('/openapi.json')],
  ['the OpenAPI document that the caller has', 304, async () => get('/openapi.json', await ifNoneMatch('/openapi.json'))],
  ['a file that the SDK does not have', 404, () => get('/sdk/none')],
  ['the package of the SDK', 302, () => get('/sdk.tgz')],
  ['no security contact', 404, () => get('/.well-known/security.txt')],
  ['a path outside /v1', 404, () => get('/nowhere')],
  ['another method outside /v1', 404, () => call('POST', '/docs', { body: {} })],
];

describe('X-Content-Type-Options is nosniff on', () => {
  test.each(kinds)('%s, which is %i', async (_, status, response) => {
    clock.advance(60_000);
    expect(await response()).toMatchObject(nosniff(status));
  });
});
