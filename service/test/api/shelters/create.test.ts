import { describe, expect, test } from 'vitest';
import { createManager } from '../../adoption-steps.ts';
import { errorResponse } from '../../error-response.ts';
import type { ShelterBody } from '../../shelter-steps.ts';
import { openTestStore } from '../../test-store.ts';

const store = await openTestStore();
const manager = await createManager(store);

const create = (body: unknown, headers: Record<string, string> = {}) =>
  store.call<ShelterBody>('POST', '/v1/shelters', { key: manager.key, body, headers });
const count = async () => (await store.read<{ count: bigint }>('select count(*) from shelters'))[0]?.count;

const whole = {
  name: 'Danube Shelter',
  description: 'Dogs and cats.\nOpen on weekends.',
  email: 'hello@danube.example',
  phone: '+43 1 555 01 23',
  website: 'https://danube.example/',
  address: 'Handelskai 1\n1020 Vienna',
  town: 'Vienna',
  postcode: '1020',
  country: 'AT',
  latitude: 48.22,
  longitude: 16.4,
  timezone: 'Europe/Vienna',
  adoption: 'application',
  applicationsMax: 20,
  applicationNote: 'We look for homes with a garden.\nPlease read about our dogs first.',
  openingHours: { weekly: { saturday: [{ from: '10:00', to: '17:00' }] }, exceptions: [] },
  newAnimalsHeld: true,
  mailReceived: 'We answer on Tuesdays.',
  mailAccepted: 'Bring a lead.\nAnd your identity card.',
};

describe('POST /v1/shelters', () => {
  test('creates a shelter with all its values, which GET returns with the same ETag', async () => {
    const created = await create(whole);
    expect(created).toMatchObject({ status: 201, json: { id: expect.any(Number), ...whole } });
    expect(created.headers.location).toBe(`/v1/shelters/${created.json.id}`);
    const read = await store.call<ShelterBody>('GET', `/v1/shelters/${created.json.id}`, { key: manager.key });
    expect(read).toMatchObject({ status: 200, text: created.text });
    expect(read.headers.etag).toBe(created.headers.etag);
  });

  test('with a name only leaves the other values null or at their defaults; other fields, such as an id, are ignored', async () => {
    const { json } = await create({ name: 'Small', id: 4_711 });
    const nothing = { description: null, email: null, phone: null, website: null, address: null, latitude: null, longitude: null };
    const defaults = { adoption: 'order', applicationsMax: 100, newAnimalsHeld: false };
    const unsaid = { applicationNote: null, openingHours: null, mailReceived: null, mailAccepted: null };
    const nowhere = { town: null, postcode: null, country: null, timezone: null };
    expect(json).toEqual({ id: expect.any(Number), name: 'Small', ...nothing, ...nowhere, ...defaults, ...unsaid });
    expect(json.id).not.toBe(4_711);
  });

  test('with an Idempotency-Key creates one, however often it is sent', async () => {
    const headers = { 'idempotency-key': 'one-shelter' };
    const [first, second] = [await create({ name: 'Once' }, headers), await create({ name: 'Once' }, headers)];
    expect(second).toMatchObject({ status: 201, text: first.text });
    expect(second.headers['idempotent-replayed']).toBe('true');
  });

  test('stores a website as an encoded URL', async () => {
    expect((await create({ name: 'Umlaut', website: 'https://tür.example/ö' })).json.website).toBe('https://xn--tr-xka.example/%C3%B6');
  });

  test.each([
    ['no name', {}, 'name is required.'],
    ['a blank name', { name: ' ' }, 'name must be a string of 1–200 characters'],
    ['a name with a bidirectional override', { name: 'a\u202eb' }, 'It contains U+202E.'],
    ['a description with a control character', { name: 'A', description: 'a\u0007' }, 'description must be a string of at most 8,000'],
    ['a description that is too long', { name: 'A', description: 'x'.repeat(8_001) }, 'description must be a string of at most 8,000'],
    ['no e-mail address', { name: 'A', email: 'hello' }, 'email must be an e-mail address'],
    ['a phone number of two lines', { name: 'A', phone: '1\n2' }, 'phone must be a string of at most 40 characters'],
    ['a website with another scheme', { name: 'A', website: 'javascript:alert(1)' }, 'website must be an http or https URL'],
    ['a website without a scheme', { name: 'A', website: 'danube.example' }, 'website must be an http or https URL'],
    ['a website with a password', { name: 'A', website: 'https://a:b@danube.example' }, 'without a password'],
    ['a latitude beyond the pole', { name: 'A', latitude: 91, longitude: 0 }, 'latitude must be a number from -90 to 90'],
    ['a longitude as text', { name: 'A', latitude: 1, longitude: '2' }, 'longitude must be a number from -180 to 180'],
    ['a latitude alone', { name: 'A', latitude: 1 }, 'longitude is missing: latitude needs it.'],
    ['a longitude alone', { name: 'A', longitude: 1, latitude: null }, 'latitude is missing: longitude needs it.'],
    ['an unknown time zone', { name: 'A', timezone: 'Europe/Wien' }, 'timezone must be a name of the IANA database'],
    ['an unknown way of adoption', { name: 'A', adoption: 'lottery' }, 'adoption must be one of order, application; got "lottery".'],
    ['no room for applications', { name: 'A', applicationsMax: 0 }, 'applicationsMax must be an integer from 1 to 500; got 0.'],
    ['room for too many', { name: 'A', applicationsMax: 501 }, 'applicationsMax must be an integer from 1 to 500; got 501.'],
    ['room for half of one', { name: 'A', applicationsMax: 1.5 }, 'applicationsMax must be an integer from 1 to 500; got 1.5.'],
    ['null as its room', { name: 'A', applicationsMax: null }, 'applicationsMax must be an integer from 1 to 500; got null.'],
    ['a note that is too long', { name: 'A', applicationNote: 'x'.repeat(2_001) }, 'applicationNote must be a string of at most 2,000'],
    ['the name of a country', { name: 'A', country: 'Austria' }, 'country must be a code of two capital letters, such as AT'],
    ['a town that is too long', { name: 'A', town: 'x'.repeat(101) }, 'town must be a string of at most 100 characters'],
    ['an offset as time zone', { name: 'A', timezone: '+01:00' }, 'got "+01:00"'],
  ])('with %s is 400 and creates nothing', async (_, body, words) => {
    const before = await count();
    expect(await create(body)).toMatchObject(errorResponse(400, 'invalid_body', words));
    expect(await count()).toBe(before);
  });

  test.each(['defaults', 'shelter:manage'])("with a partner's key (%s) is 403", async (scopes) => {
    const { key } = await store.createKey(scopes === 'defaults' ? {} : { scopes: ['shelter:manage'], shelterId: 1n });
    const response = await store.call('POST', '/v1/shelters', { key, body: whole });
    expect(response).toMatchObject(errorResponse(403, 'insufficient_scope', 'needs the scope store:manage;'));
  });
});
