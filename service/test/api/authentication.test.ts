import pg from 'pg';
import { beforeEach, describe, expect, test, vi } from 'vitest';
import { HttpClient } from '../../../testkit/http.ts';
import { testAuthor } from '../../../testkit/test-author.ts';
import { mintApiKey } from '../../src/access/clients/api-key.ts';
import { settleClientChange } from '../../src/access/clients/client-changes.ts';
import { revokeApiKey, rotateKey, setPlan } from '../../src/access/clients/clients.ts';
import { theService } from '../../src/domain/actor.ts';
import { errorResponse } from '../error-response.ts';
import { ManualClock } from '../manual-clock.ts';
import { sendRaw } from '../raw-request.ts';
import { createTestStore, openTestStore, type TestKey, type TestStore } from '../test-store.ts';

const clock = new ManualClock('2026-12-01T12:00:00Z');
const store = await openTestStore({ clock });
const key = await store.createKey();
// Requests without a valid key count against the address, so each test starts in a new minute.
beforeEach(() => clock.advance(60_000));

const authorise = (authorization: string) => store.call('GET', '/v1/pets', { headers: { authorization } });
const invalidToken = { 'www-authenticate': 'Bearer error="invalid_token"' };

describe('A request without a valid key', () => {
  test('that has no Authorization header is 401 and says how to send one', async () => {
    const response = await store.call('GET', '/v1/pets');
    expect(response).toMatchObject(
      errorResponse(
        401,
        'api_key_missing',
        "Send your key as 'Authorization: Bearer <API_KEY>'. This request had no Authorization header.",
      ),
    );
    expect(response.headers['www-authenticate']).toBe('Bearer');
  });

  test.each([
    ['another scheme', 'Basic dTpw', "must be 'Bearer <API_KEY>'; this one has the scheme Basic."],
    ['a scheme that nobody uses', 'Sesame dTpw', "must be 'Bearer <API_KEY>'; this one has another scheme."],
    ['nothing in it', '', "must be 'Bearer <API_KEY>'"],
    ['the scheme alone', 'Bearer', "Nothing follows 'Bearer'"],
    ['no space', 'Bearer:dTpw', "A space must follow 'Bearer'"],
    ['the scheme twice', 'Bearer Bearer dTpw', "has 'Bearer' twice"],
    ['a variable that is not set', 'Bearer undefined', 'look whether its variable is set'],
    ['what an example shows', 'Bearer <API_KEY>', 'Put your key in place of what the example shows'],
    ['quotes', 'Bearer "dTpw"', 'Send it without quotes or brackets.'],
    ['nonsense', 'Bearer nonsense', "A key starts with 'hw_' and has 46 characters."],
  ])('that has %s in its Authorization header is 401', async (_, authorization, words) => {
    const response = await authorise(authorization);
    expect(response).toMatchObject({ ...errorResponse(401, 'api_key_invalid', words), headers: invalidToken });
  });

  test('that has a key without its scheme is 401', async () => {
    expect(await authorise(key.key)).toMatchObject(errorResponse(401, 'api_key_invalid', "Put 'Bearer ' before your key"));
  });

  test.each([
    ['cut off', (text: string) => text.slice(0, -1)],
    ['lengthened', (text: string) => `${text}x`],
    ['with one character changed', (text: string) => text.slice(0, 20) + (text[20] === 'a' ? 'b' : 'a') + text.slice(21)],
    ['in capitals', (text: string) => text.toUpperCase()],
    ['with something behind it', (text: string) => `${text} x`],
  ])('that has a key %s is 401: mistyped', async (_, change) => {
    expect(await authorise(`Bearer ${change(key.key)}`)).toMatchObject(errorResponse(401, 'api_key_invalid', 'mistyped or cut off'));
  });

  test('that has a well-formed key which does not exist is 401', async () => {
    const response = await authorise(`Bearer ${mintApiKey('production')}`);
    expect(response).toMatchObject({ ...errorResponse(401, 'api_key_invalid', 'This key does not exist here.'), headers: invalidToken });
  });

  test('that has two Authorization headers is 401, even if both are correct', async () => {
    const header = `Authorization: Bearer ${key.key}\r\n`;
    const response = await sendRaw(store.url, `GET /v1/pets HTTP/1.1\r\nHost: x\r\n${header}${header}\r\n`);
    expect(response).toMatchObject(errorResponse(401, 'api_key_invalid', 'sent more than once; send it once.'));
  });

  test.each([
    ['api_key', 'the query parameter api_key'],
    ['API_KEY', 'the query parameter api_key'],
    ['token', 'the query parameter token'],
  ])('that has its key in the query is 401 and says so: %s', async (name, words) => {
    const response = await store.call('GET', `/v1/pets?limit=1&${name}=${key.key}`);
    expect(response).toMatchObject(errorResponse(401, 'api_key_missing', words));
    expect(response.text).not.toContain(key.key.slice(8));
  });

  test.each([
    ['X-Api-Key', () => key.key],
    ['Api-Key', () => 'something else'],
    ['X-Auth-Token', () => ''],
    ['X-Unheard-Of', () => key.key],
    ['X-Unheard-Of', () => `Bearer ${key.key}`],
  ])('that has its key in the header %s is 401 and says so', async (name, value) => {
    const response = await store.call('GET', '/v1/pets', { headers: { [name]: value() } });
    expect(response).toMatchObject(errorResponse(401, 'api_key_missing', `This request has the header ${name} in its place.`));
    expect(response.text).not.toContain(key.key.slice(8));
    expect(response.headers['www-authenticate']).toBe('Bearer');
  });

  test.each(['/v1/pets?token=5', '/v1/pets?key=', '/v1/pets?keys=1'])('that has no key in %s is 401 as without it', async (path) => {
    expect(await store.call('GET', path, { headers: { 'x-unheard-of': 'hw' } })).toMatchObject(
      errorResponse(401, 'api_key_missing', 'This request had no Authorization header.'),
    );
  });

  test('gets a response that does not contain the key', async () => {
    const { text } = await authorise(`Bearer ${key.key}x`);
    expect(text).not.toContain(key.key.slice(8));
  });

  test.each([
    ['GET', '/v1/no-such-path'],
    ['DELETE', '/v1/pets'],
    ['GET', '/v1/pets/%zz'],
    ['GET', '/v1/pets?colour=red'],
    ['TRACE', '/v1/pets'],
    ['GET', '/v1'],
  ])('is 401 before any other error: %s %s', async (method, path) => {
    expect(await store.call(method, path)).toMatchObject(errorResponse(401, 'api_key_missing'));
  });

  test('is 401 before its body is read', async () => {
    const head = 'POST /v1/pets HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n';
    expect(await sendRaw(store.url, head)).toMatchObject(errorResponse(401, 'api_key_missing'));
  });

  test('is 401 whatever its body is', async () => {
    const response = await store.call('POST', '/v1/pets', { raw: 'not JSON', headers: { 'content-type': 'text/plain' } });
    expect(response).toMatchObject(errorResponse(401, 'api_key_missing'));
  });
});

