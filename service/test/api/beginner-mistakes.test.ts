// Sixty mistakes of people who know other APIs. The list was written before the messages, and these were not tuned on it: a message
// that names something else is counted as wrong, and does not fail the test by itself.
import { expect, test } from 'vitest';
import { addPet, placeOrder } from '../adoption-steps.ts';
import { sendRaw } from '../raw-request.ts';
import { openTestStore } from '../test-store.ts';

interface Mistake {
  /** Method and path. */
  readonly sends: string;
  /** `KEY` is a valid key, and `BASE64` that of Basic. It is sent as it should be, unless the mistake is about the key. */
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: unknown;
  readonly raw?: string;
  /** What the message must have: the right path, name, header or value. */
  readonly names: readonly RegExp[];
}

const json = { 'content-type': 'application/json' };
const withBearer = /Authorization: Bearer/;
/** A path as a whole: `/v1/pets` is not named by `/v1/pets/1`. */
const path = (text: string) => new RegExp(`(?<![\\w/])${text.replaceAll(/[{}.]/g, '\\$&')}(?![\\w/{])`);

const paths: readonly Mistake[] = [
  { sends: 'GET /v1/pet', names: [path('/v1/pets')] },
  { sends: 'GET /v1/pet/1', names: [/\/v1\/pets\/(1|\{petId\})/] },
  { sends: 'GET /v1/animals', names: [path('/v1/pets')] },
  { sends: 'GET /v2/pets', names: [path('/v1/pets')] },
  { sends: 'GET /v2/animals?type=dog&page=2', names: [path('/v1/pets')] },
  { sends: 'GET /pets', names: [path('/v1/pets')] },
  { sends: 'GET /api/v1/pets', names: [path('/v1/pets')] },
  { sends: 'GET /v1/pets/', names: [path('/v1/pets')] },
  { sends: 'GET /v1/Pets', names: [path('/v1/pets')] },
  { sends: 'GET /v1/pets.json', names: [path('/v1/pets')] },
  { sends: 'GET /v1/pet/findByStatus?status=available', names: [path('/v1/pets')] },
  { sends: 'GET /v1/pets/search?q=beagle', names: [path('/v1/listings')] },
  { sends: 'GET /v1/orders', names: [path('/v1/store/orders')] },
  { sends: 'POST /v1/store/order', body: { petId: 1, quantity: 1 }, names: [path('/v1/store/orders')] },
  { sends: 'GET /v1/organizations', names: [path('/v1/shelters')] },
  { sends: 'GET /v1/types', names: [path('/v1/categories')] },
  { sends: 'GET /v1/pets/1/images', names: [path('/v1/pets/1/photos')] },
  { sends: 'GET /v1/webhook', names: [path('/v1/webhooks')] },
];

const methods: readonly Mistake[] = [
  { sends: 'PUT /v1/pets/1', body: { name: 'Biscuit', categoryId: 1, status: 'pending' }, names: [/PATCH/] },
  { sends: 'POST /v1/pets/1', body: { status: 'pending' }, names: [/PATCH/] },
  { sends: 'PUT /v1/pets', body: { id: 1, name: 'Biscuit', categoryId: 1 }, names: [/PATCH \/v1\/pets\/(1|\{petId\})/] },
  { sends: 'DELETE /v1/store/orders/1', names: [/POST \/v1\/store\/orders\/(1|\{orderId\})\/cancel/] },
  { sends: 'PATCH /v1/store/orders/1', body: { status: 'cancelled' }, names: [/\/cancel\b/] },
  { sends: 'GET /v1/store/orders/1/cancel', names: [/POST/] },
];

const keys: readonly Mistake[] = [
  { sends: 'GET /v1/pets', headers: { 'x-api-key': 'KEY' }, names: [/x-api-key/i, withBearer] },
  { sends: 'GET /v1/pets', headers: { 'api-key': 'KEY' }, names: [/api-key/i, withBearer] },
  { sends: 'GET /v1/pets', headers: { api_key: 'KEY' }, names: [/(?<!<)api_key/i, withBearer] },
  { sends: 'GET /v1/pets', headers: { authorization: 'Token KEY' }, names: [/Token/, /Bearer/] },
  { sends: 'GET /v1/pets', headers: { authorization: 'KEY' }, names: [/'Bearer ' before/] },
  { sends: 'GET /v1/pets', headers: { authorization: 'Basic BASE64' }, names: [/Basic/, /Bearer/] },
  { sends: 'GET /v1/pets', headers: { authorization: 'Bearer <KEY>' }, names: [/brackets|<|without/i] },
  { sends: 'GET /v1/pets', headers: { authorization: 'Bearer Bearer KEY' }, names: [/twice|once/] },
  { sends: 'GET /v1/pets?apikey=KEY', headers: {}, names: [/apikey/, withBearer] },
  { sends: 'POST /v1/oauth2/token', headers: {}, raw: 'grant_type=client_credentials&client_id=KEY', names: [withBearer] },
];

