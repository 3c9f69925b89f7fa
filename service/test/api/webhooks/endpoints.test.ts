import { describe, expect, test } from 'vitest';
import { errorResponse } from '../../error-response.ts';
import { openTestStore } from '../../test-store.ts';
import { addEndpoint, type WebhookBody } from '../../webhook-work.ts';

const store = await openTestStore();
const partner = await store.createKey();

const url = 'https://example.org/hooks';
const create = (body: unknown, headers: Record<string, string> = {}, { key } = partner) =>
  store.call<WebhookBody>('POST', '/v1/webhooks', { key, body, headers });

describe('POST /v1/webhooks', () => {
  test('is 201 with the endpoint and a secret of 24 bytes or more', async () => {
    const { status, json, headers } = await create({ url, types: ['pet.created'], description: 'The site' });
    expect(status).toBe(201);
    expect(json).toMatchObject({ url, types: ['pet.created'], description: 'The site', status: 'enabled', failingSince: null });
    const [, secret = ''] = /^whsec_(.+)$/.exec(json.secret ?? '') ?? [];
    expect(Buffer.from(secret, 'base64').length).toBeGreaterThanOrEqual(24);
    expect(headers.location).toBe(`/v1/webhooks/${json.id}`);
  });

  test('retried with its Idempotency-Key adds one endpoint, and shows and stores the secret only once', async () => {
    const first = await create({ url }, { 'idempotency-key': 'endpoint' });
    const again = await create({ url }, { 'idempotency-key': 'endpoint' });
    expect(first.json.secret).toMatch(/^whsec_/);
    const { secret, ...shown } = first.json;
    expect(again).toMatchObject({ status: 201, json: shown });
    expect(again.json.secret).toBeUndefined();
    const rows = await store.read<{ body: string }>('select body from idempotent_answers');
    expect(rows.some(({ body }) => body.includes('whsec_'))).toBe(false);
  });

  test.each([
    ['ftp://example.org/', 'must use https'],
    ['http://example.org/', 'must use https'],
    ['https://user:secret@example.org/', 'contains a user name or a password'],
    ['https://example.org/#top', 'contains a fragment'],
    ['https://example.org:25/', 'uses port 25'],
    ['https://127.0.0.1/', 'has an address that is not public'],
    ['https://0x7f.1/', 'has an address that is not public'],
    ['https://2130706433/', 'has an address that is not public'],
    ['https://017700000001/', 'has an address that is not public'],
    ['https://169.254.169.254/latest', 'has an address that is not public'],
    ['https://[::1]/', 'has an address that is not public'],
    ['https://[::ffff:10.0.0.1]/', 'has an address that is not public'],
    ['https://localhost/', 'points to this machine'],
    ['hooks', 'must be an absolute URL'],
  ])('with the url %s is 400: %s', async (bad, why) => {
    expect(await create({ url: bad })).toMatchObject(errorResponse(400, 'webhook_url_refused', why));
  });

  test.each([
    ['NUL', 'https://example.org/\0hooks', 'U+0000'],
    ['a tab', 'https://example.org/ho\toks', 'U+0009'],
    ['a line feed at its end', 'https://example.org/hooks\n', 'U+000A'],
    ['ESC', 'https://example.org/\u001b[2Jhooks', 'U+001B'],
    ['a control of C1', 'https://example.org/\u009b2Jhooks', 'U+009B'],
    ['a lone surrogate', 'https://example.org/\ud800', 'U+D800'],
  ])('with %s in the url is 400 and names it, also by PATCH', async (_, bad, character) => {
    const rejected = errorResponse(400, 'webhook_url_refused', `contains ${character}`);
    expect(await create({ url: bad })).toMatchObject(rejected);
    const { id } = await addEndpoint(store, await store.createKey({ client: 'changing' }), { url });
    const { key } = await store.createKey({ client: 'changing' });
    expect(await store.call('PATCH', `/v1/webhooks/${id}`, { key, body: { url: bad } })).toMatchObject(rejected);
  });

  test.each([
    ['upper case and no path', 'https://EXAMPLE.org', 'https://example.org/'],
    ['a host and a path beyond ASCII', 'https://b\u00fccher.example/\u202eskooh', 'https://xn--bcher-kva.example/%E2%80%AEskooh'],
    ['blanks', ' https://example.org/a b', 'https://example.org/a%20b'],
  ])('with %s in the url stores the normalized form, also by PATCH', async (_, given, stored) => {
    const key = await store.createKey();
    const { status, json } = await create({ url: given }, {}, key);
    expect({ status, url: json.url }).toEqual({ status: 201, url: stored });
    const { id } = await addEndpoint(store, key, { url });
    const changed = await store.call('PATCH', `/v1/webhooks/${id}`, { key: key.key, body: { url: given } });
    expect(changed).toMatchObject({ status: 200, json: { url: stored } });
  });

  test('with a url that is too long once it is encoded is 400', async () => {
    const bad = `https://example.org/${'\u00fc'.repeat(400)}`;
    expect(await create({ url: bad })).toMatchObject(
      errorResponse(400, 'webhook_url_refused', 'is longer than 2000 characters once it is encoded'),
    );
  });

  test('with line feeds in the description is 201; other control characters and bidirectional overrides are 400', async () => {
    const key = await store.createKey();
    expect((await create({ url, description: 'The site\nof the shelter' }, {}, key)).json.description).toBe('The site\nof the shelter');
    for (const [bad, character] of [
      ['a\0', 'U+0000'],
      ['a\r\nb', 'U+000D'],
      ['a\u001b[2J', 'U+001B'],
      ['a\u009b2J', 'U+009B'],
      ['a\u202eb', 'U+202E'],
      ['a\u2066b', 'U+2066'],
      ['a\ud800', 'U+D800'],
    ]) {
      const rejected = await create({ url, description: bad }, {}, key);
      expect(rejected).toMatchObject(errorResponse(400, 'invalid_body', `It contains ${character}.`));
    }
    // The marks of Arabic and Hebrew text are accepted.
    expect((await create({ url, description: 'אתר\u200f!' }, {}, key)).status).toBe(201);
  });

  test('with an unknown type is 400', async () => {
    expect(await create({ url, types: ['pet.sneezed'] })).toMatchObject(
      errorResponse(400, 'invalid_body', 'types[0] must be one of pet.created'),
    );
  });

  test('for event types of orders, by a key that may not read orders, is 403', async () => {
    const key = await store.createKey({ scopes: ['pets:read', 'webhooks:manage'] });
    expect(await create({ url, types: ['order.placed'] }, {}, key)).toMatchObject(errorResponse(403, 'insufficient_scope', 'orders:read'));
    expect((await create({ url }, {}, key)).status).toBe(201);
  });

  test('for event types of animals, by a key that may not read animals, is 403', async () => {
    const key = await store.createKey({ scopes: ['orders:read', 'webhooks:manage'] });
    expect(await create({ url, types: ['pet.created'] }, {}, key)).toMatchObject(errorResponse(403, 'insufficient_scope', 'pets:read'));
    expect((await create({ url, types: ['order.placed'] }, {}, key)).status).toBe(201);
  });

  test('without the scope webhooks:manage is 403', async () => {
    const key = await store.createKey({ scopes: ['pets:read'] });
    expect(await create({ url }, {}, key)).toMatchObject(errorResponse(403, 'insufficient_scope', 'webhooks:manage'));
  });

  test('beyond 20 is 409, also for concurrent requests, until one is removed', async () => {
    const key = await store.createKey();
    const responses = await Promise.all(Array.from({ length: 25 }, () => create({ url }, {}, key)));
    expect(responses.filter(({ status }) => status === 201)).toHaveLength(20);
    expect(responses.find(({ status }) => status !== 201)).toMatchObject(errorResponse(409, 'webhook_limit_reached'));
    const id = responses.find(({ status }) => status === 201)?.json.id;
    expect((await store.call('DELETE', `/v1/webhooks/${id}`, { key: key.key })).status).toBe(204);
    expect((await create({ url }, {}, key)).status).toBe(201);
  });
});

