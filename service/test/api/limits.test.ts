import { beforeEach, describe, expect, test } from 'vitest';
import { mintApiKey } from '../../src/access/clients/api-key.ts';
import { errorResponse } from '../error-response.ts';
import { ManualClock } from '../manual-clock.ts';
import { type CallOptions, createTestStore, openTestStore, type TestKey, type TestResponse, type TestStore } from '../test-store.ts';

const clock = new ManualClock('2026-12-01T12:00:00Z');
const store = await openTestStore({ clock });
/** Each test has its own day, and starts in the middle of a second, ten seconds into a minute. */
let today = Date.parse('2026-12-01T00:00:00Z');
beforeEach(() => {
  today += 86_400_000;
  setTime('12:00:10.500');
});

const setTime = (time: string) => clock.set(`${new Date(today).toISOString().slice(0, 10)}T${time}Z`);
const secondsAt = (time: string) => String(Date.parse(`${new Date(today).toISOString().slice(0, 10)}T${time}Z`) / 1_000);

const send = ({ key }: TestKey, options: CallOptions = {}) => store.call('GET', '/v1/pets?limit=1', { key, ...options });
const anonymous = (headers: Record<string, string> = {}) => store.call('GET', '/v1/pets', { headers });

async function sendMany(count: number, one: () => Promise<TestResponse<unknown>>): Promise<Array<TestResponse<unknown>>> {
  const responses: Array<TestResponse<unknown>> = [];
  for (let i = 0; i < count; i += 1) responses.push(await one());
  return responses;
}

const statusesOf = (responses: ReadonlyArray<{ status: number }>) => responses.map(({ status }) => status);
const trioOf = ({ headers }: Pick<TestResponse<unknown>, 'headers'>) =>
  ['x-ratelimit-limit', 'x-ratelimit-remaining', 'x-ratelimit-reset'].map((name) => headers[name]).join(' ');

describe('A plan', () => {
  test.each([
    ['free', '"minute";q=60;w=60, "day";q=1000;w=86400'],
    ['pro', '"minute";q=300;w=60, "day";q=10000;w=86400'],
    ['business', '"minute";q=1000;w=60, "day";q=100000;w=86400'],
  ] as const)('%s has the limits %s', async (plan, policy) => {
    expect((await send(await store.createKey({ plan }))).headers['ratelimit-policy']).toBe(policy);
  });

  test('enterprise has the limits of the client record', async () => {
    const { headers } = await send(await store.createKey({ plan: { perMinute: 7, perDay: 70 } }));
    expect(headers['ratelimit-policy']).toBe('"minute";q=7;w=60, "day";q=70;w=86400');
  });

  test('free admits 60 requests a minute, counted down, and rejects the 61st', async () => {
    const key = await store.createKey({ plan: 'free' });
    const responses = await sendMany(61, () => send(key));
    expect(statusesOf(responses)).toEqual([...Array(60).fill(200), 429]);
    expect(responses.map(trioOf)).toEqual([...Array(60).keys(), 59].map((i) => `60 ${59 - i} ${secondsAt('12:01:00')}`));
  });

  test('is enforced exactly for any number of concurrent requests', async () => {
    const key = await store.createKey({ plan: { perMinute: 40, perDay: 1_000 } });
    const responses = await Promise.all(Array.from({ length: 100 }, () => send(key)));
    expect(statusesOf(responses).filter((status) => status === 200)).toHaveLength(40);
  });

  test('is enforced exactly by several processes', async () => {
    await using another = await createTestStore({ clock, env: { DATABASE_URL: store.databaseUrl } });
    const { key } = await store.createKey({ plan: { perMinute: 40, perDay: 1_000 } });
    const responses = await Promise.all(
      Array.from({ length: 100 }, (_, i) => (i % 2 ? store : another).call('GET', '/v1/pets?limit=1', { key })),
    );
    expect(statusesOf(responses).filter((status) => status === 200)).toHaveLength(40);
  });

  test('of a busy client is counted down by one with each request, whichever of two processes decides it', async () => {
    await using another = await createTestStore({ clock, env: { DATABASE_URL: store.dependencies.config.databaseUrl } });
    const { key } = await store.createKey({ plan: { perMinute: 640, perDay: 100_000 } });
    const responses: Array<TestResponse<unknown>> = [];
    for (let i = 0; i < 100; i += 1) responses.push(await (i % 3 ? store : another).call('GET', '/v1/pets?limit=1', { key }));
    expect(responses.map(({ headers }) => Number(headers['x-ratelimit-remaining']))).toEqual(responses.map((_, i) => 639 - i));
  });

  test("belongs to the client: its keys share the limit, and other clients' keys don't", async () => {
    const plan = { perMinute: 2, perDay: 100 };
    const [one, two] = [await store.createKey({ client: 'Sharing', plan }), await store.createKey({ client: 'Sharing', plan })];
    const other = await store.createKey({ plan });
    const responses = [await send(one), await send(two), await send(one), await send(two), await send(other)];
    expect(statusesOf(responses)).toEqual([200, 200, 429, 429, 200]);
  });

  test('is counted separately in two deployments that share a Redis', async () => {
    await using one = await createTestStore({ clock });
    await using two = await createTestStore({ clock });
    const plan = { perMinute: 1, perDay: 100 };
    const [ours, theirs] = [await one.createKey({ plan }), await two.createKey({ plan })];
    expect(ours.clientId).toBe(theirs.clientId);
    const call = (deployment: TestStore, { key }: TestKey) => deployment.call('GET', '/v1/pets', { key });
    expect(statusesOf([await call(one, ours), await call(one, ours), await call(two, theirs)])).toEqual([200, 429, 200]);
  });

  test('mostly survives an emptied Redis: the process sends the counts that it has seen', async () => {
    const key = await store.createKey({ plan: { perMinute: 3, perDay: 100 } });
    const { redis, redisKeys } = store.dependencies;
    await sendMany(2, () => send(key));
    await redis.client.del(redisKeys.counts(`c${key.clientId}`));
    expect(statusesOf(await sendMany(2, () => send(key)))).toEqual([200, 429]);
  });
});

