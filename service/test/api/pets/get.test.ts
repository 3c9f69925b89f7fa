import { describe, expect, test } from 'vitest';
import { addPet, createManager, type PetBody } from '../../adoption-steps.ts';
import { errorResponse } from '../../error-response.ts';
import { ManualClock } from '../../manual-clock.ts';
import { openTestStore } from '../../test-store.ts';

const clock = new ManualClock('2026-12-01T12:00:00Z');
const store = await openTestStore({ clock });
const key = await store.createKey();
const pet = await addPet(store, key, { status: 'pending' });

const get = (id: string | number, headers: Record<string, string> = {}) =>
  store.call<PetBody>('GET', `/v1/pets/${id}`, { key: key.key, headers });

describe('GET /v1/pets/{petId}', () => {
  test('is 200 with the animal as it was created', async () => {
    expect(await get(pet.id)).toMatchObject({ status: 200, json: pet });
  });

  test.each(['9007199254740990', '9223372036854775807', '-9223372036854775808', '0', '-1'])(
    'with %s, which names no animal, is 404',
    async (id) => {
      expect(await get(id)).toMatchObject(errorResponse(404, 'pet_not_found', `There is no animal with id ${id}.`));
    },
  );

  test.each(['abc', '1.0', '1e3', '01', '+1', '%201', '9223372036854775808', '-9223372036854775809', '%00', 'x'.repeat(2_000)])(
    'with %s, which is not an int64, is 404',
    async (id) => {
      expect(await get(id)).toMatchObject(errorResponse(404, 'pet_not_found'));
    },
  );

  test('with an id of any length shows it truncated', async () => {
    const { json } = await store.call<{ message: string }>('GET', `/v1/pets/${'9'.repeat(5_000)}`, { key: key.key });
    expect(json.message.length).toBeLessThan(100);
  });

  test('with a query parameter is 400', async () => {
    expect(await get(`${pet.id}?fields=name`)).toMatchObject(errorResponse(400, 'invalid_query', 'This operation takes none.'));
  });

  test('of a removed animal is 404', async () => {
    const manager = await createManager(store);
    const { id } = await addPet(store, key);
    await store.call('DELETE', `/v1/pets/${id}`, { key: manager.key });
    expect(await get(id)).toMatchObject(errorResponse(404, 'pet_not_found'));
  });
});

describe('GET /v1/pets/{petId} announces its removal', () => {
  const notice = {
    deprecation: `@${Date.UTC(2026, 10, 15) / 1_000}`,
    sunset: 'Thu, 05 Dec 2030 00:00:00 GMT',
    link: expect.stringContaining('</docs/deprecations>; rel="deprecation"; type="text/html"'),
  };

  test('on 200, with a link to the replacement', async () => {
    const { status, headers } = await get(pet.id);
    expect({ status, headers }).toMatchObject({ status: 200, headers: notice });
    expect(headers.link).toContain(`</v1/pets?id=${pet.id}>; rel="successor-version"`);
  });

  test('on 304', async () => {
    const { headers } = await get(pet.id);
    expect(await get(pet.id, { 'if-none-match': headers.etag ?? '' })).toMatchObject({ status: 304, headers: notice });
  });

  test('on 404, beside the link to the help page', async () => {
    const { status, headers } = await get('9007199254740990');
    expect({ status, headers }).toMatchObject({ status: 404, headers: notice });
    expect(headers.link).toContain('</docs/errors/pet_not_found>; rel="help"');
  });

  test('on 401', async () => {
    expect(await store.call('GET', `/v1/pets/${pet.id}`)).toMatchObject({ status: 401, headers: notice });
  });

  test('on 403', async () => {
    const writer = await store.createKey({ scopes: ['pets:write'] });
    expect(await store.call('GET', `/v1/pets/${pet.id}`, { key: writer.key })).toMatchObject({ status: 403, headers: notice });
  });

  test('on 429', async () => {
    const poor = await store.createKey({ plan: { perMinute: 1, perDay: 100 } });
    await store.call('GET', `/v1/pets/${pet.id}`, { key: poor.key });
    expect(await store.call('GET', `/v1/pets/${pet.id}`, { key: poor.key })).toMatchObject({ status: 429, headers: notice });
  });

  test('on HEAD', async () => {
    expect(await store.call('HEAD', `/v1/pets/${pet.id}`, { key: key.key })).toMatchObject({ status: 200, headers: notice });
  });

  test('in a link with the escaped id', async () => {
    const { headers } = await get('%3E%22%0D%0Ax');
    expect(headers.link).toContain('</v1/pets?id=%3E%22%0D%0Ax>; rel="successor-version"');
  });

  test.each([
    ['GET', '/v1/pets'],
    ['GET', '/v1/pets/'],
    ['HEAD', '/v1/pets/'],
    ['GET', '/v1/pets/1/'],
    ['PATCH', '/v1/pets/4711'],
    ['DELETE', '/v1/pets/4711'],
  ])('and %s %s does not', async (method, path) => {
    const { headers } = await store.call(method, path, { key: key.key });
    expect([headers['deprecation'], headers['sunset']]).toEqual([undefined, undefined]);
  });
});

describe('GET /v1/pets/{petId} at its sunset', () => {
  test('is 200 in the last millisecond before it', async () => {
    clock.set('2030-12-04T23:59:59.999Z');
    expect((await get(pet.id)).status).toBe(200);
  });

  test('is 410 from then on, and names the replacement', async () => {
    clock.set('2030-12-05T00:00:00Z');
    expect(await get(pet.id)).toMatchObject(errorResponse(410, 'operation_removed', `Use GET /v1/pets?id=${pet.id} instead.`));
  });

  test('is also 410 for an animal that does not exist', async () => {
    clock.set('2031-01-01T00:00:00Z');
    expect(await get('abc')).toMatchObject(errorResponse(410, 'operation_removed'));
  });

  test('still has the deprecation headers', async () => {
    clock.set('2031-01-01T00:00:00Z');
    expect((await get(pet.id)).headers).toMatchObject({ sunset: 'Thu, 05 Dec 2030 00:00:00 GMT' });
  });

  test('does not affect the replacement', async () => {
    clock.set('2031-01-01T00:00:00Z');
    expect(await store.call('GET', `/v1/pets?id=${pet.id}`, { key: key.key })).toMatchObject({ status: 200, json: [pet] });
  });
});
