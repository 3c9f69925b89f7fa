import { describe, expect, test } from 'vitest';
import { type ApiDocument, type Operation, operationsOf, resolve, type Schema } from '../../../docs-site/src/reference-document.ts';
import { addPet, createManager, placeOrder } from '../adoption-steps.ts';
import { openTestStore } from '../test-store.ts';
import { addEndpoint } from '../webhook-work.ts';

/** Existing ids for paths, so that requests get as far as the database. */
const store = await openTestStore();
const manager = await createManager(store);
const document = (await store.call<ApiDocument>('GET', '/openapi.json')).json;
const pet = await addPet(store, manager);
const order = await placeOrder(store, manager, pet.id);
const webhook = await addEndpoint(store, manager, { url: 'https://example.org/hooks' });
const delivery = await store.call<{ id: number }>('POST', `/v1/webhooks/${webhook.id}/test`, { key: manager.key });
const ids: Record<string, string> = Object.fromEntries(
  Object.entries({ petId: pet.id, orderId: order.id, webhookId: webhook.id, deliveryId: delivery.json.id }).map(([name, id]) => [
    name,
    String(id),
  ]),
);

const texts: ReadonlyArray<readonly [name: string, text: string]> = [
  ['NUL', 'a\0b'],
  ['ESC', 'a\u001b[2J'],
  ['CSI of C1', 'a\u009b2J'],
  ['an override', 'a\u202eb'],
  ['a lone surrogate', 'a\ud800b'],
  ['a line feed', 'a\nb'],
  ['100,000 characters', 'x'.repeat(100_000)],
  ['100,000 characters outside the BMP', '🐕'.repeat(50_000)],
];
/** Embed the text in a URL or an e-mail address, so that it is not rejected for its format alone. */
const disguises: ReadonlyArray<(text: string) => string> = [
  (text) => text,
  (text) => `https://example.org/${text}`,
  (text) => `${text}@example.org`,
];

describe('text that no field accepts is never an error of the service', () => {
  test('in any field of any body', async () => {
    const bodies = operationsOf(document).filter(({ method, requestBody }) => ['POST', 'PUT', 'PATCH'].includes(method) && requestBody);
    const outcomes: string[] = [];
    let sent = 0;
    for (const operation of bodies) {
      const schema = resolve(document, operation.requestBody?.content['application/json']?.schema ?? {});
      for (const field of fieldsOf(schema)) {
        for (const [name, text] of texts) {
          // A long text is rejected for its length, whatever its format.
          for (const disguise of text.length < 1_000 ? disguises : disguises.slice(0, 1)) {
            const body = withField(exampleOf(schema), field, disguise(text));
            const { status } = await store.call(operation.method, pathOf(operation), { key: manager.key, raw: asciiJson(body) });
            sent += 1;
            if (status >= 500) outcomes.push(`${operation.operationId} with ${name} in ${field.join('.')} is ${status}`);
          }
        }
      }
    }
    expect(outcomes).toEqual([]);
    expect(bodies.length).toBeGreaterThanOrEqual(7);
    expect(sent).toBeGreaterThanOrEqual(bodies.length * texts.length * 2);
  });

  test('in any parameter of any query or path', async () => {
    const outcomes: string[] = [];
    // A header can't contain these characters, nor a URL a lone surrogate. The server itself rejects a request line that is too long.
    const sendable = texts.filter(([, text]) => text.length < 1_000 && text.isWellFormed());
    for (const operation of operationsOf(document)) {
      for (const { name, in: place } of operation.parameters ?? []) {
        if (place === 'header') continue;
        for (const [what, text] of sendable) {
          const encoded = encodeURIComponent(text);
          const path = place === 'query' ? `${pathOf(operation)}?${name}=${encoded}` : pathOf(operation, { [name]: encoded });
          const { status } = await store.call(operation.method, path, { key: manager.key });
          if (status >= 500) outcomes.push(`${operation.operationId} with ${what} in ${name} is ${status}`);
        }
      }
    }
    expect(outcomes).toEqual([]);
  });
});

test('an order that was placed under earlier rules is still shown', async () => {
  const pet = await addPet(store, manager);
  const { id } = await placeOrder(store, manager, pet.id);
  const adopter = { name: 'Ada\u202eecalevoL', email: 'x@x' };
  await store.asOwner('update orders set adopter_name = $1, adopter_email = $2 where id = $3', ...Object.values(adopter), id);
  const { key } = manager;
  expect(await store.call('GET', `/v1/store/orders/${id}`, { key })).toMatchObject({ status: 200, json: { id, adopter } });
  expect(await store.call('GET', `/v1/store/orders?petId=${pet.id}`, { key })).toMatchObject({ status: 200, json: [{ id, adopter }] });
  expect(await store.call('POST', `/v1/store/orders/${id}/cancel`, { key })).toMatchObject({ status: 200, json: { id, adopter } });
});

/** Every field, including nested objects and the first element of arrays. Read-only ones are ignored. */
function fieldsOf(schema: Schema, prefix: readonly string[] = []): string[][] {
  const { properties = {}, items } = resolve(document, schema);
  if (items) return fieldsOf(items, [...prefix, '0']);
  const own = Object.entries(properties).flatMap(([name, property]) => (property.readOnly ? [] : fieldsOf(property, [...prefix, name])));
  return prefix.length > 0 ? [[...prefix], ...own] : own;
}

/** The documented example. */
const exampleOf = (schema: Schema) => structuredClone((resolve(document, schema).examples?.[0] ?? {}) as Record<string, unknown>);

function withField(body: Record<string, unknown>, field: readonly string[], value: string): Record<string, unknown> {
  const last = field.at(-1) ?? '';
  let parent: Record<string, unknown> = body;
  for (const [i, name] of field.slice(0, -1).entries()) {
    if (typeof parent[name] !== 'object') parent[name] = field[i + 1] === '0' ? [] : {};
    parent = parent[name] as Record<string, unknown>;
  }
  parent[last] = value;
  return body;
}

/** A lone surrogate can be sent only as an escape. */
const asciiJson = (value: unknown) =>
  JSON.stringify(value).replace(/[\u0080-\uffff]/g, (one) => `\\u${one.charCodeAt(0).toString(16).padStart(4, '0')}`);

const pathOf = ({ path }: Operation, given: Record<string, string> = {}) =>
  path.replace(/\{(\w+)\}/g, (_, name: string) => given[name] ?? ids[name] ?? '1');
