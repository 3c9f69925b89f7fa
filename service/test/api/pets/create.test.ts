import { once } from 'node:events';
import { connect } from 'node:net';
import { describe, expect, test } from 'vitest';
import { addPet, type PetBody } from '../../adoption-steps.ts';
import { errorResponse } from '../../error-response.ts';
import { createTestStore, openTestStore } from '../../test-store.ts';

const store = await openTestStore();
const key = await store.createKey();

const create = (body: unknown) => store.call<PetBody>('POST', '/v1/pets', { key: key.key, body });
const createRaw = (raw: string, headers: Record<string, string> = {}) =>
  store.call<PetBody>('POST', '/v1/pets', { key: key.key, raw, headers });

async function countPets(): Promise<bigint> {
  const rows = await store.read<{ count: bigint }>('select count(*) from pets');
  return rows[0]?.count ?? -1n;
}

describe('POST /v1/pets', () => {
  test('with name and category is 201 with the animal, available', async () => {
    const { status, headers, json } = await create({ name: 'Biscuit', categoryId: 2 });
    expect({ status, json }).toEqual({ status: 201, json: { id: json.id, name: 'Biscuit', categoryId: 2, status: 'available' } });
    expect(headers['content-type']).toBe('application/json; charset=utf-8');
  });

  test('assigns ids that count up from 1', async () => {
    await using fresh = await createTestStore();
    const owner = await fresh.createKey();
    expect([(await addPet(fresh, owner)).id, (await addPet(fresh, owner)).id]).toEqual([1, 2]);
  });

  test.each(['available', 'pending', 'sold'])('with the status %s stores that status', async (status) => {
    expect((await create({ name: 'A', categoryId: 1, status })).json.status).toBe(status);
  });

  test('ignores unknown fields, and an id among them', async () => {
    const { status, json } = await create({ name: 'A', categoryId: 1, id: 987_654_321, clientId: 5, colour: 'red' });
    expect({ status, json }).toEqual({ status: 201, json: { id: json.id, name: 'A', categoryId: 1, status: 'available' } });
    expect(json.id).not.toBe(987_654_321);
  });

  test('records who added the animal', async () => {
    const { id } = (await create({ name: 'A', categoryId: 1 })).json;
    const rows = await store.read('select client_id, key_id, from_status, to_status, why from history where pet_id = $1', id);
    expect(rows).toEqual([{ client_id: key.clientId, key_id: key.id, from_status: null, to_status: 'available', why: 'added' }]);
  });
});

describe("POST /v1/pets, the animal's name", () => {
  test.each([
    ['of one character', 'X'],
    ['of 200 characters', 'x'.repeat(200)],
    ['of 200 characters outside the basic plane', '🐕'.repeat(200)],
    ['with blanks around it', '  Biscuit  '],
    ['with quotes, backslashes and markup', 'Čapek 🐕‍🦺 "quoted" \\ <b>&amp;'],
    ['in a form that is not normalised', 'Cafe\u0301'],
    ['with a no-break space before it', '\u00a0Biscuit'],
    ['with zero-width and right-to-left characters', '\u200fשלום\u200b'],
  ])('%s is stored and returned as sent', async (_, name) => {
    const { json } = await create({ name, categoryId: 1 });
    expect(json.name).toBe(name);
    expect((await store.call<PetBody[]>('GET', `/v1/pets?id=${json.id}`, { key: key.key })).json[0]?.name).toBe(name);
  });

  test.each([
    ['empty', ''],
    ['blank', '   '],
    ['of no-break and ideographic spaces', '\u00a0\u3000\u2003'],
    ['of a byte order mark', '\ufeff'],
    ['of 201 characters', 'x'.repeat(201)],
    ['of 201 characters outside the basic plane', '🐕'.repeat(201)],
    ['with NUL', 'a\u0000b'],
    ['with a line feed at its end', 'Biscuit\n'],
    ['with a tab', 'a\tb'],
    ['with DEL', 'a\u007fb'],
    ['with a C1 control character', 'a\u0085b'],
  ])('%s is 400 and stores nothing', async (_, name) => {
    const before = await countPets();
    expect(await create({ name, categoryId: 1 })).toMatchObject(
      errorResponse(400, 'invalid_body', 'name must be a string of 1–200 characters, not blank'),
    );
    expect(await countPets()).toBe(before);
  });

  test.each(['\\ud800', '\\udc00', 'a\\udc00\\ud800b'])('with the lone surrogate %s is 400', async (escaped) => {
    expect(await createRaw(`{"name":"${escaped}","categoryId":1}`)).toMatchObject(errorResponse(400, 'invalid_body', 'lone surrogates'));
  });

  test.each([[5], [null], [true], [['Biscuit']], [{ first: 'Biscuit' }]])('as %j is 400 and shows the value', async (name) => {
    expect(await create({ name, categoryId: 1 })).toMatchObject(errorResponse(400, 'invalid_body', `got ${JSON.stringify(name)}.`));
  });

  test('of 100,000 characters is 400 and shown truncated', async () => {
    const { status, json } = await store.call<{ message: string }>('POST', '/v1/pets', {
      key: key.key,
      body: { name: 'x'.repeat(100_000), categoryId: 1 },
    });
    expect(status).toBe(400);
    expect(json.message.length).toBeLessThan(300);
  });
});

