import { request } from 'node:http';
import Fastify from 'fastify';
import { beforeEach, describe, expect, test } from 'vitest';
import { HttpClient } from '../../../testkit/http.ts';
import { DelayedResponses } from '../../src/access/admission/rehearsal-hook.ts';
import { redisKeysOf } from '../../src/platform/redis/redis-link.ts';
import { addPet } from '../adoption-steps.ts';
import { errorResponse } from '../error-response.ts';
import { ManualClock } from '../manual-clock.ts';
import { type CallOptions, createTestStore, openTestStore, type TestKey, type TestResponse, type TestStore } from '../test-store.ts';

const clock = new ManualClock('2026-12-01T12:00:00Z');
const staging = { HOMEWARD_ENVIRONMENT: 'staging' };
let key: TestKey;
const store = await openTestStore({ clock, env: staging });
const pet = await addPet(store, await store.createKey());
beforeEach(async () => {
  clock.advance(60_000 - (clock.now() % 60_000));
  key = await store.createKey({ plan: 'free' });
});

/** Another process of the same store. */
const sameDatabase = () => ({ ...staging, DATABASE_URL: store.databaseUrl });
const call = (path: string, headers: Record<string, string>, method = 'GET') => store.call(method, path, { key: key.key, headers });
const at = (now: string, path = `/v1/pets/${pet.id}`) => call(path, { 'homeward-now': now });
const simulate = (what: string, path = '/v1/pets') => call(path, { 'homeward-simulate': what });
const numberIn = ({ headers }: TestResponse<unknown>, name: string) => Number(headers[name]);
const rehearsed = ({ headers }: TestResponse<unknown>) => headers['homeward-rehearsed'];

/** Sends like a program that honours Retry-After. The clock is advanced instead of waiting. */
async function sendUntilResponded(what: string): Promise<TestResponse<unknown>[]> {
  const responses: TestResponse<unknown>[] = [];
  while (responses.length < 5) {
    const response = await simulate(what);
    responses.push(response);
    if (response.status === 200) return responses;
    clock.advance(1_000 * numberIn(response, 'retry-after'));
  }
  throw new Error(`no success after ${responses.length} attempts`);
}

describe('Homeward-Now', () => {
  test('in the second before the sunset: the animal, with its notice', async () => {
    const response = await at('2030-12-04T23:59:59.999Z');
    expect(response).toMatchObject({ status: 200, json: pet, headers: { sunset: 'Thu, 05 Dec 2030 00:00:00 GMT' } });
    expect(rehearsed(response)).toBe('now=2030-12-04T23:59:59.999Z');
  });

  test.each([
    ['the sunset', '2030-12-05T00:00:00Z', '2030-12-05T00:00:00.000Z'],
    ['the day after', '2030-12-06T00:00:00Z', '2030-12-06T00:00:00.000Z'],
    ['the sunset in another zone', '2030-12-05T01:30:00+01:30', '2030-12-05T00:00:00.000Z'],
  ])('at %s: 410, which names the rehearsed time', async (_, now, shown) => {
    const response = await at(now);
    expect(response).toMatchObject(errorResponse(410, 'operation_removed', `GET /v1/pets?id=${pet.id}`));
    expect(response.headers).toMatchObject({ deprecation: expect.any(String), 'homeward-rehearsed': `now=${shown}` });
  });

  test('applies only to its own request', async () => {
    await at('2030-12-06T00:00:00Z');
    const next = await call(`/v1/pets/${pet.id}`, {});
    expect(next.status).toBe(200);
    expect(rehearsed(next)).toBeUndefined();
  });

  test('changes neither the limit nor the expiry of the key', async () => {
    const expiring = await store.createKey({ plan: 'free', expiresAt: new Date('2027-01-01T00:00:00Z') });
    const { status, headers } = await store.call('GET', '/v1/pets', {
      key: expiring.key,
      headers: { 'homeward-now': '2030-12-06T00:00:00Z' },
    });
    expect({ status, reset: headers['x-ratelimit-reset'] }).toEqual({ status: 200, reset: String(clock.now() / 1_000 + 60) });
  });

  test.each([
    '',
    'tomorrow',
    '2030-12-06',
    '2030-12-06 00:00:00Z',
    '2030-12-06T00:00:00',
    '2030-02-30T00:00:00Z',
    '2030-13-01T00:00:00Z',
    '1922659200',
  ])('of "%s" is 400, and shows the value and the expected format', async (now) => {
    const response = await at(now);
    expect(response).toMatchObject(errorResponse(400, 'invalid_rehearsal', `2030-12-06T00:00:00Z; got ${JSON.stringify(now)}.`));
    expect(rehearsed(response)).toBeUndefined();
  });
});