describe('A request with a valid key', () => {
  test.each(['Bearer', 'bearer', 'BEARER'])('is admitted with the scheme written as %s', async (scheme) => {
    expect((await authorise(`${scheme} ${key.key}`)).status).toBe(200);
  });

  test('is admitted with blanks around it', async () => {
    expect((await authorise(`Bearer   ${key.key} `)).status).toBe(200);
  });

  test('may use every documented operation by default', async () => {
    const pet = await store.call<{ id: number }>('POST', '/v1/pets', { key: key.key, body: { name: 'A', categoryId: 1 } });
    const paths = ['/v1/pets', `/v1/pets/${pet.json.id}`, '/v1/store/orders'];
    const responses = await Promise.all(paths.map((path) => store.call('GET', path, { key: key.key })));
    expect([pet, ...responses].map(({ status }) => status)).toEqual([201, 200, 200, 200]);
  });

  test('but without the scope is 403, names both scopes, and has WWW-Authenticate', async () => {
    const reader = await store.createKey({ scopes: ['pets:read'] });
    const response = await store.call('POST', '/v1/pets', { key: reader.key, body: { name: 'A', categoryId: 1 } });
    expect(response).toMatchObject(
      errorResponse(403, 'insufficient_scope', 'This operation needs the scope pets:write; this key has pets:read.'),
    );
    expect(response.headers['www-authenticate']).toBe('Bearer error="insufficient_scope", scope="pets:write"');
  });

  test('but without the scope is 403 whatever its body is', async () => {
    const reader = await store.createKey({ scopes: ['pets:read'] });
    expect(await store.call('POST', '/v1/pets', { key: reader.key, raw: '{' })).toMatchObject(errorResponse(403, 'insufficient_scope'));
  });
});

describe('A key that expires', () => {
  test('works until it expires, and is 401 from then on', async () => {
    const expiresAt = new Date(clock.now() + 5_000);
    const { key: sent, id } = await store.createKey({ expiresAt });
    expect((await authorise(`Bearer ${sent}`)).status).toBe(200);
    clock.advance(4_999);
    expect((await authorise(`Bearer ${sent}`)).status).toBe(200);
    clock.advance(1);
    const response = await authorise(`Bearer ${sent}`);
    expect(response).toMatchObject({
      ...errorResponse(401, 'api_key_expired', `Key ${id} expired at ${expiresAt.toISOString()}. Use a new key.`),
      headers: invalidToken,
    });
  });
});