describe('POST /v1/pets, the category', () => {
  test.each(['9223372036854775807', '-9223372036854775808', '9007199254740993', '0', '-1'])('%s preserves every digit', async (id) => {
    const { status, text } = await createRaw(`{"name":"A","categoryId":${id}}`);
    expect(status).toBe(201);
    expect(text).toContain(`"categoryId":${id},`);
  });

  test.each([
    ['1.0', 1],
    ['1e2', 100],
    ['1.5e1', 15],
    ['100e-2', 1],
    ['9007199254740991.0', 9_007_199_254_740_991],
    ['-0', 0],
  ])('%s is the integer %i', async (written, value) => {
    expect((await createRaw(`{"name":"A","categoryId":${written}}`)).json.categoryId).toBe(value);
  });

  test.each(['9223372036854775808', '-9223372036854775809', '1'.repeat(60)])('%s, which exceeds int64, is 400 and shown', async (id) => {
    expect(await createRaw(`{"name":"A","categoryId":${id}}`)).toMatchObject(
      errorResponse(400, 'invalid_body', `categoryId must be an integer (int64); got ${id}.`),
    );
  });

  test('of 1,000 digits is 400', async () => {
    expect(await createRaw(`{"name":"A","categoryId":${'1'.repeat(1_000)}}`)).toMatchObject(
      errorResponse(400, 'invalid_body', 'got a number that is too large or too precise.'),
    );
  });

  test.each(['9.007199254740993e15', '9007199254740993.0', '9007199254740992e0', '1e400', '-1e300'])(
    '%s, above 2^53 and not in plain digits, is 400 and not rounded',
    async (written) => {
      expect(await createRaw(`{"name":"A","categoryId":${written}}`)).toMatchObject(errorResponse(400, 'invalid_body', 'categoryId'));
    },
  );

  test.each(['1.5', '1.00000000000000001', '100000000.000000001', '1.00000000000000001e0', '1e-400', '15e-1'])(
    '%s, which only rounding could make an integer, is 400',
    async (written) => {
      expect(await createRaw(`{"name":"A","categoryId":${written}}`)).toMatchObject(errorResponse(400, 'invalid_body', 'categoryId'));
    },
  );

  test.each([['1'], [true], [null], [[1]], [{}]])('%j is 400 and shown', async (categoryId) => {
    expect(await create({ name: 'A', categoryId })).toMatchObject(
      errorResponse(400, 'invalid_body', `categoryId must be an integer (int64); got ${JSON.stringify(categoryId)}.`),
    );
  });

  test('that is new is registered without a name', async () => {
    expect((await create({ name: 'A', categoryId: 4_711 })).status).toBe(201);
    const { json } = await store.call<unknown[]>('GET', '/v1/categories?limit=100', { key: key.key });
    expect(json).toContainEqual({ id: 4_711 });
  });

  test('that exists keeps its name', async () => {
    await create({ name: 'A', categoryId: 3 });
    const { json } = await store.call<unknown[]>('GET', '/v1/categories?limit=100', { key: key.key });
    expect(json).toContainEqual({ id: 3, name: 'Rabbits' });
  });
});

const closed = await openTestStore({ env: { HOMEWARD_CATEGORIES: 'closed' } });
const closedKey = await closed.createKey();
describe('POST /v1/pets with closed categories', () => {
  test('accepts an existing category', async () => {
    const response = await closed.call('POST', '/v1/pets', { key: closedKey.key, body: { name: 'A', categoryId: 10 } });
    expect(response.status).toBe(201);
  });

  test('rejects an unknown category with 400, stores nothing and registers nothing', async () => {
    const response = await closed.call('POST', '/v1/pets', { key: closedKey.key, body: { name: 'Lost', categoryId: 11 } });
    expect(response).toMatchObject(errorResponse(400, 'category_not_found', 'Category 11 does not exist in this store.'));
    const rows = await closed.read(
      `select (select count(*) from pets where name = 'Lost') as pets, (select count(*) from categories where id = 11) as categories`,
    );
    expect(rows).toEqual([{ pets: 0n, categories: 0n }]);
  });
});

describe('POST /v1/pets with several faults', () => {
  test('is 400 with one sentence for each invalid field', async () => {
    expect((await create({ name: '', status: 'adopted' })).json).toEqual({
      code: 'invalid_body',
      message:
        'name must be a string of 1–200 characters, not blank, without control characters or lone surrogates; got "". categoryId is required. status must be one of available, pending, sold; got "adopted". Did you mean sold?',
      status: 400,
    });
  });

  test('in a body of 1 MiB is 400 with a short message', async () => {
    const hostile = `{"name":[${'1,'.repeat(500_000)}1],"categoryId":[],"status":{}}`;
    const { status, text } = await createRaw(hostile);
    expect(status).toBe(400);
    expect(text.length).toBeLessThan(600);
  });
});

