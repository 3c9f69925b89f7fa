import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { createApp } from '../../src/app.ts';
import { eventTypes } from '../../src/domain/event-types.ts';
import { errorCodes } from '../../src/platform/errors.ts';
import { findComponent, inlineComponents } from '../../src/platform/http/openapi-components.ts';
import { openTestStore } from '../test-store.ts';

interface Operation {
  readonly operationId: string;
  readonly deprecated?: boolean;
  readonly 'x-stability'?: string;
  readonly 'x-scope'?: string;
  readonly 'x-sunset'?: string;
  readonly parameters?: ReadonlyArray<{ name: string; in: string; required?: boolean; schema: object }>;
  readonly responses: Readonly<Record<string, { headers?: Readonly<Record<string, unknown>>; content?: object }>>;
}

interface Document {
  readonly openapi: string;
  readonly info: { readonly version: string };
  readonly servers: unknown;
  readonly security: unknown;
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly webhooks: Readonly<
    Record<string, { post: { operationId: string; requestBody: { content: { 'application/json': { schema: { allOf: object[] } } } } } }>
  >;
  readonly components: Readonly<
    Record<'schemas' | 'securitySchemes' | 'parameters' | 'responses' | 'headers' | 'examples', Readonly<Record<string, object>>>
  >;
}

const committed = readFileSync(new URL('../../../openapi.json', import.meta.url), 'utf8');

const store = await openTestStore();
const document = (await store.call<Document>('GET', '/openapi.json')).json;
const operations: Map<string, Operation & { readonly at: string }> = new Map(
  Object.entries(inlineComponents(document, document.paths)).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, one]) => [one.operationId, { ...one, at: `${method.toUpperCase()} ${path}` }] as const),
  ),
);

const parameters = (id: string) => Object.fromEntries((operations.get(id)?.parameters ?? []).map((one) => [one.name, one]));

