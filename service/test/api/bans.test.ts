import { beforeEach, describe, expect, test } from 'vitest';
import { testAuthor } from '../../../testkit/test-author.ts';
import { settleClientChange } from '../../src/access/clients/client-changes.ts';
import { setPlan } from '../../src/access/clients/clients.ts';
import { liftBan, listBans } from '../../src/access/rate-limit/bans.ts';
import { errorResponse } from '../error-response.ts';
import { ManualClock } from '../manual-clock.ts';
import { createTestStore, openTestStore, type TestKey, type TestResponse } from '../test-store.ts';

const minuteMs = 60_000;
const dayMs = 86_400_000;
/** The smallest possible plan: one request a minute, and the minimum of 30 strikes. */
const plan = { perMinute: 1, perDay: 100_000 };

const clock = new ManualClock('2026-12-01T12:00:00Z');
let key: TestKey;
const store = await openTestStore({ clock });
beforeEach(async () => {
  nextMinute();
  key = await store.createKey({ plan });
});

const nextMinute = () => clock.advance(minuteMs - (clock.now() % minuteMs));
const send = ({ key: sent } = key) => store.call<{ code: string }>('GET', '/v1/pets?limit=1', { key: sent });
const strikesLeft = ({ headers }: Pick<TestResponse<unknown>, 'headers'>) => headers['x-ratelimit-strikes-remaining'];

/** Uses up the minute, gets the first 429, and waits for the end of the free second. */
async function exhaust(sent = key): Promise<void> {
  nextMinute();
  await send(sent);
  await send(sent);
  clock.advance(1_001);
}

/** Sends requests that should have waited, and returns the last response. */
async function strike(count: number, sent = key): Promise<TestResponse<{ code: string }>> {
  let last = await send(sent);
  for (let i = 1; i < count; i += 1) last = await send(sent);
  return last;
}

/** Sends requests until the key is banned, and returns the length of the ban in minutes. */
async function banMinutes(sent = key): Promise<number> {
  await exhaust(sent);
  const banned = await strike(30, sent);
  expect(banned.json.code).toBe('api_key_banned');
  return Number(banned.headers['retry-after']) / 60;
}

describe('A strike', () => {
  test('is a request after a 429, once a second has passed since the first 429', async () => {
    await send();
    const responses = [await send()];
    clock.advance(1_000);
    responses.push(await send());
    clock.advance(1);
    responses.push(await send(), await send());
    expect(responses.map(strikesLeft)).toEqual(['30', '30', '29', '28']);
  });

  test('is announced in the message', async () => {
    await exhaust();
    expect(await strike(2)).toMatchObject(
      errorResponse(429, 'rate_limit_exceeded', 'If you send 28 more requests before then, this key is banned for 1 minute.'),
    );
  });

  test('does not show on an admitted request', async () => {
    expect(strikesLeft(await send())).toBeUndefined();
  });

  test('still counts after an admitted request, which starts a new free second', async () => {
    await exhaust();
    await strike(3);
    nextMinute();
    await send();
    expect(strikesLeft(await send())).toBe('27');
    clock.advance(1_000);
    expect(strikesLeft(await send())).toBe('27');
    clock.advance(1);
    expect(strikesLeft(await send())).toBe('26');
  });

  test('is not counted for the first 429 after an admitted request, even within the same minute', async () => {
    const raised = await store.createKey({ client: 'Raised', plan });
    const { db, redis, redisKeys } = store.dependencies;
    await exhaust(raised);
    await setPlan(db, testAuthor, 'Raised', { plan: 'enterprise', perMinute: 2, perDay: 100_000 });
    await settleClientChange(redis, redisKeys, raised.clientId);
    const responses = [await send(raised), await send(raised)];
    expect(responses.map(({ status }) => status)).toEqual([200, 429]);
    expect(responses.map(strikesLeft)).toEqual([undefined, '30']);
  });

  test('is reset with all others five minutes after the first', async () => {
    await exhaust();
    await strike(29);
    clock.advance(5 * minuteMs);
    await exhaust();
    expect(strikesLeft(await send())).toBe('29');
  });

  test('still counts with those of up to five minutes before', async () => {
    await exhaust();
    await strike(29);
    clock.advance(4 * minuteMs - 30_000);
    await exhaust();
    expect((await send()).json.code).toBe('api_key_banned');
  });

  test('counts only for its own key', async () => {
    const [one, two] = [await store.createKey({ client: 'Both', plan }), await store.createKey({ client: 'Both', plan })];
    await exhaust(one);
    await strike(20, one);
    expect(strikesLeft(await send(two))).toBe('30');
  });

  test('is not counted for a request over the daily limit', async () => {
    const poor = await store.createKey({ plan: { perMinute: 10, perDay: 1 } });
    await exhaust(poor);
    expect(await strike(40, poor)).toMatchObject({
      ...errorResponse(429, 'rate_limit_exceeded'),
      headers: { 'x-ratelimit-strikes-remaining': '30' },
    });
  });
});

