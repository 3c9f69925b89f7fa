// What an error guesses: what was probably meant, only what everyone may know, and at a cost that does not grow with what is sent.
import { beforeEach, describe, expect, test } from 'vitest';
import { usualFields, usualPathParts, usualValues } from '../../src/domain/usual-names.ts';
import { addPet, createManager, placeOrder } from '../adoption-steps.ts';
import { errorResponse } from '../error-response.ts';
import { ManualClock } from '../manual-clock.ts';
import { openTestStore } from '../test-store.ts';

interface Schema {
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly enum?: readonly unknown[];
  readonly [part: string]: unknown;
}
interface Document {
  readonly paths: Readonly<
    Record<string, Readonly<Record<string, { readonly parameters?: ReadonlyArray<{ name: string; schema: Schema }> }>>>
  >;
  readonly components: { readonly schemas: Readonly<Record<string, Schema>> };
}

const clock = new ManualClock('2026-12-01T12:00:00Z');
const store = await openTestStore({ clock });
const key = await createManager(store);
const pet = await addPet(store, key);
await placeOrder(store, key, pet.id);
const document = (await store.call<Document>('GET', '/openapi.json')).json;
beforeEach(() => clock.advance(60_000));

const messageOf = async (method: string, path: string, body?: unknown): Promise<string> => {
  const { json, status } = await store.call<{ message?: string }>(method, path, { key: key.key, ...(body !== undefined && { body }) });
  expect(status).toBeGreaterThanOrEqual(400);
  expect(Object.keys(json).sort()).toEqual(['code', 'message', 'status']);
  return json.message ?? '';
};
const guessOf = async (method: string, path: string) =>
  (await messageOf(method, path))
    .replace(/^There is no operation at \S*\. ?/, '')
    .replace(/^\w+ isn't supported here\. Allowed: [A-Z, ]+\. ?/, '');

describe('A path', () => {
  test.each([
    ['/v1/pest', 'Did you mean /v1/pets?'],
    ['/v1/Pets/7/Photos', 'Did you mean /v1/pets/7/photos?'],
    ['/v1/animals/7/images/3', 'Did you mean /v1/pets/7/photos/3?'],
    ['/v1/pets/{petId}/profil', 'Did you mean /v1/pets/{petId}/profile?'],
    ['/v3/listings', 'Did you mean /v1/listings?'],
    ['/api/v1/orders/1', 'Did you mean /v1/store/orders/1?'],
    ['/v1/pets/1/walks', 'Did you mean /v1/pets/1?'],
    ['/v1/pets/1/photos/', 'Paths have no slash at the end: try /v1/pets/1/photos.'],
    ['/v1/animals/', 'Did you mean /v1/pets?'],
    ['/v1/xylophones', ''],
    ['/v1', ''],
    ['/v1/a/b/c/d/e/f/g/h/i/j', ''],
    [`/v1/pets/1/${'x'.repeat(190)}`, ''],
  ])('%s that does not exist has the guess: %s', async (path, guess) => {
    expect(await guessOf('GET', path)).toBe(guess);
  });

  test('of sixteen kilobytes costs no more than one that is read', async () => {
    const long = `/v1/${'pet/'.repeat(3_500)}`;
    expect(await messageOf('GET', long)).not.toContain('mean');
    expect(await messageOf('GET', `/v1/${'p'.repeat(15_000)}`)).not.toContain('mean');
  });

  test('is guessed for nobody without a valid key', async () => {
    for (const path of ['/v1/pet', '/v1/pets?page=2', '/v1/store/order']) {
      expect(await store.call('GET', path)).toMatchObject(
        errorResponse(
          401,
          'api_key_missing',
          "Send your key as 'Authorization: Bearer <API_KEY>'. This request had no Authorization header.",
        ),
      );
    }
  });

  test('that is guessed is one of the OpenAPI document', async () => {
    const known = new Set(Object.keys(document.paths).map((path) => `/v1${path.replaceAll(/\{\w+\}/g, '1')}`));
    const guesses: string[] = [];
    for (const path of known) {
      const [, guess] = /Did you mean (\S+)\?/.exec(await messageOf('GET', path.replace(/.$/, 'x'))) ?? [];
      if (guess !== undefined) guesses.push(guess.replaceAll(/\{\w+\}/g, '1'));
    }
    expect(guesses.length).toBeGreaterThan(20);
    expect(guesses.filter((guess) => !known.has(guess))).toEqual([]);
  });
});

describe('A method', () => {
  test.each([
    ['PUT', '/v1/pets', 'Did you mean PATCH /v1/pets/{petId}?'],
    ['DELETE', '/v1/webhooks', 'Did you mean DELETE /v1/webhooks/{webhookId}?'],
    ['POST', '/v1/pets/1', 'To change it, send PATCH; to add one, send POST /v1/pets.'],
    ['DELETE', '/v1/store/orders/1', 'Did you mean POST /v1/store/orders/{orderId}/cancel?'],
    ['PATCH', '/v1/store/orders/1', 'To change it, send POST /v1/store/orders/{orderId}/approve, …/complete, …/cancel, …/return.'],
    ['PUT', '/v1/pets/1', 'Did you mean PATCH /v1/pets/{petId}?'],
    ['PATCH', '/v1/pets/1/hold', 'Did you mean PUT /v1/pets/{petId}/hold?'],
    ['POST', '/v1/pets/1/hold', 'Did you mean PUT /v1/pets/{petId}/hold?'],
    ['PUT', '/v1/pets/1/outcome', 'Did you mean POST /v1/pets/{petId}/outcome?'],
    ['POST', '/v1/categories', 'Did you mean PUT /v1/categories/{categoryId}?'],
    ['POST', '/v1/listings', 'Did you mean GET /v1/listings?'],
    ['PATCH', '/v1/store/orders/1/approve', 'Did you mean POST /v1/store/orders/{orderId}/approve?'],
    ['GET', '/v1/store/orders/1/approve', 'Did you mean GET /v1/store/orders/{orderId}?'],
    ['GET', '/v1/categories/1', 'Did you mean GET /v1/categories?'],
    ['DELETE', '/v1/usage', ''],
    ['PROPFIND', '/v1/pets', ''],
  ])('%s of %s has the guess: %s', async (method, path, guess) => {
    expect(await guessOf(method, path)).toBe(guess);
  });
});

describe('A query parameter', () => {
  test.each([
    ['/v1/pets?perPage=5', 'Did you mean limit?'],
    ['/v1/pets?filter[status]=sold', 'Did you mean status?'],
    ['/v1/pets?page[number]=2', 'Did you mean cursor? There are no page numbers: follow the Link header'],
    ['/v1/pets?breed=beagle', 'GET /v1/listings takes breed.'],
    ['/v1/pets/search?q=beagle', 'GET /v1/listings takes q.'],
    ['/v1/store/orders?state=placed', 'Did you mean status?'],
    ['/v1/listings?goodWith=dogs,cats', 'Repeat it: goodWith=dogs&goodWith=cats.'],
    ['/v1/pets?status=available,pending', 'It takes one value.'],
    ['/v1/listings?age=puppy', 'Did you mean baby?'],
    ['/v1/listings?sort=recent', 'Did you mean newest?'],
  ])('in %s has the guess: %s', async (path, guess) => {
    expect(await messageOf('GET', path)).toContain(guess);
  });

  test('is not guessed for a write', async () => {
    expect(await messageOf('POST', '/v1/pets?q=1', { name: 'A', categoryId: 1 })).toBe(
      'Unknown query parameter "q". This operation takes none.',
    );
  });

  test.each([
    ['that has 40 characters', 'limit'.padEnd(40, '_'), true],
    ['that has 41 characters', 'limit'.padEnd(41, '_'), false],
  ])('%s is compared: %s, %s', async (_, name, isCompared) => {
    expect((await messageOf('GET', `/v1/pets?${name}=1`)).includes('Did you mean limit?')).toBe(isCompared);
  });

  test('is guessed for the first five of a thousand', async () => {
    const query = Array.from({ length: 1_000 }, (_, i) => `limit_${i % 10}${'_'.repeat(Math.floor(i / 10))}=1`).join('&');
    const message = await messageOf('GET', `/v1/pets?${query.slice(0, 14_000)}`);
    expect(message.match(/Unknown query parameter/g)).toHaveLength(5);
  });
});

describe('A field', () => {
  const add = (body: unknown) => messageOf('POST', '/v1/pets', body);

  test.each<[unknown, string]>([
    [
      { name: 'A', category: 'dogs' },
      'categoryId is required. category is not a field. Did you mean categoryId? GET /v1/categories lists the ids.',
    ],
    [{ Name: 'A', CategoryID: 1 }, 'name is required. Name is not a field. Did you mean name? categoryId is required. CategoryID is not'],
    [{ pet: { name: 'A', categoryId: 1 } }, 'name is required. It must not be within pet.'],
    [[{ name: 'A', categoryId: 1 }], 'Send one in each request.'],
    ['{"name":"A","categoryId":1}', 'Send the object as it is, not as a string.'],
    [{ name: 'A', categoryId: '1' }, 'categoryId must be an integer (int64); got "1". Write it without quotes: 1.'],
    [{ name: 'A', categoryId: 1, status: 'Adopted' }, 'got "Adopted". Did you mean sold?'],
    [{ name: 'A', categoryId: 1, status: 'x'.repeat(50_000) }, 'status must be one of available, pending, sold; got "xxx'],
  ])('of %j has the guess: %s', async (body, guess) => {
    expect(await add(body)).toContain(guess);
  });

  test('that is ignored is looked at among the first twenty', async () => {
    const others = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, i) => [`f${i}`, 0]));
    expect(await add({ name: 'A', ...others(19), category_id: 1 })).toContain('Did you mean categoryId?');
    expect(await add({ name: 'A', ...others(20), category_id: 1 })).toBe('categoryId is required.');
  });

  test('none of which a change has, is guessed', async () => {
    expect(await messageOf('PATCH', `/v1/pets/${pet.id}`, { state: 'sold' })).toContain('state is not a field. Did you mean status?');
  });

  test('of another one is named in orders too', async () => {
    expect(await messageOf('POST', '/v1/store/orders', { pet_id: 1, customer: { name: 'A' } })).toContain(
      'petId is required. pet_id is not a field. Did you mean petId? adopter is required. customer is not a field. Did you mean adopter?',
    );
  });
});