describe('Homeward-Simulate: rate_limit', () => {
  test('is a 429 with consistent headers and the message of a real one', async () => {
    const { status, headers, json } = await simulate('rate_limit');
    expect({ status, json }).toEqual({
      status: 429,
      json: {
        code: 'rate_limit_exceeded',
        status: 429,
        message:
          '60 of 60 requests used this minute (Free plan). Wait 3 s. If you send 60 more requests before then, this key is banned for 1 minute. (simulated)',
      },
    });
    expect(headers).toMatchObject({
      'x-ratelimit-limit': '60',
      'x-ratelimit-remaining': '0',
      'x-ratelimit-reset': String(clock.now() / 1_000 + 3),
      'retry-after': '3',
      'x-ratelimit-strikes-remaining': '60',
      ratelimit: expect.stringMatching(/^"minute";r=0;t=3, "day";r=999;t=\d+$/),
      link: '</docs/errors/rate_limit_exceeded>; rel="help"',
      'homeward-rehearsed': 'simulate=rate_limit',
    });
  });

  test('has the same end in Reset and in Retry-After, wherever in a second it starts', async () => {
    clock.advance(400);
    expect((await simulate('rate_limit')).headers).toMatchObject({
      'retry-after': '3',
      'x-ratelimit-reset': String(Math.floor(clock.now() / 1_000) + 3),
    });
    clock.advance(2_600);
    expect((await simulate('rate_limit')).status).toBe(200);
  });

  test('has the headers of a real one, and one that says that it is simulated', async () => {
    const [tried, small] = [await simulate('rate_limit'), await store.createKey({ plan: { perMinute: 1, perDay: 100 } })];
    await store.call('GET', '/v1/pets', { key: small.key });
    const real = await store.call('GET', '/v1/pets', { key: small.key });
    expect(Object.keys(tried.headers).sort()).toEqual([...Object.keys(real.headers), 'homeward-rehearsed'].sort());
  });

  test('counts down the strikes and the remaining seconds of a program that does not wait', async () => {
    const responses = [await simulate('rate_limit'), await simulate('rate_limit')];
    clock.advance(1_500);
    responses.push(await simulate('rate_limit'));
    expect(responses.map((response) => [numberIn(response, 'x-ratelimit-strikes-remaining'), numberIn(response, 'retry-after')])).toEqual([
      [60, 3],
      [59, 3],
      [58, 2],
    ]);
    expect(new Set(responses.map((response) => numberIn(response, 'x-ratelimit-reset'))).size).toBe(1);
  });

  test('bans no key, and counts each request once', async () => {
    for (let i = 0; i < 40; i += 1) await simulate('rate_limit');
    expect(await call('/v1/pets', {})).toMatchObject({ status: 200, headers: { 'x-ratelimit-remaining': '19' } });
  });

  test('gives way to the real limit', async () => {
    for (let i = 0; i < 60; i += 1) await call('/v1/pets', {});
    const response = await simulate('rate_limit');
    expect(response).toMatchObject(errorResponse(429, 'rate_limit_exceeded', '60 of 60'));
    expect(response.text).not.toContain('simulated');
    expect(rehearsed(response)).toBeUndefined();
  });

  test('shows the minute, even for the last request of the day', async () => {
    key = await store.createKey({ plan: { perMinute: 10, perDay: 1 } });
    expect(await simulate('rate_limit')).toMatchObject({ status: 429, headers: { 'retry-after': '3', 'x-ratelimit-limit': '10' } });
  });

  test('also applies to a path that the router rejects, and to a missing scope', async () => {
    expect((await simulate('rate_limit', '/v1/pets/%zz')).status).toBe(429);
    expect((await simulate('rate_limit', '/v1/webhooks/%zz')).status).toBe(429);
    expect((await simulate('rate_limit', '/v1/no-such-path')).status).toBe(429);
  });
});