describe('GET /openapi.json', () => {
  test('is the document that is committed', () => {
    expect(document).toEqual(JSON.parse(committed));
  });

  test('is version 1.0.0 at /v1, in OpenAPI 3.1', () => {
    expect(document).toMatchObject({ openapi: '3.1.0', info: { version: '1.0.0' }, servers: [{ url: '/v1' }] });
  });

  test('has every operation at its path', () => {
    expect(Object.fromEntries([...operations].map(([id, { at }]) => [id, at]))).toEqual({
      listPets: 'GET /pets',
      createPet: 'POST /pets',
      getPet: 'GET /pets/{petId}',
      updatePet: 'PATCH /pets/{petId}',
      removePet: 'DELETE /pets/{petId}',
      getProfile: 'GET /pets/{petId}/profile',
      putProfile: 'PUT /pets/{petId}/profile',
      patchProfile: 'PATCH /pets/{petId}/profile',
      movePet: 'PUT /pets/{petId}/shelter',
      getHold: 'GET /pets/{petId}/hold',
      putHold: 'PUT /pets/{petId}/hold',
      endHold: 'DELETE /pets/{petId}/hold',
      recordOutcome: 'POST /pets/{petId}/outcome',
      getOutcome: 'GET /pets/{petId}/outcome',
      undoOutcome: 'DELETE /pets/{petId}/outcome',
      getShelterQuestions: 'GET /shelters/{shelterId}/questions',
      setShelterQuestions: 'PUT /shelters/{shelterId}/questions',
      getSiteSettings: 'GET /site',
      updateSiteSettings: 'PATCH /site',
      listShelters: 'GET /shelters',
      createShelter: 'POST /shelters',
      getShelter: 'GET /shelters/{shelterId}',
      updateShelter: 'PATCH /shelters/{shelterId}',
      listListings: 'GET /listings',
      listListingFacets: 'GET /listings/facets',
      listPhotos: 'GET /pets/{petId}/photos',
      getPhoto: 'GET /pets/{petId}/photos/{photoId}',
      addPhoto: 'POST /pets/{petId}/photos',
      updatePhoto: 'PATCH /pets/{petId}/photos/{photoId}',
      removePhoto: 'DELETE /pets/{petId}/photos/{photoId}',
      listCategories: 'GET /categories',
      putCategory: 'PUT /categories/{categoryId}',
      removeCategory: 'DELETE /categories/{categoryId}',
      listEvents: 'GET /events',
      listOrders: 'GET /store/orders',
      placeOrder: 'POST /store/orders',
      getOrder: 'GET /store/orders/{orderId}',
      approveOrder: 'POST /store/orders/{orderId}/approve',
      completeOrder: 'POST /store/orders/{orderId}/complete',
      cancelOrder: 'POST /store/orders/{orderId}/cancel',
      returnOrder: 'POST /store/orders/{orderId}/return',
      listApplications: 'GET /applications',
      submitApplication: 'POST /applications',
      getApplication: 'GET /applications/{applicationId}',
      noteApplication: 'PATCH /applications/{applicationId}',
      removeApplication: 'DELETE /applications/{applicationId}',
      reviewApplication: 'POST /applications/{applicationId}/review',
      acceptApplication: 'POST /applications/{applicationId}/accept',
      declineApplication: 'POST /applications/{applicationId}/decline',
      reopenApplication: 'POST /applications/{applicationId}/reopen',
      withdrawApplication: 'POST /applications/{applicationId}/withdraw',
      listWebhooks: 'GET /webhooks',
      createWebhook: 'POST /webhooks',
      getWebhook: 'GET /webhooks/{webhookId}',
      updateWebhook: 'PATCH /webhooks/{webhookId}',
      removeWebhook: 'DELETE /webhooks/{webhookId}',
      rotateWebhookSecret: 'POST /webhooks/{webhookId}/rotate-secret',
      testWebhook: 'POST /webhooks/{webhookId}/test',
      listDeliveries: 'GET /webhooks/{webhookId}/deliveries',
      getDelivery: 'GET /webhooks/{webhookId}/deliveries/{deliveryId}',
      replayWebhook: 'POST /webhooks/{webhookId}/replay',
      getUsage: 'GET /usage',
    });
  });

  test('has the schema of each event type in its webhooks', () => {
    expect(Object.keys(document.webhooks)).toEqual([...eventTypes]);
    expect(document.webhooks['pet.status_changed']?.post.operationId).toBe('petStatusChanged');
    for (const [type, { post }] of Object.entries(document.webhooks)) {
      const name = `${type[0]?.toUpperCase()}${type.slice(1, type.indexOf('.'))}Event`;
      expect(post.requestBody.content['application/json'].schema.allOf).toEqual([
        { $ref: `#/components/schemas/${name}` },
        { properties: { type: { const: type } } },
      ]);
      expect(document.components.schemas[name]).toMatchObject({ properties: { type: { enum: expect.arrayContaining([type]) } } });
    }
  });

  test('requires a bearer key everywhere', () => {
    expect(document.components.securitySchemes).toMatchObject({ apiKey: { type: 'http', scheme: 'bearer' } });
    expect(document.security).toEqual([{ apiKey: [] }]);
  });

  test('marks orders and categories as beta, newer operations as experimental, and those of the interface as neither', () => {
    const stability = Object.groupBy(operations.values(), (one) => one['x-stability'] ?? 'stable');
    expect(Object.fromEntries(Object.entries(stability).map(([name, list]) => [name, list?.map((one) => one.operationId)]))).toEqual({
      stable: ['listPets', 'createPet', 'getPet'],
      experimental: [
        'updatePet',
        'removePet',
        'getHold',
        'putHold',
        'endHold',
        'listShelters',
        'createShelter',
        'getShelter',
        'updateShelter',
        'movePet',
        'recordOutcome',
        'getOutcome',
        'undoOutcome',
        'getShelterQuestions',
        'setShelterQuestions',
        'getSiteSettings',
        'updateSiteSettings',
        'getProfile',
        'putProfile',
        'patchProfile',
        'listListings',
        'listListingFacets',
        'listPhotos',
        'addPhoto',
        'getPhoto',
        'updatePhoto',
        'removePhoto',
        'removeCategory',
        'listEvents',
        'listApplications',
        'submitApplication',
        'getApplication',
        'noteApplication',
        'removeApplication',
        'reviewApplication',
        'acceptApplication',
        'declineApplication',
        'reopenApplication',
        'withdrawApplication',
        'listWebhooks',
        'createWebhook',
        'getWebhook',
        'updateWebhook',
        'removeWebhook',
        'rotateWebhookSecret',
        'testWebhook',
        'listDeliveries',
        'getDelivery',
        'replayWebhook',
        'getUsage',
      ],
      beta: [
        'listCategories',
        'putCategory',
        'listOrders',
        'placeOrder',
        'getOrder',
        'approveOrder',
        'completeOrder',
        'cancelOrder',
        'returnOrder',
      ],
    });
  });

  test('marks only getPet as deprecated, with its date', () => {
    expect([...operations.values()].filter((one) => one.deprecated)).toMatchObject([{ operationId: 'getPet', 'x-sunset': '2030-12-05' }]);
  });

  test('has the scope of every operation', () => {
    expect(Object.fromEntries([...operations].map(([id, one]) => [id, one['x-scope']]))).toMatchObject({
      listPets: 'pets:read',
      createPet: 'pets:write',
      getPet: 'pets:read',
      updatePet: 'pets:write or store:manage or shelter:manage',
      movePet: 'store:manage',
      createShelter: 'store:manage',
      putProfile: 'pets:write or store:manage or shelter:manage',
      putCategory: 'store:manage',
      removeCategory: 'store:manage',
      listOrders: 'orders:read',
      placeOrder: 'orders:write',
      cancelOrder: 'orders:write',
      approveOrder: 'store:manage or shelter:manage',
      submitApplication: 'applications:write or orders:write',
      withdrawApplication: 'applications:write or orders:write or store:manage or shelter:manage',
      acceptApplication: 'store:manage or shelter:manage',
      createWebhook: 'webhooks:manage',
    });
  });

  test('has each error at the operation of its example, except those that are sent before there is one', () => {
    const inlined = inlineComponents(document, document.paths);
    const isDocumented = ([code, { status, request }]: [string, (typeof errorCodes)[keyof typeof errorCodes]]) => {
      const [method = '', target = ''] = request.split(/\s/);
      const [path = ''] = target.replace('/v1', '').split('?');
      const matching = Object.entries(inlined).filter(([one]) => new RegExp(`^${one.replaceAll(/\{\w+\}/g, '[^/]+')}$`).test(path));
      const responses = matching.map(([, methods]) => methods[method.toLowerCase()]?.responses[status]);
      return responses.some((response) => JSON.stringify(response ?? {}).includes(`"code":"${code}"`));
    };
    const others = Object.entries(errorCodes).filter((entry) => !isDocumented(entry));
    expect(others.map(([code]) => code)).toEqual([
      'malformed_request',
      'invalid_rehearsal',
      'route_not_found',
      'method_not_allowed',
      'request_timeout',
      'headers_too_large',
    ]);
  });

  test('describes the animal as the interface does', () => {
    const { NewPet, Pet, PetStatus } = document.components.schemas;
    const int64 = { type: 'integer', format: 'int64' };
    expect(NewPet).toMatchObject({ required: ['name', 'categoryId'], properties: { name: { type: 'string' }, categoryId: int64 } });
    expect(Pet).toMatchObject({ required: ['id', 'name', 'categoryId', 'status'], properties: { id: int64, categoryId: int64 } });
    expect(PetStatus).toMatchObject({ type: 'string', enum: ['available', 'pending', 'sold'] });
  });

  test('describes the error as the interface does', () => {
    expect(document.components.schemas['Error']).toMatchObject({
      required: ['code', 'message', 'status'],
      properties: { code: { type: 'string' }, message: { type: 'string' }, status: { type: 'integer' } },
    });
  });

  test('describes the parameters of listPets', () => {
    expect(parameters('listPets')).toMatchObject({
      limit: { in: 'query', required: false, schema: { type: 'integer', minimum: 1, maximum: 100, default: 20 } },
      cursor: { in: 'query', required: false },
      status: { in: 'query', required: false, schema: { enum: ['available', 'pending', 'sold'] } },
      id: { in: 'query', required: false, schema: { type: 'array', maxItems: 100, items: { type: 'integer', format: 'int64' } } },
    });
  });

  test('describes an id in a path as an int64', () => {
    expect(parameters('getPet')).toMatchObject({ petId: { in: 'path', required: true, schema: { type: 'integer', format: 'int64' } } });
  });

  test('offers Idempotency-Key on every POST', () => {
    const posts = [...operations.values()].filter(({ at }) => at.startsWith('POST '));
    expect(posts).toHaveLength(19);
    for (const { operationId } of posts)
      expect(parameters(operationId)).toMatchObject({ 'idempotency-key': { in: 'header', required: false } });
  });

  test('has for every operation the errors that it can always return, with their headers', () => {
    for (const { responses } of operations.values()) {
      expect(Object.keys(responses)).toEqual(expect.arrayContaining(['401', '403', '429', '500', '503']));
      expect(responses['429']?.headers).toMatchObject({ 'Retry-After': {}, 'X-RateLimit-Strikes-Remaining': {}, 'X-RateLimit-Reset': {} });
      expect(responses['401']?.headers).toMatchObject({ 'WWW-Authenticate': {} });
    }
  });

  test('describes with its shared components exactly what the routes describe', async () => {
    const { server } = await createApp(store.dependencies);
    const described = JSON.stringify(server.swagger());
    await server.close();
    expect(described).not.toMatch(/#\/components\/(?!schemas\/)/);
    const { parameters: _, responses: __, headers: ___, examples: ____, ...components } = document.components;
    expect({ ...inlineComponents(document, document), components }).toEqual(JSON.parse(described));
  });

  test('has references to existing components with readable names', () => {
    const references = [...committed.matchAll(/"\$ref": "([^"]*)"/g)].map(([, $ref = '']) => $ref);
    expect(references.length).toBeGreaterThan(300);
    for (const $ref of references) expect(findComponent(document, $ref)).toBeTypeOf('object');
    const { parameters, responses, headers, examples } = document.components;
    expect(Object.keys(parameters)).toEqual(expect.arrayContaining(['petId', 'cursor', 'idempotency-key']));
    expect(Object.keys(responses)).toEqual(
      expect.arrayContaining(['NotModified', 'Unauthorized', 'TooManyRequests', 'PetNotFound', 'Order']),
    );
    expect(Object.keys(headers)).toEqual(expect.arrayContaining(['RateLimit', 'X-Request-Id', 'ETag']));
    expect(Object.keys(examples)).toEqual(expect.arrayContaining(['invalid_json', 'idempotency_in_progress']));
  });

  test('has at most 6 kB for each operation in the repository, and 3.5 kB as served', () => {
    const operations = committed.match(/"operationId"/g)?.length ?? 0;
    expect(Buffer.byteLength(committed)).toBeLessThan(6_000 * operations);
    expect(Buffer.byteLength(JSON.stringify(document))).toBeLessThan(3_500 * operations);
  });

  test('needs no key and has no limit', async () => {
    const { status, headers } = await store.call('GET', '/openapi.json');
    expect(status).toBe(200);
    expect(headers['x-ratelimit-limit']).toBeUndefined();
  });

  test('is readable by a page from any origin, and cached for 5 minutes', async () => {
    expect((await store.call('GET', '/openapi.json')).headers).toMatchObject({
      'access-control-allow-origin': '*',
      'cache-control': 'public, max-age=300',
      'content-type': 'application/json; charset=utf-8',
      'x-content-type-options': 'nosniff',
    });
  });

  test('answers a preflight and a plain OPTIONS, without a key', async () => {
    const preflight = { origin: 'https://partner.example', 'access-control-request-method': 'GET' };
    for (const headers of [preflight, {}]) {
      expect(await store.call('OPTIONS', '/openapi.json', { headers })).toMatchObject({
        status: 204,
        text: '',
        headers: {
          allow: 'GET, HEAD, OPTIONS',
          'access-control-allow-origin': '*',
          'access-control-allow-methods': 'GET, HEAD',
          'access-control-allow-headers': expect.stringContaining('If-None-Match'),
          'access-control-max-age': '86400',
        },
      });
    }
  });

  test('exposes its ETag to a page from another origin, on 200 and on 304', async () => {
    const { status, headers } = await store.call('GET', '/openapi.json', { headers: { 'if-none-match': '*' } });
    for (const one of [headers, (await store.call('GET', '/openapi.json')).headers]) {
      expect(one).toMatchObject({
        'access-control-allow-origin': '*',
        'access-control-expose-headers': expect.stringContaining('ETag'),
        'cache-control': 'public, max-age=300',
        vary: 'accept-encoding',
      });
    }
    expect(status).toBe(304);
  });

  test('is compressed for a caller that accepts gzip, and 304 for one with its ETag', async () => {
    const packed = await fetch(`${store.url}/openapi.json`, { headers: { 'accept-encoding': 'gzip' } });
    expect(packed.headers.get('content-encoding')).toBe('gzip');
    expect(await packed.json()).toEqual(document);
    const etag = packed.headers.get('etag') ?? '';
    expect(await store.call('GET', '/openapi.json', { headers: { 'if-none-match': etag } })).toMatchObject({ status: 304, text: '' });
  });

  test('is generated only once, so that further requests cost no work that grows with the document', async () => {
    const { server } = await createApp(store.dependencies);
    const etag = String((await server.inject('/openapi.json')).headers.etag);
    const cpuOf = async (url: string) => {
      const before = process.cpuUsage();
      for (let i = 0; i < 100; i += 1) await server.inject({ url, headers: { 'if-none-match': etag } });
      const { user, system } = process.cpuUsage(before);
      return user + system;
    };
    // The minimum of several rounds, since other work of this process only adds.
    let [ofHealth, ofDocument] = [Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY];
    for (let round = 0; round < 5; round += 1) {
      ofHealth = Math.min(ofHealth, await cpuOf('/livez'));
      ofDocument = Math.min(ofDocument, await cpuOf('/openapi.json'));
    }
    await server.close();
    // Generating the document takes more than a hundred times as long as the other request.
    expect(ofDocument / ofHealth).toBeLessThan(5);
  });
});