describe('POST /v1/pets with an invalid body', () => {
  test.each([
    ['without name', { categoryId: 1 }, 'name is required.'],
    ['without categoryId', { name: 'A' }, 'categoryId is required.'],
    [
      'with an unknown status',
      { name: 'A', categoryId: 1, status: 'adopted' },
      'status must be one of available, pending, sold; got "adopted".',
    ],
    ['with a status in capitals', { name: 'A', categoryId: 1, status: 'Sold' }, 'got "Sold".'],
    ['with the status null', { name: 'A', categoryId: 1, status: null }, 'got null.'],
    ['that is an array', [{ name: 'A', categoryId: 1 }], 'The body must be an object'],
    ['that is a text', 'A', 'The body must be an object; got "A".'],
    ['that is null', null, 'The request body is empty or null. Send a JSON object.'],
  ])('%s is 400 and stores nothing', async (_, body, words) => {
    const before = await countPets();
    expect(await create(body)).toMatchObject(errorResponse(400, 'invalid_body', words));
    expect(await countPets()).toBe(before);
  });

  test('that is empty is 400', async () => {
    expect(await createRaw('')).toMatchObject(errorResponse(400, 'invalid_body', 'The request body is empty or null. Send a JSON object.'));
  });

  test('that is absent is 400', async () => {
    expect(await store.call('POST', '/v1/pets', { key: key.key })).toMatchObject(
      errorResponse(400, 'invalid_body', 'The request body is empty or null. Send a JSON object.'),
    );
  });

  test.each([
    ['cut off', '{"name":"A"'],
    ['two values', '{"name":"A","categoryId":1}{}'],
    ['not JSON', 'name=A'],
    ['with NaN', '{"name":"A","categoryId":NaN}'],
    ['setting __proto__', '{"__proto__":{"name":"A","categoryId":1}}'],
    ['setting constructor.prototype', '{"name":"A","categoryId":1,"constructor":{"prototype":{"x":1}}}'],
    ['nested 65 deep', `{"name":"A","categoryId":1,"x":${'['.repeat(64)}${']'.repeat(64)}}`],
    ['nested 20,000 deep around a long number', `${'['.repeat(20_000)}9007199254740993${']'.repeat(20_000)}`],
  ])('%s is 400 and stores nothing', async (_, raw) => {
    const before = await countPets();
    expect(await createRaw(raw)).toMatchObject(errorResponse(400, 'invalid_json', 'The body is'));
    expect(await countPets()).toBe(before);
  });

  test('nested 64 deep in an unknown field is 201', async () => {
    expect((await createRaw(`{"name":"A","categoryId":1,"x":${'['.repeat(63)}${']'.repeat(63)}}`)).status).toBe(201);
  });

  test.each(['application/x-www-form-urlencoded', 'text/plain', 'application/xml', 'nonsense'])('as %s is 415', async (type) => {
    expect(await createRaw('{"name":"A","categoryId":1}', { 'content-type': type })).toMatchObject(
      errorResponse(415, 'unsupported_media_type', "'Content-Type: application/json'"),
    );
  });

  test.each(['application/json; charset=utf-8', 'Application/JSON'])('as %s is 201', async (type) => {
    expect((await createRaw('{"name":"A","categoryId":1}', { 'content-type': type })).status).toBe(201);
  });

  test('of exactly 1 MiB is 201', async () => {
    const raw = '{"name":"A","categoryId":1}';
    expect((await createRaw(raw + ' '.repeat(1_048_576 - raw.length))).status).toBe(201);
  });

  test('of 3 MB is 413 for a caller that is still sending, without resetting the connection', async () => {
    const socket = connect({ host: '127.0.0.1', port: Number(new URL(store.url).port), allowHalfOpen: true });
    const failures: unknown[] = [];
    let response = '';
    socket.setEncoding('utf8').on('data', (text) => (response += text));
    socket.on('error', (error) => failures.push(error));
    const fields = `Host: a\r\nAuthorization: Bearer ${key.key}\r\nContent-Type: application/json\r\nContent-Length: 3000000\r\n`;
    socket.write(`POST /v1/pets HTTP/1.1\r\n${fields}\r\n`);
    await once(socket, 'end');
    for (let sent = 0; sent < 3_000_000; sent += 100_000) {
      await new Promise<void>((resolve) => socket.write('x'.repeat(100_000), () => resolve()));
    }
    socket.destroy();
    expect(response).toMatch(/^HTTP\/1\.1 413 /);
    expect(failures).toEqual([]);
  });

  test('of a byte more than 1 MiB is 413 and stores nothing', async () => {
    const before = await countPets();
    const raw = '{"name":"A","categoryId":1}';
    expect(await createRaw(raw + ' '.repeat(1_048_577 - raw.length))).toMatchObject(errorResponse(413, 'body_too_large', '1 MiB'));
    expect(await countPets()).toBe(before);
  });

  test('with a query parameter is 400', async () => {
    const response = await store.call('POST', '/v1/pets?dry=1', { key: key.key, body: { name: 'A', categoryId: 1 } });
    expect(response).toMatchObject(errorResponse(400, 'invalid_query', 'Unknown query parameter "dry". This operation takes none.'));
  });
});