describe('A ban', () => {
  test('starts with the 30th strike on a small plan', async () => {
    await exhaust();
    expect((await strike(29)).json.code).toBe('rate_limit_exceeded');
    expect((await send()).json.code).toBe('api_key_banned');
  });

  test('starts with as many strikes as the plan allows requests per minute', async () => {
    const free = await store.createKey({ plan: 'free' });
    nextMinute();
    for (let i = 0; i < 61; i += 1) await send(free);
    clock.advance(1_001);
    expect((await strike(59, free)).json.code).toBe('rate_limit_exceeded');
    expect((await send(free)).json.code).toBe('api_key_banned');
  });

  test('is 429 and says until when, why, and that waiting is enough', async () => {
    await exhaust();
    await strike(29);
    const until = new Date(clock.now() + minuteMs);
    expect(await send()).toMatchObject({
      ...errorResponse(
        429,
        'api_key_banned',
        `Banned until ${until.toISOString().slice(11, 19)} UTC: this key sent 30 requests without waiting for Retry-After. Wait 60 s. Requests during the ban do not extend it.`,
      ),
      headers: {
        'retry-after': '60',
        'x-ratelimit-reset': String(Math.ceil(until.getTime() / 1_000)),
        'x-ratelimit-remaining': '0',
        'x-ratelimit-strikes-remaining': '0',
      },
    });
  });

  test('lasts longer than the minute, and ends on time', async () => {
    await banMinutes();
    clock.advance(minuteMs - 1);
    expect((await send()).json.code).toBe('api_key_banned');
    clock.advance(1);
    expect((await send()).status).toBe(200);
  });

  test('is not extended by requests during it', async () => {
    await banMinutes();
    clock.advance(30_000);
    expect((await strike(100)).headers['retry-after']).toBe('30');
  });

  test("applies to the key, and not to the client's other keys", async () => {
    const [one, two] = [await store.createKey({ client: 'Pair', plan }), await store.createKey({ client: 'Pair', plan })];
    await banMinutes(one);
    nextMinute();
    expect([(await send(one)).json.code, (await send(two)).status]).toEqual(['api_key_banned', 200]);
  });

  test('lasts 1, then 5, 15, 60 and again 60 minutes', async () => {
    const lengths: number[] = [];
    for (let i = 0; i < 5; i += 1) {
      const minutes = await banMinutes();
      lengths.push(minutes);
      clock.advance(minutes * minuteMs);
    }
    expect(lengths).toEqual([1, 5, 15, 60, 60]);
  });

  test('of the next length is announced in advance', async () => {
    await banMinutes();
    clock.advance(minuteMs);
    await exhaust();
    expect(await send()).toMatchObject(
      errorResponse(429, 'rate_limit_exceeded', 'If you send 29 more requests before then, this key is banned for 5 minutes.'),
    );
  });

  test('has the first length again 24 hours after the last one ended', async () => {
    await banMinutes();
    clock.advance(minuteMs + dayMs);
    expect(await banMinutes()).toBe(1);
  });

  test('has the second length within 24 hours', async () => {
    await banMinutes();
    clock.advance(dayMs - 2 * minuteMs);
    expect(await banMinutes()).toBe(5);
  });

  test('applies in another process too', async () => {
    await using another = await createTestStore({ clock, env: { DATABASE_URL: store.databaseUrl } });
    await banMinutes();
    expect(await another.call('GET', '/v1/pets', { key: key.key })).toMatchObject(errorResponse(429, 'api_key_banned'));
  });

  test('is listed while it lasts, and no longer', async () => {
    const { redis, redisKeys } = store.dependencies;
    const list = async () => (await listBans(redis.client, redisKeys, clock.now())).filter(({ keyId }) => keyId === String(key.id));
    await banMinutes();
    const until = new Date(clock.now() + minuteMs).toISOString();
    expect(await list()).toEqual([{ keyId: String(key.id), clientId: String(key.clientId), until, level: 1 }]);
    clock.advance(minuteMs);
    expect(await list()).toEqual([]);
  });

  test('that is lifted is over at once, with its strikes and its level', async () => {
    const { redis, redisKeys } = store.dependencies;
    await banMinutes();
    expect(await liftBan(redis.client, redisKeys, key, clock.now())).toBe(true);
    expect(await banMinutes()).toBe(1);
  });

  test("that does not exist can't be lifted", async () => {
    const { redis, redisKeys } = store.dependencies;
    expect(await liftBan(redis.client, redisKeys, key, clock.now())).toBe(false);
  });
});