const queries: readonly Mistake[] = [
  { sends: 'GET /v1/pets?page=2', names: [/\bcursor\b.*\bLink\b|\bLink\b.*\bcursor\b|mean cursor/] },
  { sends: 'GET /v1/pets?per_page=50', names: [/mean limit/] },
  { sends: 'GET /v1/pets?offset=20', names: [/mean cursor|\bLink\b/] },
  { sends: 'GET /v1/pets?starting_after=1', names: [/mean cursor|\bLink\b/] },
  { sends: 'GET /v1/pets?category=1', names: [/mean categoryId/] },
  { sends: 'GET /v1/pets?category_id=1', names: [/mean categoryId/] },
  { sends: 'GET /v1/pets?ids=1,2', names: [/mean id\b/] },
  { sends: 'GET /v1/pets?id=1,2', names: [/id=1&id=2/] },
  { sends: 'GET /v1/pets?limit=500', names: [/\b100\b/] },
  { sends: 'GET /v1/pets?status=Available', names: [/mean available/] },
  { sends: 'GET /v1/pets?status=adopted', names: [/mean sold/] },
  { sends: 'GET /v1/pets?status=reserved', names: [/mean pending/] },
  { sends: 'GET /v1/pets?cursor=2', names: [/\bLink\b/] },
  { sends: 'GET /v1/listings?type=dog', names: [/mean categoryId/] },
  { sends: 'GET /v1/listings?goodwith=cats', names: [/mean goodWith/] },
  { sends: 'GET /v1/listings?search=beagle', names: [/mean q\b/] },
  { sends: 'GET /v1/listings?gender=female', names: [/mean sex\b/] },
];

const bodies: readonly Mistake[] = [
  {
    sends: 'POST /v1/pets',
    raw: 'name=Biscuit&categoryId=1',
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
    names: [/application\/json/, /form/],
  },
  { sends: 'POST /v1/pets', raw: '{"name":"Biscuit","categoryId":1}', names: [/application\/json/] },
  { sends: 'POST /v1/pets', body: { name: 'Biscuit', categoryId: '1' }, names: [/categoryId/, /without quotes/] },
  { sends: 'POST /v1/pets', raw: "{'name':'Biscuit','categoryId':1}", headers: json, names: [/double quotes/] },
  { sends: 'POST /v1/pets', raw: '{"name":"Biscuit","categoryId":1,}', headers: json, names: [/comma/] },
  { sends: 'POST /v1/pets', raw: '{name: "Biscuit", categoryId: 1}', headers: json, names: [/double quotes|double-quoted/] },
  { sends: 'POST /v1/pets', body: { name: 'Biscuit', category_id: 1 }, names: [/mean categoryId/] },
  { sends: 'POST /v1/pets', body: { name: 'Biscuit', category: 'dogs' }, names: [/mean categoryId/] },
  { sends: 'POST /v1/pets', body: { name: 'Biscuit', categoryId: 1, status: 'adopted' }, names: [/mean sold/] },
];

const namedMin = 50;
const mistakes: readonly Mistake[] = [...paths, ...methods, ...keys, ...queries, ...bodies];

const store = await openTestStore();
const partner = await store.createKey();
await addPet(store, partner);
await placeOrder(store, partner, 1);
for (let i = 0; i < 2; i += 1) await addPet(store, partner);

const sent = (text: string) => text.replace('KEY', partner.key).replace('BASE64', Buffer.from(`${partner.key}:`).toString('base64'));

/** On the bare connection: no client adds a header that was left out. */
async function send({ sends, headers, body, raw = JSON.stringify(body) ?? '' }: Mistake, isAboutKey: boolean) {
  const payload = sent(raw);
  const fields = {
    host: 'homeward.example',
    ...(!isAboutKey && { authorization: 'Bearer KEY' }),
    ...(body !== undefined && json),
    ...(raw !== '' && { 'content-length': String(Buffer.byteLength(payload)) }),
    ...headers,
  };
  const lines = Object.entries(fields).map(([name, value]) => `${name}: ${sent(value)}\r\n`);
  const response = await sendRaw(store.url, `${sent(sends)} HTTP/1.1\r\n${lines.join('')}connection: close\r\n\r\n${payload}`);
  return { ...response, message: (response.json as { message?: string } | undefined)?.message ?? '' };
}

test('of sixty mistakes, at least fifty are answered by an error that names what is right', async () => {
  expect(mistakes).toHaveLength(60);
  const wrong: string[] = [];
  for (const mistake of mistakes) {
    const { status, message } = await send(mistake, keys.includes(mistake));
    expect(message).not.toContain(partner.key.slice(8));
    const isNamed = status >= 400 && status < 500 && mistake.names.every((name) => name.test(message));
    if (!isNamed) wrong.push(`${mistake.sends} ${JSON.stringify(mistake.headers ?? {})} ${mistake.raw ?? ''}: ${status} ${message}`);
  }
  // Fails with the mistakes that are not understood.
  expect({ named: mistakes.length - wrong.length, wrong }).toMatchObject({ named: expect.toSatisfy((named: number) => named >= namedMin) });
});
