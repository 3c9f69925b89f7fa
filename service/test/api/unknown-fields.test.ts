// Bodies of experimental operations: a field that they don't have is 400, and what a GET has returned can be sent back.
import { describe, expect, test } from 'vitest';
import { addPet, createManager } from '../adoption-steps.ts';
import { errorResponse } from '../error-response.ts';
import { addShelter, insert } from '../listing-steps.ts';
import { openTestStore } from '../test-store.ts';

interface Schema {
  readonly $ref?: string;
  readonly type?: string | readonly string[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly additionalProperties?: unknown;
  readonly items?: Schema;
  readonly anyOf?: readonly Schema[];
  readonly examples?: readonly object[];
}
interface Operation {
  readonly operationId: string;
  readonly 'x-stability'?: string;
  readonly requestBody?: { readonly content: Readonly<Record<string, { readonly schema: Schema }>> };
}
interface Document {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: { readonly schemas: Readonly<Record<string, Schema>> };
}

const send = <Body>(method: string, path: string, body?: unknown) =>
  store.call<Body>(method, path, { key: key.key, ...(body !== undefined && { body }) });

const store = await openTestStore();
const key = await createManager(store);
const document = (await store.call<Document>('GET', '/openapi.json')).json;
const pet = await addPet(store, key);
const photo = { pet_id: pet.id, client_id: key.clientId, position: 0, original_hash: 'd'.repeat(64), original_name: 'originals/1' };
const photos = await insert(store, 'photos', photo, 'returning id');
const webhook = await send<{ id: number }>('POST', '/v1/webhooks', { url: 'https://example.org/hooks' });
const ids: Readonly<Record<string, unknown>> = {
  petId: pet.id,
  shelterId: await addShelter(store, {}),
  photoId: photos[0]?.['id'],
  webhookId: webhook.json.id,
};
const resolve = (schema: Schema): Schema => {
  const name = schema.$ref?.split('/').at(-1);
  return name === undefined ? schema : resolve(document.components.schemas[name] ?? {});
};
const profilePath = () => `/v1/pets/${pet.id}/profile`;

/** The paths of the objects of a schema that accept any field, and don't say which values it may have. */
function openObjects(schema: Schema, path: string): string[] {
  const { type, properties, additionalProperties, items, anyOf = [] } = resolve(schema);
  const isOpen = [type].flat().includes('object') && additionalProperties === undefined;
  const parts = [
    ...Object.entries(properties ?? {}),
    ...anyOf.map((one) => ['', one] as const),
    ...(items ? [['[]', items] as const] : []),
  ];
  return [...(isOpen ? [path] : []), ...parts.flatMap(([name, part]) => openObjects(part, `${path}.${name}`))];
}

function experimental(): Array<{ operationId: string; method: string; path: string; body: Schema }> {
  return Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).flatMap(([method, { operationId, requestBody, 'x-stability': stability }]) => {
      const body = requestBody?.content['application/json']?.schema;
      return stability === 'experimental' && body ? [{ operationId, method: method.toUpperCase(), path, body }] : [];
    }),
  );
}

/** The four fields of an animal are stable, and so is how they are sent. */
const asBefore = ['updatePet'];

test('every body of an experimental operation, except of animals, has no open object in OpenAPI', () => {
  const operations = experimental();
  expect(operations.length).toBeGreaterThan(8);
  const open = operations.flatMap(({ operationId, body }) => openObjects(body, operationId));
  expect(open).toEqual(asBefore);
});

test('each of them rejects a field that it does not have, beside valid ones', async () => {
  const statuses: unknown[] = [];
  const operations = experimental().filter(({ operationId }) => !asBefore.includes(operationId));
  for (const { operationId, method, path, body } of operations) {
    const url = `/v1${path.replaceAll(/\{(\w+)\}/g, (_, name: string) => String(ids[name]))}`;
    const { status, json } = await send<{ message: string }>(method, url, { ...resolve(body).examples?.[0], nonsense: 1 });
    statuses.push([operationId, status, json.message.split('. ')[0]]);
  }
  expect(statuses).toEqual(operations.map(({ operationId }) => [operationId, 400, 'nonsense is not a field']));
});

