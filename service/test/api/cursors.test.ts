// Every list of the API, with cursors that nobody has sent: parts of a real one are replaced, so that its filters still match.
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { addPet, createManager, placeOrder } from '../adoption-steps.ts';
import { submit } from '../application-steps.ts';
import { errorResponse } from '../error-response.ts';
import { publishAll } from '../event-steps.ts';
import { addDescribed, addShelter } from '../listing-steps.ts';
import { nextPage } from '../page-walk.ts';
import { openTestStore } from '../test-store.ts';

let webhookId = 0;
const store = await openTestStore({ env: { HOMEWARD_ENVIRONMENT: 'staging' } });
const key = await createManager(store);
const shelterId = await addShelter(store, { latitude: 48.2, longitude: 16.4 });
for (let i = 0; i < 2; i += 1) {
  await addDescribed(store, key, { name: 'Rex', categoryId: 10 + i, shelterId });
  const { id: petId } = await addPet(store, key);
  await placeOrder(store, key, petId);
  await submit(store, key, petId);
  const body = { url: `https://example.org/${i}`, types: ['pet.created'] };
  webhookId = (await store.call<{ id: number }>('POST', '/v1/webhooks', { key: key.key, body })).json.id;
}
for (let i = 0; i < 2; i += 1) await store.call('POST', `/v1/webhooks/${webhookId}/test`, { key: key.key });
await publishAll(store);

/** The lists by their operations, each with a query for every kind of cursor that it has. */
const queries: Readonly<Record<string, readonly string[]>> = {
  listPets: [''],
  listListings: ['', '&q=rex', '&near=48.2,16.4'],
  listShelters: [''],
  listCategories: [''],
  listEvents: [''],
  listOrders: [''],
  listApplications: [''],
  listWebhooks: [''],
  listDeliveries: [''],
};

const read = (url: string) => store.call('GET', url.replace('{webhookId}', String(webhookId)), { key: key.key });
const encode = (text: string) => Buffer.from(text, 'latin1').toString('base64url');

interface Listed {
  readonly operationId?: string;
  readonly parameters?: ReadonlyArray<{ readonly name?: string; readonly $ref?: string }>;
}

async function listsOfApi(): Promise<Array<[operationId: string, path: string]>> {
  const { json } = await store.call<{ paths: Record<string, { get?: Listed }> }>('GET', '/openapi.json');
  return Object.entries(json.paths).flatMap(([path, { get }]) =>
    get?.parameters?.some(({ name, $ref }) => name === 'cursor' || $ref?.toLowerCase().includes('cursor'))
      ? [[get.operationId ?? '', `/v1${path}`]]
      : [],
  );
}

/** A page that has a next one, without its cursor, and the keys and the rest of that cursor. */
async function pageOf(path: string, query: string): Promise<{ page: string; keys: string[]; rest: string }> {
  const next = nextPage(await read(`${path}?limit=1${query}`)) ?? '';
  const cursor = new URLSearchParams(next.split('?')[1]).get('cursor') ?? '';
  const text = Buffer.from(cursor, 'base64url').toString('latin1');
  const end = text.lastIndexOf('.');
  return {
    page: next.slice(0, next.lastIndexOf('cursor=') + 'cursor='.length),
    keys: text.slice(0, end).split(','),
    rest: text.slice(end),
  };
}

const forgedKeys = [
  ...[
    '',
    '0',
    '-0',
    '00',
    '-1',
    '+1',
    '1.5',
    '1e3',
    '9e99',
    '1e308',
    '9e999',
    '-9e999',
    '1e-46',
    '1e-400',
    'NaN',
    'Infinity',
    '0x10',
    ' 1',
  ],
  ...[
    '9223372036854775807',
    '9223372036854775808',
    '-9223372036854775808',
    '9'.repeat(400),
    '2:1',
    '2:',
    '2:9223372036854775807',
    "'",
    '\0',
    'é',
  ],
];

test('The lists that are tried below are all that take a cursor', async () => {
  expect((await listsOfApi()).map(([operationId]) => operationId).sort()).toEqual(Object.keys(queries).sort());
});

describe.each(Object.entries(queries).flatMap(([operationId, each]) => each.map((query) => [operationId, query] as const)))(
  '%s%s',
  (operationId, query) => {
    test('never fails with a forged cursor', async () => {
      const path = (await listsOfApi()).find(([id]) => id === operationId)?.[1] ?? '';
      const { page, keys, rest } = await pageOf(path, query);
      expect(keys.length).toBeGreaterThan(0);
      const statusOf = async (text: string) => (await read(page + encode(text))).status;
      const tried: Array<[string, number]> = [];
      const attempt = async (forged: readonly string[]) => tried.push([forged.join(','), await statusOf(forged.join(',') + rest)]);
      for (const key of forgedKeys) for (let i = 0; i < keys.length; i += 1) await attempt(keys.toSpliced(i, 1, key));
      const anyKey = fc.oneof(
        fc.constantFrom(...forgedKeys),
        fc.double().map(String),
        fc.bigInt().map(String),
        fc.string({ maxLength: 12 }),
      );
      for (const forged of fc.sample(fc.array(anyKey, { maxLength: 4 }), 20)) await attempt(forged);
      expect(tried.filter(([, status]) => status >= 500)).toEqual([]);
    });
  },
);

test.each(['9e99', '1e-46', '1e999', 'NaN'])('A cursor of listings with the rank %s is 400 invalid_cursor', async (rank) => {
  const { page, keys, rest } = await pageOf('/v1/listings', '&q=rex');
  expect(keys).toHaveLength(2);
  expect(await read(page + encode(`${rank},${keys[1]}${rest}`))).toMatchObject(
    errorResponse(400, 'invalid_cursor', 'cursor was not created by this service'),
  );
});
