import { describe, expect, test } from 'vitest';
import { createManager } from '../../adoption-steps.ts';
import { errorResponse } from '../../error-response.ts';
import { addShelter, createShelterKey, type ShelterBody } from '../../shelter-steps.ts';
import { openTestStore } from '../../test-store.ts';

const store = await openTestStore();
const manager = await createManager(store);
const id = await addShelter(store);

const patch = (body: unknown, headers: Record<string, string> = {}, of: number | string = id) =>
  store.call<ShelterBody>('PATCH', `/v1/shelters/${of}`, { key: manager.key, body, headers });
const read = async () => (await store.call<ShelterBody>('GET', `/v1/shelters/${id}`, { key: manager.key })).json;

describe('PATCH /v1/shelters/{shelterId}', () => {
  test('changes what is given, and null removes a value', async () => {
    await patch({ email: 'hello@danube.example', latitude: 48.2, longitude: 16.4 });
    const { json } = await patch({ email: null, phone: '123' });
    expect(json).toMatchObject({ name: 'Danube Shelter', email: null, phone: '123', latitude: 48.2, longitude: 16.4 });
    expect(await read()).toEqual(json);
  });

  test('changes how its animals are adopted, and null removes the note for applicants', async () => {
    const { json } = await patch({ adoption: 'application', applicationsMax: 500, applicationNote: 'Read this first.' });
    expect(json).toMatchObject({ adoption: 'application', applicationsMax: 500, applicationNote: 'Read this first.' });
    await patch({ applicationNote: null });
    expect(await read()).toMatchObject({ adoption: 'application', applicationsMax: 500, applicationNote: null });
    await patch({ adoption: 'order' });
    expect(await read()).toMatchObject({ adoption: 'order', applicationsMax: 500 });
  });

  test.each([
    ['nothing', {}, 'at least one of name, description'],
    ['null as adoption', { adoption: null }, 'adoption must be one of order, application; got null.'],
    ['null as applicationsMax', { applicationsMax: null }, 'applicationsMax must be an integer from 1 to 500; got null.'],
    ['null as name', { name: null }, 'name must be'],
    ['a latitude removed alone', { latitude: null }, 'latitude is missing: longitude needs it. Give both, or remove both with null.'],
    ['an unknown time zone', { timezone: 'Mars/Olympus' }, 'got "Mars/Olympus"'],
  ])('with %s is 400 and changes nothing', async (_, body, words) => {
    await patch({ latitude: 1, longitude: 2 });
    const before = await read();
    expect(await patch(body)).toMatchObject(errorResponse(400, 'invalid_body', words));
    expect(await read()).toEqual(before);
  });

  test('with a stale If-Match is 412 and changes nothing; with the current one it succeeds', async () => {
    const { headers } = await patch({ phone: '1' });
    const etag = String(headers.etag);
    expect((await patch({ phone: '2' }, { 'if-match': etag })).status).toBe(200);
    expect(await patch({ phone: '3' }, { 'if-match': etag })).toMatchObject(errorResponse(412, 'precondition_failed', 'its ETag is now'));
    expect((await read()).phone).toBe('2');
  });

  test('of two at once with the same If-Match, one is 412', async () => {
    const etag = String((await patch({ phone: 'start' })).headers.etag);
    const both = await Promise.all(['a', 'b'].map((phone) => patch({ phone }, { 'if-match': etag })));
    expect(both.map(({ status }) => status).sort()).toEqual([200, 412]);
  });

  test('with an unknown id is 404', async () => {
    expect(await patch({ phone: '1' }, {}, 4_711)).toMatchObject(errorResponse(404, 'shelter_not_found', '4711'));
  });

  test("with a key of the shelter's staff succeeds", async () => {
    const { key } = await createShelterKey(store, id);
    const response = await store.call('PATCH', `/v1/shelters/${id}`, { key, body: { phone: '+43 1' } });
    expect(response).toMatchObject({ status: 200, json: { id, phone: '+43 1' } });
  });

  test("with a key of another shelter's staff is 403, says whose it is and changes nothing", async () => {
    const [other, before] = [await addShelter(store, 'Other'), await read()];
    const { key } = await createShelterKey(store, other, ['pets:read', 'shelter:manage']);
    const response = await store.call('PATCH', `/v1/shelters/${id}`, {
      key,
      body: { phone: 'theirs' },
      headers: { 'if-match': '"stale"' },
    });
    const words = `To change the details and questions of shelter ${id}, use a key with store:manage, or one that is bound to that shelter and has shelter:manage. This key is bound to shelter ${other} and has pets:read, shelter:manage.`;
    expect(response).toMatchObject(errorResponse(403, 'insufficient_scope', words));
    expect(response.headers['www-authenticate']).toBe('Bearer error="insufficient_scope", scope="store:manage"');
    expect(await read()).toEqual(before);
  });

  test("with a partner's key that is bound to the shelter is 403", async () => {
    const { key } = await createShelterKey(store, id, ['pets:read', 'pets:write']);
    const response = await store.call('PATCH', `/v1/shelters/${id}`, { key, body: { phone: '1' } });
    expect(response).toMatchObject(errorResponse(403, 'insufficient_scope', 'store:manage or shelter:manage'));
  });
});
