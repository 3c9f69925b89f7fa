import { describe, expect, test } from 'vitest';
import { errorResponse } from '../../error-response.ts';
import { createTestStore, openTestStore, type TestKey } from '../../test-store.ts';
import { minutesAgo, recordUsage, storedUsage } from '../../usage-steps.ts';

interface Counts {
  readonly requests: number;
  readonly errors: Array<{ code: string; count: number }>;
  readonly deprecated: Array<{ operation: string; count: number }>;
}
interface Usage {
  readonly from: string;
  readonly to: string;
  readonly interval: string;
  readonly limits: { perMinute: number; perDay: number };
  readonly total: Counts;
  readonly keys: Array<Counts & { keyId: number }>;
  readonly intervals: Array<Counts & { start: string }>;
}

const hourMs = 3_600_000;
const dayMs = 24 * hourMs;
// Once: the minute may change during a test.
const [twoAgo, oneAgo] = [minutesAgo(2), minutesAgo(1)];
const getPet = 'GET /v1/pets/{petId}';
const nothing = { errors: [], deprecated: [] };
const store = await openTestStore();
const first = await store.createKey({ client: 'Happy Tails', plan: 'pro' });
const second = await store.createKey({ client: 'Happy Tails', plan: 'pro', scopes: [] });
const other = await store.createKey({ client: 'Paws' });
const key = first.key;
await recordUsage(store, first, { at: twoAgo, requests: 10, errors: { pet_not_found: 2 }, deprecated: { [getPet]: 3 } });
await recordUsage(store, first, { at: oneAgo, requests: 5, errors: { rate_limit_exceeded: 4 } });
await recordUsage(store, second, { at: oneAgo, requests: 100 });
await recordUsage(store, other, { at: oneAgo, requests: 7_777 });

const get = (query = '', by = key) => store.call<Usage>('GET', `/v1/usage${query}`, { key: by });

describe('GET /usage', () => {
  test('has the requests of all keys of the client by minute, and the limits', async () => {
    const { status, json } = await get('?interval=minute');
    expect(status).toBe(200);
    expect(json).toMatchObject({ interval: 'minute', limits: { perMinute: 300, perDay: 10_000 } });
    expect(Date.parse(json.to) - Date.parse(json.from)).toBe(hourMs);
    expect(json.total).toEqual({
      requests: 115,
      errors: [
        { code: 'rate_limit_exceeded', count: 4 },
        { code: 'pet_not_found', count: 2 },
      ],
      deprecated: [{ operation: getPet, count: 3 }],
    });
    expect(json.keys).toEqual([
      { keyId: Number(second?.id), requests: 100, ...nothing },
      { keyId: Number(first?.id), ...json.total, requests: 15 },
    ]);
    expect(json.intervals).toEqual([
      {
        start: twoAgo.toISOString(),
        requests: 10,
        errors: [{ code: 'pet_not_found', count: 2 }],
        deprecated: [{ operation: getPet, count: 3 }],
      },
      { start: oneAgo.toISOString(), requests: 105, errors: [{ code: 'rate_limit_exceeded', count: 4 }], deprecated: [] },
    ]);
  });

  test.each([
    ['hour', hourMs, 24 * hourMs],
    ['day', dayMs, 30 * dayMs],
  ])('by %s has whole intervals in UTC', async (interval, lengthMs, periodMs) => {
    const { json } = await get(`?interval=${interval}`);
    const starts = [...new Set([twoAgo, oneAgo].map((at) => Math.floor(at.getTime() / lengthMs) * lengthMs))];
    expect(json.intervals.map(({ start }) => Date.parse(start))).toEqual(starts);
    expect(json.intervals.reduce((sum, { requests }) => sum + requests, 0)).toBe(115);
    expect([Date.parse(json.from) % lengthMs, Date.parse(json.to) % lengthMs, Date.parse(json.to) - Date.parse(json.from)]).toEqual([
      0,
      0,
      periodMs,
    ]);
  });

  test('of a period has the minutes of that period only', async () => {
    const query = `?interval=minute&from=${twoAgo.toISOString()}&to=${oneAgo.toISOString()}`;
    expect((await get(query)).json).toMatchObject({ total: { requests: 10 }, intervals: [{ requests: 10 }] });
  });

  test('of one key has no other, and any key of the client may ask, whatever its scopes', async () => {
    const { json } = await get(`?interval=minute&keyId=${second?.id}`);
    expect(json).toMatchObject({ total: { requests: 100 }, keys: [{ keyId: Number(second?.id) }], intervals: [{ requests: 100 }] });
    expect((await get('?interval=minute', second?.key)).json.total.requests).toBe(115);
  });

  test("never has another client's requests: a key of another client is like one that does not exist", async () => {
    expect((await get('?interval=day', other?.key)).json).toMatchObject({
      total: { requests: 7_777 },
      keys: [{ keyId: Number(other?.id) }],
    });
    for (const keyId of [first?.id, 999_999n])
      expect(await get(`?keyId=${keyId}`, other?.key)).toMatchObject(
        errorResponse(400, 'invalid_query', `keyId must be one of your keys; got ${keyId}. Without keyId`),
      );
  });

  test('of a key that was not used is empty', async () => {
    const unused = await store.createKey({ client: 'Happy Tails', plan: 'pro' });
    expect((await get(`?keyId=${unused.id}`)).json).toMatchObject({ total: { requests: 0, ...nothing }, keys: [], intervals: [] });
  });

  test.each([
    ['from=yesterday', 'from must be a time such as 2026-11-15T10:00:00Z; got "yesterday".'],
    ['to=2026-13-01T00:00:00Z', 'to must be a time such as 2026-11-15T10:00:00Z; got "2026-13-01T00:00:00Z".'],
    [`from=${new Date(Date.now() - 40 * dayMs).toISOString()}&interval=day`, 'or later, since usage is kept for 30 days; got "'],
    [`from=${oneAgo.toISOString()}&to=${minutesAgo(5).toISOString()}&interval=minute`, 'from must be before to; got '],
    [`from=${minutesAgo(3_000).toISOString()}&interval=minute`, 'must be at most 1440 intervals apart; got 300'],
    ['interval=week', 'interval must be one of minute, hour, day; got "week".'],
    ['keyId=mine', 'keyId must be an integer (int64); got "mine".'],
    ['limit=5', 'Unknown query parameter "limit".'],
  ])('?%s is 400', async (query, words) => {
    expect(await get(`?${query}`)).toMatchObject(errorResponse(400, 'invalid_query', words));
  });

  test('without a key is 401', async () => {
    expect(await store.call('GET', '/v1/usage')).toMatchObject(errorResponse(401, 'api_key_missing'));
  });
});