test('Homeward-Simulate: ban is the 429 of a banned key', async () => {
  const { status, headers, json } = await simulate('ban');
  const until = new Date(clock.now() + 10_000).toISOString().slice(11, 19);
  expect({ status, json }).toEqual({
    status: 429,
    json: {
      code: 'api_key_banned',
      status: 429,
      message: `Banned until ${until} UTC: this key sent 60 requests without waiting for Retry-After. Wait 10 s. Requests during the ban do not extend it. (simulated)`,
    },
  });
  expect(headers).toMatchObject({
    'x-ratelimit-remaining': '0',
    'x-ratelimit-reset': String(clock.now() / 1_000 + 10),
    'retry-after': '10',
    'x-ratelimit-strikes-remaining': '0',
    'homeward-rehearsed': 'simulate=ban',
  });
});

test('Homeward-Simulate: unavailable is 503 with Retry-After', async () => {
  const response = await simulate('unavailable');
  expect(response).toMatchObject(errorResponse(503, 'unavailable', '(simulated)'));
  expect(response.headers).toMatchObject({
    'retry-after': '1',
    'x-ratelimit-remaining': '59',
    'homeward-rehearsed': 'simulate=unavailable',
  });
});

describe('A simulated error', () => {
  test.each([
    ['rate_limit', 429],
    ['ban', 429],
    ['unavailable', 503],
  ])('by %s ends after Retry-After: the next request gets a real response', async (what, status) => {
    const responses = await sendUntilResponded(what);
    expect(responses.map((response) => [response.status, rehearsed(response)])).toEqual([
      [status, `simulate=${what}`],
      [200, undefined],
    ]);
    expect((await simulate(what)).status).toBe(status);
  });

  test('lasts until its end to the millisecond, however many requests are sent', async () => {
    await simulate('unavailable');
    clock.advance(999);
    expect((await simulate('unavailable')).status).toBe(503);
    clock.advance(1);
    expect((await simulate('unavailable')).status).toBe(200);
  });

  test('applies to one key and one kind, and to no request without the header', async () => {
    await simulate('ban');
    expect(numberIn(await simulate('rate_limit'), 'retry-after')).toBe(3);
    expect((await call('/v1/pets', {})).status).toBe(200);
    const other = await store.createKey();
    const response = await store.call('GET', '/v1/pets', { key: other.key, headers: { 'homeward-simulate': 'rate_limit' } });
    expect(numberIn(response, 'x-ratelimit-strikes-remaining')).toBe(1_000_000);
  });

  test('expires in Redis', async () => {
    await simulate('rate_limit');
    const { redis, redisKeys } = store.dependencies;
    const ttlMs = await redis.client.pttl(redisKeys.rehearsal(key.id, 'rate_limit'));
    expect(ttlMs).toBeGreaterThan(290_000);
    expect(ttlMs).toBeLessThanOrEqual(303_000);
  });

  test('can be combined with another time, and the response names both', async () => {
    const headers = { 'homeward-now': '2030-12-06T00:00:00Z', 'homeward-simulate': 'unavailable' };
    const path = `/v1/pets/${pet.id}`;
    const first = await call(path, headers);
    expect([first.status, rehearsed(first)]).toEqual([503, 'now=2030-12-06T00:00:00.000Z, simulate=unavailable']);
    clock.advance(1_000);
    const second = await call(path, headers);
    expect([second.status, rehearsed(second)]).toEqual([410, 'now=2030-12-06T00:00:00.000Z']);
  });

  test('has no effect: nothing is stored, and a retry with the same Idempotency-Key is executed', async () => {
    const add = () =>
      store.call('POST', '/v1/pets', {
        key: key.key,
        body: { name: 'Pretzel', categoryId: 1 },
        headers: { 'homeward-simulate': 'unavailable', 'idempotency-key': 'pretzel' },
      });
    expect((await add()).status).toBe(503);
    clock.advance(1_000);
    const added = await add();
    expect(added.status).toBe(201);
    expect(added.headers['idempotent-replayed']).toBeUndefined();
  });

  test('also applies to a cached page', async () => {
    const path = `/v1/pets?id=${pet.id}&limit=7`;
    for (let i = 0; i < 3; i += 1) expect((await call(path, {})).status).toBe(200);
    expect((await simulate('rate_limit', path)).status).toBe(429);
    expect(rehearsed(await at('2030-12-06T00:00:00Z', path))).toBe('now=2030-12-06T00:00:00.000Z');
  });

  test.each(['', 'outage', 'Rate_Limit', 'rate_limit, ban'])('by "%s" is 400, and names the four simulations', async (what) => {
    expect(await simulate(what)).toMatchObject(
      errorResponse(400, 'invalid_rehearsal', `one of rate_limit, ban, unavailable, slow; got ${JSON.stringify(what)}.`),
    );
  });

  test('comes after authentication', async () => {
    const response = await store.call('GET', '/v1/pets', { headers: { 'homeward-simulate': 'outage' } });
    expect(response).toMatchObject(errorResponse(401, 'api_key_missing'));
  });

  test('without Redis applies to every request', async () => {
    await using alone = await createTestStore({ env: { ...sameDatabase(), REDIS_URL: 'redis://127.0.0.1:1' } });
    const own = await alone.createKey();
    const send = () => alone.call('GET', '/v1/pets', { key: own.key, headers: { 'homeward-simulate': 'unavailable' } });
    expect([(await send()).status, (await send()).status]).toEqual([503, 503]);
    const limited = await alone.call('GET', '/v1/pets', { key: own.key, headers: { 'homeward-simulate': 'rate_limit' } });
    expect(limited).toMatchObject({ status: 429, headers: { 'retry-after': '3' } });
  });
});

