import { describe, expect, test } from 'vitest';
import { errorResponse } from '../../error-response.ts';
import { walk } from '../../page-walk.ts';
import { addShelter, type ShelterBody } from '../../shelter-steps.ts';
import { openTestStore } from '../../test-store.ts';

const store = await openTestStore();
const partner = await store.createKey({ scopes: ['pets:read'] });
for (let i = 2; i <= 5; i += 1) await addShelter(store, `Shelter ${i}`);

const get = (path: string) => store.call<ShelterBody>('GET', path, { key: partner.key });

describe('GET /v1/shelters', () => {
  test('lists all for any key that may read animals, page by page; one is there from the start', async () => {
    const pages = await walk(store, partner, '/v1/shelters?limit=2');
    const names = pages.flat().map((shelter) => (shelter as ShelterBody).name);
    expect(names).toEqual(['Main shelter', 'Shelter 2', 'Shelter 3', 'Shelter 4', 'Shelter 5']);
  });

  test('with a cursor that it did not make is 400', async () => {
    expect(await get('/v1/shelters?cursor=abc')).toMatchObject(errorResponse(400, 'invalid_cursor'));
  });
});

describe('GET /v1/shelters/{shelterId}', () => {
  test('is 304 with its ETag', async () => {
    const { headers } = await get('/v1/shelters/1');
    const again = await store.call('GET', '/v1/shelters/1', { key: partner.key, headers: { 'if-none-match': String(headers.etag) } });
    expect(again.status).toBe(304);
  });

  test.each(['4711', 'abc', '9223372036854775808', '0'])('with the id %s is 404', async (id) => {
    expect(await get(`/v1/shelters/${id}`)).toMatchObject(errorResponse(404, 'shelter_not_found', `no shelter with id ${id}`));
  });
});
