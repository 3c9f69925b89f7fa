// What the store's staff change by command applies to the next request of a running service.
import { describe, expect, test } from 'vitest';
import { openTestStore } from '../test-store.ts';
import { homewardJson } from './homeward-command.ts';

interface Minted {
  readonly id: number;
  readonly clientId: number;
  readonly key: string;
}

const minuteMs = 60_000;

/** The service's clock stands still until a test advances it, so that no test depends on real time. */
let nowMs = Date.now();
const clock = { now: () => nowMs };

const store = await openTestStore({ clock });

describe('keys', () => {
  test('a rotated key and its successor both work during the overlap, and only the successor afterwards', async () => {
    nowMs = Date.now();
    const old = await staff('keys', 'create', '--client', 'Paws', '--plan', 'pro');
    expect(await list(old)).toMatchObject({ status: 200 });
    const successor = await staff('keys', 'rotate', String(old.id), '--overlap', '1s');
    expect(successor.clientId).toBe(old.clientId);
    expect(await list(old)).toMatchObject({ status: 200 });
    expect(await list(successor)).toMatchObject({ status: 200 });

    nowMs = Date.now() + 1_001;
    const rejected = await list(old);
    expect(rejected).toMatchObject({ status: 401, json: { code: 'api_key_expired' } });
    expect(rejected.json.message).toContain(`Key ${old.id} was replaced by key ${successor.id}, and its overlap ended`);
    expect(await list(successor)).toMatchObject({ status: 200 });
  });

  test('a key that is rotated without an overlap stops at once', async () => {
    nowMs = Date.now();
    const old = await staff('keys', 'create', '--client', 'Paws', '--plan', 'pro');
    expect(await list(old)).toMatchObject({ status: 200 });
    await staff('keys', 'rotate', String(old.id), '--overlap', '0s');
    nowMs = Date.now() + 1;
    expect(await list(old)).toMatchObject({ status: 401, json: { code: 'api_key_expired' } });
  });

  test('a revoked key is rejected on its next request, and the client’s other key is not', async () => {
    const one = await staff('keys', 'create', '--client', 'Hooves', '--plan', 'free');
    const other = await staff('keys', 'create', '--client', 'Hooves', '--plan', 'free');
    expect(await list(one)).toMatchObject({ status: 200 });
    await staff('keys', 'revoke', String(one.id));
    expect(await list(one)).toMatchObject({ status: 401, json: { code: 'api_key_revoked' } });
    expect(await list(other)).toMatchObject({ status: 200 });
  });

  test('a key with an expiry date works until then', async () => {
    nowMs = Date.now();
    const key = await staff('keys', 'create', '--client', 'Wings', '--plan', 'free', '--expires', '1s');
    expect(await list(key)).toMatchObject({ status: 200 });
    nowMs = Date.now() + 1_001;
    expect(await list(key)).toMatchObject({ status: 401, json: { code: 'api_key_expired' } });
  });

  test('a key without the scope of an operation is rejected only there', async () => {
    const reader = await staff('keys', 'create', '--client', 'Readers', '--plan', 'free', '--scopes', 'pets:read');
    expect(await list(reader)).toMatchObject({ status: 200 });
    const rejected = await store.call('POST', '/v1/pets', { key: reader.key, body: { name: 'Biscuit', categoryId: 1 } });
    expect(rejected).toMatchObject({ status: 403, json: { code: 'insufficient_scope' } });
  });
});

test('clients set-plan applies to the next request', async () => {
  const key = await staff('keys', 'create', '--client', 'Growing', '--plan', 'free');
  expect((await list(key)).headers['ratelimit-policy']).toBe('"minute";q=60;w=60, "day";q=1000;w=86400');
  await staff('clients', 'set-plan', 'Growing', '--plan', 'enterprise', '--per-minute', '7', '--per-day', '70');
  const next = await list(key);
  expect(next.headers['ratelimit-policy']).toBe('"minute";q=7;w=60, "day";q=70;w=86400');
  // Requests made before count under the new plan too.
  expect(next.headers['x-ratelimit-remaining']).toBe('5');
});

test('a ban is listed while it lasts, and lifted for the next request', async () => {
  // A minute ahead, so that the ban outlasts the commands however slow they are, and not at the end of a minute.
  nowMs = Math.ceil(Date.now() / minuteMs) * minuteMs + minuteMs / 2;
  const limits = ['--plan', 'enterprise', '--per-minute', '1', '--per-day', '1000'];
  const key = await staff('keys', 'create', '--client', 'Hasty', ...limits);
  expect(await list(key)).toMatchObject({ status: 200 });
  expect(await list(key)).toMatchObject({ status: 429, json: { code: 'rate_limit_exceeded' } });
  nowMs += 1_001;
  for (let strike = 1; strike < 30; strike += 1) expect(await list(key)).toMatchObject({ json: { code: 'rate_limit_exceeded' } });
  expect(await list(key)).toMatchObject({ status: 429, json: { code: 'api_key_banned' } });

  const until = new Date(nowMs + minuteMs).toISOString();
  expect(await staff('bans', 'list')).toEqual([{ keyId: key.id, clientId: key.clientId, client: 'Hasty', until, level: 1 }]);
  expect(await staff('bans', 'lift', String(key.id))).toEqual({ id: key.id, lifted: true });
  expect(await staff('bans', 'list')).toEqual([]);
  // The current window is still used up. The next one is open, although the ban would not have ended.
  expect(await list(key)).toMatchObject({ json: { code: 'rate_limit_exceeded' } });
  nowMs += minuteMs / 2;
  expect(await list(key)).toMatchObject({ status: 200 });
});

const staff = (...args: string[]): Promise<Minted> => homewardJson<Minted>(args, store.env);
const list = ({ key }: Minted) => store.call<{ code?: string; message?: string }>('GET', '/v1/pets', { key });