test('Redis keys of rehearsals start with the deployment id', () => {
  expect(redisKeysOf('d1').rehearsal(7n, 'ban')).toBe('hw:d1:{0}:rehearsal:7:ban');
});

describe('Homeward-Simulate: slow', () => {
  test('is the real response after 5 s; its effect is there before', async () => {
    const reader = await store.createKey();
    const startedAtMs = performance.now();
    let isResponded = false;
    const late = store
      .call('POST', '/v1/pets', { key: key.key, body: { name: 'Snail', categoryId: 1 }, headers: { 'homeward-simulate': 'slow' } })
      .finally(() => (isResponded = true));
    const names = async () => (await store.call('GET', '/v1/pets?limit=100', { key: reader.key })).text;
    await expect.poll(names).toContain('Snail');
    expect(isResponded).toBe(false);
    expect(await late).toMatchObject({ status: 201, json: { name: 'Snail' }, headers: { 'homeward-rehearsed': 'simulate=slow' } });
    expect(performance.now() - startedAtMs).toBeGreaterThanOrEqual(4_990);
  });

  test('occupies no connection to PostgreSQL, and is sent when the process drains', async () => {
    await using leaving = await createTestStore({ env: { ...sameDatabase(), HOMEWARD_POOL_SIZE: '1' } });
    const slow = () => leaving.call('GET', '/v1/events', { key: key.key, headers: { 'homeward-simulate': 'slow' } });
    const late = [slow(), slow(), slow()];
    const quick = await leaving.call('GET', '/v1/events', { key: key.key });
    expect([quick.status, quick.headers.connection]).toEqual([200, 'keep-alive']);
    leaving.drain();
    expect((await Promise.all(late)).map(({ headers: { connection } }) => connection)).toEqual(['close', 'close', 'close']);
  });
});