const real = await openTestStore();
const another = await openTestStore({ env: { DATABASE_URL: real.databaseUrl } });
describe('A changed key, in every process from the next request on', () => {
  /** As the commands do it: the change, then the announcement to every process. */
  const announce = ({ clientId }: TestKey) => settleClientChange(real.dependencies.redis, real.dependencies.redisKeys, clientId);
  const callBoth = (sent: string) => Promise.all([real, another].map((process) => process.call('GET', '/v1/pets', { key: sent })));
  const rotate = (id: bigint, overlapSeconds: number) =>
    real.dependencies.db.transaction((tx) => rotateKey(tx, id, { overlapSeconds, environment: 'production' }), theService);

  test('is 401 if it was revoked', async () => {
    const one = await real.createKey();
    expect((await callBoth(one.key)).map(({ status }) => status)).toEqual([200, 200]);
    await real.dependencies.db.transaction((tx) => revokeApiKey(tx, one.id), theService);
    await announce(one);
    const expected = { ...errorResponse(401, 'api_key_revoked', `Key ${one.id} was revoked at 20`), headers: invalidToken };
    expect(await callBoth(one.key)).toMatchObject([expected, expected]);
  });

  test("does not affect the client's other keys if it was revoked", async () => {
    const [one, two] = [await real.createKey({ client: 'Pair' }), await real.createKey({ client: 'Pair' })];
    await callBoth(two.key);
    await real.dependencies.db.transaction((tx) => revokeApiKey(tx, one.id), theService);
    await announce(one);
    expect((await callBoth(two.key)).map(({ status }) => status)).toEqual([200, 200]);
  });

  test('works beside its successor during the overlap if it was rotated', async () => {
    const old = await real.createKey();
    await callBoth(old.key);
    const { key: successor } = await rotate(old.id, 3_600);
    await announce(old);
    const responses = [...(await callBoth(old.key)), ...(await callBoth(successor))];
    expect(responses.map(({ status }) => status)).toEqual([200, 200, 200, 200]);
  });

  test('is 401 after the overlap and names its successor if it was rotated', async () => {
    const old = await real.createKey();
    await callBoth(old.key);
    const { key: successor, record } = await rotate(old.id, 0);
    await announce(old);
    const expected = errorResponse(401, 'api_key_expired', `Key ${old.id} was replaced by key ${record.id}, and its overlap ended at`);
    expect(await callBoth(old.key)).toMatchObject([expected, expected]);
    expect((await callBoth(successor)).map(({ status }) => status)).toEqual([200, 200]);
  });

  test("has the new limits at once if the client's plan was changed", async () => {
    const one = await real.createKey({ client: 'Upgraded', plan: 'free' });
    const limits = async () => (await callBoth(one.key)).map(({ headers }) => headers['x-ratelimit-limit']);
    expect(await limits()).toEqual(['60', '60']);
    await setPlan(real.dependencies.db, testAuthor, 'Upgraded', { plan: 'pro', perMinute: null, perDay: null });
    await announce(one);
    expect(await limits()).toEqual(['300', '300']);
  });
});

describe('A flood of keys that do not exist', () => {
  const inventions = Array.from({ length: 2_000 }, () => mintApiKey('production'));

  test('does not reject a valid key that was never sent before, from the same address', async () => {
    await using fresh = await createTestStore({ clock });
    const lookups = countLookups(fresh);
    using flooder = new HttpClient(500);
    const valid = await fresh.createKey();
    let responded = 0;
    const inMidFlood = Promise.withResolvers<void>();
    const flood = inventions.map(async (sent) => {
      const response = await flooder.send(`${fresh.url}/v1/pets`, { key: sent });
      responded += 1;
      if (responded === 100) inMidFlood.resolve();
      return response.status;
    });
    await inMidFlood.promise;
    expect((await fresh.call('GET', '/v1/pets', { key: valid.key })).status).toBe(200);
    const statuses = await Promise.all(flood);
    expect(new Set(statuses)).toEqual(new Set([401, 429]));
    expect(lookups.atOnceMax).toBeLessThanOrEqual(4);
    expect(lookups.count).toBeLessThanOrEqual(inventions.length + 1);
  });

  test('makes a key that waited 2 s in vain 503, which counts against nobody', async () => {
    await using fresh = await createTestStore({ clock });
    using flooder = new HttpClient(300);
    const lookups = countLookups(fresh);
    const valid = await fresh.createKey();
    const owner = new pg.Client({ connectionString: fresh.databaseUrl });
    await owner.connect();
    await owner.query('begin; lock table api_keys in access exclusive mode');
    const flood = inventions.slice(0, 300).map((sent) => flooder.send(`${fresh.url}/v1/pets`, { key: sent }));
    await vi.waitUntil(() => lookups.atOnceMax === 4, { interval: 1 });
    const response = await fresh.call('GET', '/v1/pets', { key: valid.key });
    await owner.end();
    expect(response).toMatchObject({
      ...errorResponse(503, 'unavailable', 'Too many keys are being checked at the moment. Retry in 1 s.'),
      headers: { 'retry-after': '1', 'x-ratelimit-limit': '60', 'x-ratelimit-remaining': '60' },
    });
    await Promise.all(flood);
    expect((await fresh.call('GET', '/v1/pets', { key: valid.key })).status).toBe(200);
  });
});

