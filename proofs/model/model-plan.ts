// The request of a step, filled in from the model's state, and the response that it must get.
import type { Credentials } from './model-callers.ts';
import { type Expected, rejected } from './model-expectations.ts';
import type { Action, Drawn } from './model-steps.ts';
import {
  comparable,
  comparableOrders,
  type ModelAnimal,
  type ModelOrder,
  type ModelPage,
  type ModelStore,
  type Query,
  readId,
} from './model-store.ts';

export interface Request {
  readonly method: string;
  readonly path: string;
  readonly headers?: Record<string, string>;
  readonly raw?: string;
}

export interface Plan {
  readonly request: Request;
  readonly expected: Expected;
  /** The operation in the OpenAPI document; undefined if the request matches none. */
  readonly operation?: { readonly path: string; readonly method: string };
}

type Sent = Exclude<Action, { kind: 'revoke' }>;

const forbidden = rejected(403, 'insufficient_scope');

export function plan(store: ModelStore, action: Sent, credentials: Credentials): Plan {
  switch (action.kind) {
    case 'list':
      return action.path === '/pets' ? planList(store, action, credentials) : planOrders(store, action, credentials);
    case 'follow': {
      const { path } = pick(store.links, action.link) ?? { path: '/pets' };
      const query = [...new URLSearchParams(path.split('?')[1] ?? '')];
      const request = { method: action.head ? 'HEAD' : 'GET', path };
      return { request, expected: expectPage(store.list(query), credentials), operation: { path: '/pets', method: 'get' } };
    }
    case 'get':
      return planGet(store, action, credentials);
    case 'create':
      return planCreate(store, action, credentials);
    case 'place':
      return planPlace(store, action, credentials);
    case 'cancel':
      return planCancel(store, action, credentials);
    case 'method':
      return { request: action, expected: rejected(405, 'method_not_allowed') };
    case 'nowhere':
      return { request: action, expected: rejected(404, 'route_not_found') };
    case 'preflight': {
      const headers = { origin: 'https://shelter.example', 'access-control-request-method': 'POST' };
      return { request: { method: 'OPTIONS', path: action.path, headers }, expected: { status: 204 } };
    }
  }
}

type Of<K extends Sent['kind']> = Extract<Sent, { kind: K }>;

function planList(store: ModelStore, { head, path, query: drawn }: Of<'list'>, credentials: Credentials): Plan {
  const query = drawn.map(([name, value]) => [name, fill(store, value)] as const);
  const request = { method: head ? 'HEAD' : 'GET', path: `${path}${queryText(query)}` };
  return { request, expected: expectPage(store.list(query), credentials), operation: { path, method: 'get' } };
}

function planOrders(store: ModelStore, { head, path, query: drawn }: Of<'list'>, { scopes, subject }: Credentials): Plan {
  const query = drawn.map(([name, value]) => [name, fill(store, value)] as const);
  const request = { method: head ? 'HEAD' : 'GET', path: `${path}${queryText(query)}` };
  const page = store.listOrders(subject, query);
  const serialiseAll = (body: unknown) => comparableOrders(body as ModelOrder[]);
  const found =
    typeof page === 'string'
      ? rejected(400, page)
      : { status: 200, content: { text: comparableOrders(page.orders), more: page.more, serialise: serialiseAll } };
  return { request, expected: scopes.includes('orders:read') ? found : forbidden, operation: { path, method: 'get' } };
}

function planGet(store: ModelStore, { head, id: drawn, query }: Of<'get'>, { scopes }: Credentials): Plan {
  const text = fill(store, drawn);
  const id = readId(text);
  const animal = id === undefined ? undefined : store.find(id);
  const serialiseOne = (body: unknown) => comparable([body as ModelAnimal]);
  const found = animal
    ? { status: 200, content: { text: comparable([animal]), more: false, serialise: serialiseOne } }
    : rejected(404, 'pet_not_found');
  const request = { method: head ? 'HEAD' : 'GET', path: `/pets/${encodeURIComponent(text)}${query}` };
  if (text === '') return { request, expected: rejected(404, 'route_not_found') };
  return {
    request,
    expected: !scopes.includes('pets:read') ? forbidden : query ? rejected(400, 'invalid_query') : found,
    operation: { path: '/pets/{petId}', method: 'get' },
  };
}