describe('DelayedResponses', () => {
  /** Serves / with a delay of a minute, so that no response arrives by itself during a test. */
  async function serveLate(): Promise<
    AsyncDisposable & { late: DelayedResponses; url: string; counts: { delayed: number; released: number } }
  > {
    const app = Fastify();
    const late = new DelayedResponses(60_000);
    const counts = { delayed: 0, released: 0 };
    app.decorateRequest('rehearsal', null);
    app.addHook('onSend', async (request, reply) => {
      request.rehearsal = { nowMs: undefined, isDelayed: true };
      counts.delayed += 1;
      await late.delay(request, reply);
      counts.released += 1;
    });
    app.get('/', () => 'late');
    return { late, counts, url: await app.listen({ host: '127.0.0.1', port: 0 }), [Symbol.asyncDispose]: () => app.close() };
  }

  test('releases a response whose caller has disconnected', async () => {
    await using served = await serveLate();
    const outgoing = request(served.url, { agent: false })
      .on('error', () => {})
      .end();
    await expect.poll(() => served.counts.delayed).toBe(1);
    outgoing.destroy();
    await expect.poll(() => served.counts.released).toBe(1);
  });

  test('delays at most 100: the next is sent at once without the header, and end() sends all', async () => {
    await using served = await serveLate();
    using http = new HttpClient(200);
    const all = Array.from({ length: 100 }, () => http.send(served.url));
    await expect.poll(() => served.counts.delayed).toBe(100);
    expect((await http.send(served.url)).headers['homeward-rehearsed']).toBeUndefined();
    expect(served.counts).toEqual({ delayed: 101, released: 1 });
    served.late.end();
    const responses = await Promise.all(all);
    expect(responses.filter(({ headers }) => headers['homeward-rehearsed'] === 'simulate=slow')).toHaveLength(100);
    expect((await http.send(served.url)).headers['homeward-rehearsed']).toBeUndefined();
  });
});

describe('A browser', () => {
  const origin = { origin: 'https://partner.example' };
  const preflight = (asked: TestStore) =>
    asked.call('OPTIONS', '/v1/pets', { headers: { ...origin, 'access-control-request-method': 'GET' } });

  test('may send both headers to staging, and read Homeward-Rehearsed', async () => {
    expect((await preflight(store)).headers['access-control-allow-headers']).toMatch(/, Last-Event-ID, Homeward-Now, Homeward-Simulate$/);
    const response = await call('/v1/pets', { ...origin, 'homeward-simulate': 'ban' });
    expect(response.headers['access-control-expose-headers']).toMatch(/, X-Request-Id, Homeward-Rehearsed$/);
  });
});