describe('A window', () => {
  test('of a minute ends with the UTC minute, to the millisecond', async () => {
    const key = await store.createKey({ plan: { perMinute: 1, perDay: 100 } });
    await send(key);
    setTime('12:00:59.999');
    expect((await send(key)).status).toBe(429);
    setTime('12:01:00.000');
    expect((await send(key)).status).toBe(200);
  });

  test('of a day ends with the UTC day, to the millisecond', async () => {
    const key = await store.createKey({ plan: { perMinute: 10, perDay: 1 } });
    await send(key);
    setTime('23:59:59.999');
    expect((await send(key)).status).toBe(429);
    today += 86_400_000;
    setTime('00:00:00.000');
    expect((await send(key)).status).toBe(200);
  });

  test('is shown if it has fewer requests remaining: the minute', async () => {
    expect(trioOf(await send(await store.createKey({ plan: { perMinute: 5, perDay: 6 } })))).toBe(`5 4 ${secondsAt('12:01:00')}`);
  });

  test('is shown if it has fewer requests remaining: the day', async () => {
    expect(trioOf(await send(await store.createKey({ plan: { perMinute: 6, perDay: 5 } })))).toBe(
      `5 4 ${Number(secondsAt('00:00:00')) + 86_400}`,
    );
  });

  test('shown on a tie is the day', async () => {
    expect(trioOf(await send(await store.createKey({ plan: { perMinute: 5, perDay: 5 } })))).toBe(
      `5 4 ${Number(secondsAt('00:00:00')) + 86_400}`,
    );
  });

  test('and the other one are both in RateLimit', async () => {
    const { headers } = await send(await store.createKey({ plan: { perMinute: 5, perDay: 50 } }));
    expect(headers['ratelimit']).toBe('"minute";r=4;t=50, "day";r=49;t=43190');
  });

  test('never moves back if the clock does', async () => {
    const key = await store.createKey({ plan: { perMinute: 1, perDay: 100 } });
    await send(key);
    setTime('11:59:59.000');
    expect((await send(key)).status).toBe(429);
  });
});