describe('The message', () => {
  test.each<[object, string]>([
    [{ goodWith: { cat: 'yes' } }, 'goodWith.cat is not a field. Did you mean cats?'],
    [{ weight: 7 }, 'weight is not a field. Did you mean weightGrams?'],
    [{ colours: ['brown'] }, 'colours is not a field. Did you mean colors?'],
    [{ Sex: 'male' }, 'Sex is not a field. Did you mean sex?'],
    [{ goodWith: { hamsters: 'yes' } }, 'goodWith.hamsters is not a field. goodWith takes children, dogs, cats.'],
    [{ breeds: { main: 'Poodle' } }, 'breeds.main is not a field. Did you mean primary?'],
    [{ breeds: { exact: 'Poodle' } }, 'breeds.exact is not a field. breeds takes primary, secondary, mixed.'],
    [{ 'a b': 1, sex: 'male' }, '"a b" is not a field. The body takes description, breeds, '],
    [{ ['x'.repeat(500)]: 1 }, `"${'x'.repeat(40)}…" is not a field.`],
  ])('for %j names the field, and the nearest known one', async (body, message) => {
    expect(await send('PUT', profilePath(), body)).toMatchObject(errorResponse(400, 'invalid_body', message));
  });

  test('has every fault of a body', async () => {
    const { json } = await send<{ message: string }>('PUT', profilePath(), { sex: 'none', weightGram: 7, goodWith: { dog: 'no' } });
    expect(json.message).toBe(
      'weightGram is not a field. Did you mean weightGrams? sex must be one of male, female, unknown, null; got "none". goodWith.dog is not a field. Did you mean dogs?',
    );
  });

  test('names a misspelt field in place of the one that is missing', async () => {
    expect(await send('PATCH', `/v1/shelters/${ids['shelterId']}`, { nam: 'Danube' })).toMatchObject(
      errorResponse(400, 'invalid_body', 'nam is not a field. Did you mean name?'),
    );
    expect(await send('PUT', `/v1/pets/${pet.id}/shelter`, { shelterID: 1 })).toMatchObject(
      errorResponse(400, 'invalid_body', 'shelterID is not a field. Did you mean shelterId? shelterId is required.'),
    );
  });

  test('of a body with sixty thousand unknown fields has five of them', async () => {
    const body = Object.fromEntries(Array.from({ length: 60_000 }, (_, i) => [`f${i}`, 0]));
    const { status, json } = await send<{ message: string }>('PUT', profilePath(), body);
    expect([status, json.message.match(/is not a field/g)?.length, json.message.endsWith('And 59995 more.')]).toEqual([400, 5, true]);
  });
});

test('a rejected body stores nothing', async () => {
  await send('PUT', profilePath(), { goodWith: { cats: 'no' } });
  expect((await send('PUT', profilePath(), { goodWith: { cat: 'yes' } })).status).toBe(400);
  expect((await send('GET', profilePath())).json).toMatchObject({ goodWith: { cats: 'no' } });
});

test('attributes have any names', async () => {
  const attributes = { nonsense: 'yes', sexx: 'no' };
  expect(await send('PUT', profilePath(), { attributes })).toMatchObject({ status: 200, json: { attributes } });
});

test.each<[string, 'PUT' | 'PATCH', () => string]>([
  ['a profile', 'PUT', profilePath],
  ['a profile', 'PATCH', profilePath],
  ['a shelter', 'PATCH', () => `/v1/shelters/${ids['shelterId']}`],
  ['a photo', 'PATCH', () => `/v1/pets/${pet.id}/photos/${ids['photoId']}`],
])('what GET has returned of %s can be sent with %s, and changes nothing', async (_, method, path) => {
  await send('PUT', profilePath(), { breeds: { primary: 'Poodle' }, birthDate: '2020-01-01', adoptionFee: { amount: 1, currency: 'EUR' } });
  const before = await send<object>('GET', path());
  expect(await send(method, path(), before.json)).toMatchObject({ status: 200, json: before.json });
});

test('what GET has returned of an endpoint can be sent with PATCH', async () => {
  await store.write('update webhooks set verified_at = now()');
  const path = `/v1/webhooks/${ids['webhookId']}`;
  const before = await send<{ id: number; url: string }>('GET', path);
  expect(Object.keys(before.json)).toContain('failingSince');
  expect(await send('PATCH', path, before.json)).toMatchObject({ status: 200, json: { id: before.json.id, url: before.json.url } });
});