describe('an endpoint', () => {
  test('can be listed and read, and never shows its secret again', async () => {
    const key = await store.createKey();
    const ids = [];
    for (let i = 0; i < 3; i += 1) ids.push((await addEndpoint(store, key, { url })).id);
    const page = await store.call<WebhookBody[]>('GET', '/v1/webhooks?limit=2', { key: key.key });
    expect(page.json.map(({ id }) => id)).toEqual(ids.slice(0, 2));
    const [, next = ''] = /<([^>]+)>; rel="next"/.exec(String(page.headers.link)) ?? [];
    expect((await store.call<WebhookBody[]>('GET', next, { key: key.key })).json.map(({ id }) => id)).toEqual(ids.slice(2));
    const one = await store.call('GET', `/v1/webhooks/${ids[0]}`, { key: key.key });
    expect(one.status).toBe(200);
    expect(page.text + one.text).not.toContain('secret');
  });

  test('can be changed field by field', async () => {
    const { id } = await addEndpoint(store, partner, { url, types: ['pet.created'] });
    const patch = (body: unknown) => store.call<WebhookBody>('PATCH', `/v1/webhooks/${id}`, { key: partner.key, body });
    expect(await patch({ status: 'disabled' })).toMatchObject({ status: 200, json: { status: 'disabled', url, types: ['pet.created'] } });
    expect(await patch({ types: [], url: 'https://example.org/other' })).toMatchObject({
      json: { status: 'disabled', url: 'https://example.org/other', types: [] },
    });
    expect(await patch({ url: 'https://10.0.0.1/' })).toMatchObject(errorResponse(400, 'webhook_url_refused'));
    expect(await patch({})).toMatchObject(
      errorResponse(400, 'invalid_body', 'an object with url, types, shelterIds, categoryIds, description or status'),
    );
  });

  test('gets another secret by a rotation', async () => {
    const { id, secret } = await addEndpoint(store, partner, { url });
    const { status, json } = await store.call<WebhookBody>('POST', `/v1/webhooks/${id}/rotate-secret`, { key: partner.key });
    expect(status).toBe(200);
    expect(json.secret).toMatch(/^whsec_/);
    expect(json.secret).not.toBe(secret);
  });

  test('is not found after it was removed, and its secret is deleted', async () => {
    const { id } = await addEndpoint(store, partner, { url });
    const call = (method: string, path = '') => store.call(method, `/v1/webhooks/${id}${path}`, { key: partner.key });
    expect((await call('DELETE')).status).toBe(204);
    expect(await call('GET')).toMatchObject(errorResponse(404, 'webhook_not_found'));
    expect(await call('DELETE')).toMatchObject(errorResponse(404, 'webhook_not_found'));
    expect(await call('POST', '/rotate-secret')).toMatchObject(errorResponse(404, 'webhook_not_found'));
    const rows = await store.read('select secret from webhooks where id = $1', id);
    expect(rows).toEqual([{ secret: '' }]);
  });

  test.each([
    ['GET', ''],
    ['PATCH', '', { status: 'disabled' }],
    ['DELETE', ''],
    ['POST', '/rotate-secret'],
    ['POST', '/test'],
    ['GET', '/deliveries'],
    ['GET', '/deliveries/1'],
    ['POST', '/replay', { failed: true }],
  ])("of another client is 404 for %s %s, like one that doesn't exist", async (method, path, body?: object) => {
    const { id } = await addEndpoint(store, await store.createKey(), { url });
    const responses = await Promise.all(
      [id, 999_999, 'x'].map((one) => store.call(method, `/v1/webhooks/${one}${path}`, { key: partner.key, body })),
    );
    for (const response of responses) expect(response).toMatchObject(errorResponse(404, 'webhook_not_found'));
  });
});