/** Everything that the document has a name for. */
function namesOf(value: unknown, found: Set<string> = new Set()): Set<string> {
  if (typeof value !== 'object' || value === null) return found;
  const { properties, enum: values, name, in: place } = value as Schema;
  for (const field of Object.keys(properties ?? {})) found.add(field);
  for (const one of Array.isArray(values) ? values : []) found.add(String(one));
  if (typeof name === 'string' && place === 'query') found.add(name);
  for (const part of Object.values(value)) namesOf(part, found);
  return found;
}

describe('The table of usual names', () => {
  const paths = Object.keys(document.paths).join('/');

  test('has only names and values of ours that there are', () => {
    const known = namesOf(document);
    expect([...Object.keys(usualFields), ...Object.keys(usualValues)].filter((ours) => !known.has(ours))).toEqual([]);
  });

  test('has only parts of paths that there are', () => {
    expect(Object.keys(usualPathParts).filter((ours) => !`${paths}/`.includes(`/${ours}/`))).toEqual([]);
  });

  test.each(Object.entries({ usualFields, usualValues, usualPathParts }))(
    '%s does not call a name of ours usual for itself',
    (_, table) => {
      expect(Object.entries(table).filter(([ours, { usual }]) => usual.includes(ours))).toEqual([]);
    },
  );
});