const sunset = new ManualClock('2026-12-01T12:00:00Z');
const production = await openTestStore({ clock: sunset });
const animal = await addPet(production, await production.createKey());
describe('Production', () => {
  const headers = { 'homeward-now': '2030-12-06T00:00:00Z', 'homeward-simulate': 'rate_limit' };
  const fixed = ({ status, headers: { date: _, 'x-request-id': __, ...rest }, text }: TestResponse<unknown>) => ({
    status,
    headers: rest,
    text,
  });

  /** Sends the same three requests without the headers, with valid ones and with invalid ones, and compares the responses. */
  async function sameForBoth(method: string, path: string, options: CallOptions, isKeyed = true): Promise<ReturnType<typeof fixed>> {
    const responses: ReturnType<typeof fixed>[][] = [];
    for (const more of [{}, headers, { ...headers, 'homeward-simulate': 'no such thing', 'homeward-now': 'never' }]) {
      sunset.advance(60_000 - (sunset.now() % 60_000));
      const sent = isKeyed ? { key: (await production.createKey({ plan: 'free' })).key } : {};
      const three = [];
      for (let i = 0; i < 3; i += 1) {
        three.push(fixed(await production.call(method, path, { ...sent, ...options, headers: { ...options.headers, ...more } })));
      }
      responses.push(three.map((response) => ({ ...response, headers: { ...response.headers, 'x-ratelimit-reset': '', ratelimit: '' } })));
    }
    expect(responses[1]).toEqual(responses[0]);
    expect(responses[2]).toEqual(responses[0]);
    return responses[0]?.[2] as ReturnType<typeof fixed>;
  }

  test.each([
    ['a page, read and then cached', 'GET', '/v1/pets?limit=5', {}, 200],
    ['a page whose ETag the caller has', 'GET', '/v1/pets?limit=5', { headers: { 'if-none-match': '*' } }, 304],
    ['HEAD', 'HEAD', '/v1/pets', {}, 200],
    ['a deprecated operation', 'GET', '/v1/pets/1', {}, 200],
    ['events', 'GET', '/v1/events', {}, 200],
    ['orders', 'GET', '/v1/store/orders', {}, 200],
    ['webhooks', 'GET', '/v1/webhooks', {}, 200],
    ['categories', 'GET', '/v1/categories', {}, 200],
    ['a POST that is rejected', 'POST', '/v1/pets', { body: { name: '' } }, 400],
    ['a query that is rejected', 'GET', '/v1/pets?limit=0', {}, 400],
    ['a scope that is missing', 'DELETE', '/v1/categories/1', {}, 403],
    ['an animal that does not exist', 'GET', '/v1/pets/999', {}, 404],
    ['a path that does not exist', 'GET', '/v1/no-such-path', {}, 404],
    ['a path that the router rejects', 'GET', '/v1/pets/%zz', {}, 404],
    ['another method', 'PUT', '/v1/pets', {}, 405],
  ] as const)('responds the same with and without both headers: %s', async (_, method, path, options, status) => {
    expect((await sameForBoth(method, path, options)).status).toBe(status);
  });

  test('responds the same without a key, and to a preflight', async () => {
    expect((await sameForBoth('GET', '/v1/pets', {}, false)).status).toBe(401);
    const asked = { headers: { origin: 'https://partner.example', 'access-control-request-method': 'GET' } };
    const preflight = await sameForBoth('OPTIONS', '/v1/pets', asked, false);
    expect(preflight.status).toBe(204);
    expect(JSON.stringify(preflight.headers).toLowerCase()).not.toContain('homeward');
  });

  test('adds the animal at once, and does not mention a rehearsal', async () => {
    const { key: own } = await production.createKey();
    const added = await production.call('POST', '/v1/pets', {
      key: own,
      body: { name: 'Real', categoryId: 1 },
      headers: { ...headers, 'homeward-simulate': 'slow' },
    });
    expect(added).toMatchObject({ status: 201, json: { name: 'Real' } });
    expect(JSON.stringify(added.headers).toLowerCase()).not.toContain('homeward');
  });

  test('removes the operation by its own clock only', async () => {
    const back = { 'homeward-now': '2027-01-01T00:00:00Z' };
    const { key: own } = await production.createKey();
    const get = (more: Record<string, string>) => production.call('GET', `/v1/pets/${animal.id}`, { key: own, headers: more });
    sunset.set('2030-12-04T23:59:59.999Z');
    expect([(await get({})).status, (await get(headers)).status]).toEqual([200, 200]);
    sunset.advance(1);
    expect([(await get({})).status, (await get(back)).status]).toEqual([410, 410]);
    expect((await sameForBoth('GET', `/v1/pets/${animal.id}`, {})).status).toBe(410);
  });
});