test('every request with a valid key is counted when its process ends, also those of the fast path, and no other', async () => {
  const before = await createTestStore();
  const { databaseUrl } = before.dependencies.config;
  const caller = await before.createKey({ plan: { perMinute: 9, perDay: 100 } });
  const call = (path: string, by?: string) => before.call('GET', path, by ? { key: by } : {});
  for (let i = 0; i < 5; i += 1) await call('/v1/pets', caller.key);
  await call('/v1/pets/4711', caller.key);
  await before.call('HEAD', '/v1/pets/4711', { key: caller.key });
  await call('/v1/nothing', caller.key);
  await call('/v1/usage', caller.key);
  await call('/v1/pets', caller.key);
  await call('/v1/pets');
  await call('/v1/pets', `${caller.key}x`);
  await call('/readyz');
  await before[Symbol.asyncDispose]();
  const row = rowOf(caller);
  expect(await storedUsage(databaseUrl)).toEqual([
    row('request', '', 10),
    row('error', 'pet_not_found', 2),
    row('error', 'rate_limit_exceeded', 1),
    row('error', 'route_not_found', 1),
    row('deprecated', getPet, 2),
  ]);
});

test('a path that ends with a slash or has an empty id is 404 route_not_found, and no call of a deprecated operation', async () => {
  const before = await createTestStore();
  const { databaseUrl } = before.dependencies.config;
  const caller = await before.createKey();
  const paths = ['/v1/pets/', '/v1/pets/?limit=1', '/v1/pets/4711/', '/v1/pets//', '/v1/pets//profile'];
  for (const method of ['GET', 'HEAD']) {
    for (const path of paths) expect((await before.call(method, path, { key: caller.key })).status).toBe(404);
  }
  await before[Symbol.asyncDispose]();
  expect(await storedUsage(databaseUrl)).toEqual([rowOf(caller)('request', '', 10), rowOf(caller)('error', 'route_not_found', 10)]);
});

const rowOf =
  ({ id }: TestKey) =>
  (kind: string, name: string, total: number) => ({ key: Number(id), kind, name, total });