describe('A request costs', () => {
  let key: TestKey;
  const remaining = ({ headers }: Pick<TestResponse<unknown>, 'headers'>) => headers['x-ratelimit-remaining'];
  beforeEach(async () => {
    key = await store.createKey({ plan: { perMinute: 5, perDay: 100 }, scopes: ['pets:read'] });
  });

  test.each([
    ['400', 'GET', '/v1/pets?limit=0'],
    ['403', 'POST', '/v1/pets'],
    ['404', 'GET', '/v1/pets/999'],
    ['404', 'GET', '/v1/nothing'],
    ['404', 'GET', '/v1/pets/%zz'],
    ['405', 'PUT', '/v1/pets'],
  ])('one if it is admitted, whatever the outcome: %s %s %s', async (status, method, path) => {
    const response = await store.call(method, path, { key: key.key });
    expect([response.status, remaining(response), remaining(await send(key))]).toEqual([Number(status), '4', '3']);
  });

  test('nothing if it is rejected by the limit', async () => {
    await sendMany(10, () => send(key));
    setTime('12:01:00.000');
    expect((await send(key)).headers['ratelimit']).toBe('"minute";r=4;t=60, "day";r=94;t=43140');
  });
});

describe('A request over the limit', () => {
  test('of the minute is 429 and says how long to wait and how many strikes remain', async () => {
    const key = await store.createKey({ plan: 'free' });
    await sendMany(60, () => send(key));
    expect(await send(key)).toMatchObject({
      ...errorResponse(
        429,
        'rate_limit_exceeded',
        '60 of 60 requests used this minute (Free plan). Wait 50 s. If you send 60 more requests before then, this key is banned for 1 minute.',
      ),
      headers: { 'retry-after': '50', 'x-ratelimit-strikes-remaining': '60', 'x-ratelimit-remaining': '0' },
    });
  });

  test('of the day is 429 and says so, without mentioning a ban', async () => {
    const key = await store.createKey({ plan: { perMinute: 100, perDay: 2 } });
    await sendMany(2, () => send(key));
    const { status, json, headers } = await store.call<{ message: string }>('GET', '/v1/pets', { key: key.key });
    expect({ status, message: json.message }).toEqual({
      status: 429,
      message: '2 of 2 requests used today (UTC) (Enterprise plan). Wait 43190 s.',
    });
    expect(headers).toMatchObject({ 'retry-after': '43190', 'x-ratelimit-strikes-remaining': '100' });
  });

  test('that waits for Retry-After is admitted', async () => {
    const key = await store.createKey({ plan: { perMinute: 1, perDay: 100 } });
    await send(key);
    clock.advance(Number((await send(key)).headers['retry-after']) * 1_000);
    expect((await send(key)).status).toBe(200);
  });

  test('gets whole seconds in Retry-After, rounded up and never before Reset', async () => {
    const key = await store.createKey({ plan: { perMinute: 1, perDay: 100 } });
    await send(key);
    for (const time of ['12:00:10.001', '12:00:30.000', '12:00:59.001', '12:00:59.999']) {
      setTime(time);
      const { headers } = await send(key);
      expect(Number(headers['retry-after'])).toBe(Math.ceil(Number(headers['x-ratelimit-reset']) - clock.now() / 1_000));
    }
  });

  test('is rejected before its body is read', async () => {
    const key = await store.createKey({ plan: { perMinute: 1, perDay: 100 } });
    await send(key);
    expect((await store.call('POST', '/v1/pets', { key: key.key, raw: '{' })).status).toBe(429);
  });
});