describe('A key that has ended, sent a thousand times to a process', () => {
  test.each([
    ['revoked', 'was revoked at'],
    ['expired', 'expired at'],
  ] as const)('is read once if it is %s, and every response says so or is 429', async (kind, words) => {
    await using fresh = await createTestStore({ clock });
    const { key: sent, id } = await fresh.createKey(kind === 'expired' ? { expiresAt: new Date(clock.now()) } : {});
    if (kind === 'revoked') await fresh.dependencies.db.transaction((tx) => revokeApiKey(tx, id), theService);
    const query = vi.spyOn(fresh.dependencies.db, 'query');
    const statements = () => query.mock.calls.map(([{ name }]) => name).filter((name) => name !== 'changes');
    const send = () => fresh.call('GET', '/v1/pets', { key: sent });
    const atOnce = await Promise.all(Array.from({ length: 1_000 }, send));
    expect(statements()).toEqual(['find-owners', 'find-key-by-hash']);
    expect(new Set(atOnce.map(({ status }) => status))).toEqual(new Set([401, 429]));
    clock.advance(60_000);
    expect(await send()).toMatchObject(errorResponse(401, `api_key_${kind}`, `Key ${id} ${words} 20`));
    expect(statements()).toHaveLength(2);
  });
});

/** Counts the queries that check whether keys exist, and how many of them run at once. */
function countLookups({ dependencies: { db } }: TestStore) {
  const lookups = { count: 0, atOnceMax: 0 };
  let atOnce = 0;
  const query = db.query.bind(db);
  vi.spyOn(db, 'query').mockImplementation(async (statement) => {
    if (statement.name !== 'find-owners') return query<never>(statement);
    lookups.count += 1;
    atOnce += 1;
    lookups.atOnceMax = Math.max(lookups.atOnceMax, atOnce);
    return query<never>(statement).finally(() => {
      atOnce -= 1;
    });
  });
  return lookups;
}

describe('A stored key', () => {
  test('is a hash and a hint in the database, never the key itself', async () => {
    const { key: sent, id } = await store.createKey();
    const rows = await store.read<{ row: string; hash: string }>(
      `select api_keys::text as row, encode(sha256($2::bytea), 'hex') = encode(hash, 'hex') as hash from api_keys where id = $1`,
      id,
      Buffer.from(sent),
    );
    expect(rows).toMatchObject([{ hash: true, row: expect.stringContaining(`${sent.slice(0, 11)}…${sent.slice(-4)}`) }]);
    expect(rows[0]?.row).not.toContain(sent.slice(11, -4));
  });
});

const staging = await openTestStore({ env: { HOMEWARD_ENVIRONMENT: 'staging', HOMEWARD_OTHER_URL: 'https://api.example/v1' } });
describe('Production and staging', () => {
  test('each create keys of their own kind', async () => {
    expect([(await staging.createKey()).key.slice(0, 8), key.key.slice(0, 8)]).toEqual(['hw_test_', 'hw_live_']);
  });

  test('each accept their own keys', async () => {
    expect((await staging.call('GET', '/v1/pets', { key: (await staging.createKey()).key })).status).toBe(200);
  });

  test('staging rejects a production key, and says where production is', async () => {
    expect(await staging.call('GET', '/v1/pets', { key: key.key })).toMatchObject(
      errorResponse(401, 'api_key_invalid', 'This is a production key, but this is staging. Production is at https://api.example/v1.'),
    );
  });

  test('production rejects a staging key and says so', async () => {
    expect(await store.call('GET', '/v1/pets', { key: (await staging.createKey()).key })).toMatchObject(
      errorResponse(401, 'api_key_invalid', 'This is a staging key, but this is production.'),
    );
  });
});