function planCreate(store: ModelStore, { animal, mediaType }: Of<'create'>, { scopes }: Credentials): Plan {
  const apply = (body: unknown) => {
    if ('rejection' in animal) return;
    const created = body as ModelAnimal;
    if (created.id <= (store.animals.at(-1)?.id ?? 0n)) throw new Error('ids must increase');
    if (comparable([created]) !== comparable([{ ...animal, id: created.id }])) throw new Error('the animal must be as it was sent');
    store.animals.push(created);
  };
  const outcome = 'rejection' in animal ? rejected(400, animal.rejection) : { status: 201, apply };
  const isJson = /^application\/json(;|$)/i.test(mediaType);
  return {
    request: { method: 'POST', path: '/pets', headers: { 'content-type': mediaType }, raw: animal.body },
    expected: !scopes.includes('pets:write') ? forbidden : isJson ? outcome : rejected(415, 'unsupported_media_type'),
    operation: { path: '/pets', method: 'post' },
  };
}

function planPlace(store: ModelStore, { id: drawn }: Of<'place'>, { scopes, subject }: Credentials): Plan {
  const text = fill(store, drawn);
  const petId = readId(text);
  const animal = petId === undefined ? undefined : store.find(petId);
  const apply = (body: unknown) => {
    const order = { ...(body as ModelOrder), client: subject };
    if (order.petId !== petId || order.status !== 'placed') throw new Error('the order must be as it was placed');
    store.orders.push(order);
    store.setStatus(petId, 'pending');
  };
  const unfit =
    petId === undefined ? rejected(400, 'invalid_body') : animal ? rejected(409, 'pet_not_available') : rejected(404, 'pet_not_found');
  const found: Expected = animal?.status === 'available' ? { status: 201, apply } : unfit;
  const petText = petId === undefined || text === '-0' ? JSON.stringify(text) : text;
  return {
    request: {
      method: 'POST',
      path: '/store/orders',
      raw: `{"petId":${petText},"adopter":{"name":"Ada Lovelace","email":"ada${petText.replace(/\W/g, '')}@example.org"}}`,
    },
    expected: scopes.includes('orders:write') ? found : forbidden,
    operation: { path: '/store/orders', method: 'post' },
  };
}

function planCancel(store: ModelStore, { order: index }: Of<'cancel'>, { scopes, subject }: Credentials): Plan {
  const order = pick(store.orders, index);
  const apply = (body: unknown) => {
    if (!order || (body as ModelOrder).status !== 'cancelled') throw new Error('the order must be cancelled');
    order.status = 'cancelled';
    store.setStatus(order.petId, 'available');
  };
  const mine = order?.client === subject ? order : undefined;
  const found =
    mine?.status === 'placed' ? { status: 200, apply } : mine ? rejected(409, 'order_state_conflict') : rejected(404, 'order_not_found');
  return {
    request: { method: 'POST', path: `/store/orders/${order?.id ?? 0}/cancel` },
    expected: scopes.includes('orders:write') ? found : forbidden,
    operation: { path: '/store/orders/{orderId}/cancel', method: 'post' },
  };
}

function expectPage(page: ModelPage | 'invalid_query' | 'invalid_cursor', { scopes }: Credentials): Expected {
  if (!scopes.includes('pets:read')) return forbidden;
  if (typeof page === 'string') return rejected(400, page);
  return {
    status: 200,
    page,
    content: { text: comparable(page.animals), more: page.more, serialise: (body) => comparable(body as ModelAnimal[]) },
  };
}

function fill(store: ModelStore, value: Drawn): string {
  if ('text' in value) return value.text;
  if ('knownId' in value) return String(pick(store.animals, value.knownId)?.id ?? 1);
  return `${pick(store.links, value.knownCursor)?.cursor ?? 'none'}${value.suffix}`;
}

const pick = <T>(list: readonly T[], index: number): T | undefined => list[index % Math.max(list.length, 1)];

const queryText = (query: Query) => (query.length > 0 ? `?${query.map((pair) => pair.map(encodeURIComponent).join('=')).join('&')}` : '');