describe('Requests without a valid key', () => {
  test('are admitted to their 401 60 times a minute, and then 429', async () => {
    const responses = await sendMany(61, () => anonymous());
    expect(statusesOf(responses)).toEqual([...Array(60).fill(401), 429]);
    expect(responses.map(trioOf)).toEqual([...Array(60).keys(), 59].map((i) => `60 ${59 - i} ${secondsAt('12:01:00')}`));
    expect(responses[60]).toMatchObject({
      ...errorResponse(
        429,
        'rate_limit_exceeded',
        '60 of 60 requests without a valid key used this minute from this address. Wait 50 s, or send a valid key.',
      ),
      headers: { 'retry-after': '50', 'ratelimit-policy': '"minute";q=60;w=60', ratelimit: '"minute";r=0;t=50' },
    });
  });

  test('count with wrong keys, without a key and with revoked keys alike', async () => {
    const expired = await store.createKey({ expiresAt: new Date(clock.now()) });
    const responses = [await anonymous(), await anonymous({ authorization: 'Bearer wrong' }), await send(expired)];
    expect(responses.map((response) => response.headers['x-ratelimit-remaining'])).toEqual(['59', '58', '57']);
  });

  test('do not affect valid keys from the same address', async () => {
    const key = await store.createKey();
    await sendMany(61, () => anonymous());
    expect(await send(key)).toMatchObject({ status: 200, headers: { 'x-ratelimit-limit': '1000000' } });
  });

  test("do not count against a client's limit", async () => {
    const key = await store.createKey({ plan: { perMinute: 5, perDay: 100 } });
    await anonymous({ authorization: `Bearer ${key.key}x` });
    expect((await send(key)).headers['x-ratelimit-remaining']).toBe('4');
  });

  test('are not distinguished by an X-Forwarded-For from an untrusted address', async () => {
    const responses = [await anonymous({ 'x-forwarded-for': '192.0.2.1' }), await anonymous({ 'x-forwarded-for': '192.0.2.2' })];
    expect(responses.map(({ headers }) => headers['x-ratelimit-remaining'])).toEqual(['59', '58']);
  });

  test('are counted for keys that do not exist, in each minute', async () => {
    const invent = () => anonymous({ authorization: `Bearer ${mintApiKey('production')}` });
    expect(statusesOf(await sendMany(61, invent))).toEqual([...Array(60).fill(401), 429]);
    clock.advance(60_000);
    expect(statusesOf(await sendMany(61, invent))).toEqual([...Array(60).fill(401), 429]);
  });
});

const proxied = await openTestStore({ clock, env: { HOMEWARD_TRUSTED_PROXIES: '127.0.0.1,10.0.0.0/8' } });
describe('Requests without a valid key, behind a trusted proxy', () => {
  const remainingFor = async (...chains: string[]) => {
    const remaining: unknown[] = [];
    for (const chain of chains) {
      const { headers } = await proxied.call('GET', '/v1/pets', { headers: { 'x-forwarded-for': chain } });
      remaining.push(headers['x-ratelimit-remaining']);
    }
    return remaining;
  };

  test('are counted by the address that the proxy saw', async () => {
    expect(await remainingFor('192.0.2.1', '192.0.2.2', '192.0.2.1')).toEqual(['59', '59', '58']);
  });

  test('are counted by the last hop that is not trusted, whatever is forged before it', async () => {
    expect(await remainingFor('1.1.1.1, 192.0.2.9', '2.2.2.2, 192.0.2.9', '3.3.3.3, 192.0.2.9, 10.1.2.3')).toEqual(['59', '58', '57']);
  });

  test('are counted by the /64 of an IPv6 address', async () => {
    expect(await remainingFor('2001:db8:1:2::1', '2001:db8:1:2:ffff::9', '2001:db8:1:3::1')).toEqual(['59', '58', '59']);
  });

  test('are counted by the address without its port, as some load balancers write it', async () => {
    expect(await remainingFor('192.0.2.21:1024', '192.0.2.21:1025', '192.0.2.21')).toEqual(['59', '58', '57']);
    expect(await remainingFor('[2001:db8:5:2::1]:1024', '[2001:db8:5:2::1%eth0]:1025', '2001:db8:5:2::2')).toEqual(['59', '58', '57']);
  });

  test('are counted by the last hop that is not trusted, even if trusted hops are written with a port', async () => {
    expect(await remainingFor('192.0.2.31, 10.0.0.1:4711', '192.0.2.31:9, [::ffff:10.0.0.2]:4712', '192.0.2.31')).toEqual([
      '59',
      '58',
      '57',
    ]);
  });

  test("are counted by the proxy's address if it sends none, whatever it sends instead", async () => {
    const before = Number((await remainingFor('unknown'))[0]);
    const remaining = await remainingFor('_hidden', '_other', 'x'.repeat(10_000), '1.2', 'unknown, 127.0.0.1');
    expect(remaining).toEqual([1, 2, 3, 4, 5].map((more) => String(before - more)));
  });
});
