// The access matrix: the scope that each operation must require, the kinds of caller, and the response that each must get.
import type { Scope } from '../service/src/domain/scopes.ts';
import { errorCodes } from '../service/src/platform/errors.ts';
import { adopter } from './adopters.ts';

/** For an operation that any valid key may call. */
const noScope = 'no scope';

export interface MatrixRow {
  /** One of several is enough. */
  readonly scope: Scope | readonly Scope[] | typeof noScope;
  /** The object in the path belongs to one client. Animals and categories are shared by all clients. */
  readonly owned?: true;
  readonly body?: unknown;
  /** The status for a caller that has the scope. It is the same for every caller: most requests name an id that does not exist. */
  readonly allowed: number;
}

/** An origin on this machine on which nothing listens, so that a worker can safely send to it. */
export const unusedOrigin = 'http://127.0.0.1:9';

// Not derived from the table of scopes, which they check.
const staffScopes: readonly Scope[] = ['store:manage', 'shelter:manage'];
const applicationWriteScopes: readonly Scope[] = ['applications:write', 'orders:write'];
const petWriteScopes: readonly Scope[] = ['pets:write', 'store:manage', 'shelter:manage'];

/** Every operation of the API, with its scope. If the API has other operations or scopes, a claim fails. */
export const matrix: Readonly<Record<string, MatrixRow>> = {
  'get /pets': { scope: 'pets:read', allowed: 200 },
  'post /pets': { scope: 'pets:write', body: { name: 'Biscuit', categoryId: 1 }, allowed: 201 },
  'get /pets/{petId}': { scope: 'pets:read', allowed: 404 },
  'patch /pets/{petId}': { scope: petWriteScopes, body: { name: 'Biscuit II' }, allowed: 404 },
  'delete /pets/{petId}': { scope: petWriteScopes, allowed: 404 },
  'get /pets/{petId}/hold': { scope: staffScopes, allowed: 404 },
  'put /pets/{petId}/hold': { scope: staffScopes, body: { reason: 'medical' }, allowed: 404 },
  'delete /pets/{petId}/hold': { scope: staffScopes, allowed: 404 },
  'put /pets/{petId}/shelter': { scope: 'store:manage', body: { shelterId: 1 }, allowed: 404 },
  'post /pets/{petId}/outcome': { scope: staffScopes, body: { type: 'other' }, allowed: 404 },
  'get /pets/{petId}/outcome': { scope: staffScopes, allowed: 404 },
  'delete /pets/{petId}/outcome': { scope: staffScopes, allowed: 404 },
  'get /shelters': { scope: 'pets:read', allowed: 200 },
  'post /shelters': { scope: 'store:manage', body: { name: 'Danube Shelter' }, allowed: 201 },
  'get /shelters/{shelterId}': { scope: 'pets:read', allowed: 404 },
  'patch /shelters/{shelterId}': { scope: staffScopes, body: { phone: null }, allowed: 404 },
  'get /shelters/{shelterId}/questions': { scope: 'pets:read', allowed: 404 },
  'put /shelters/{shelterId}/questions': { scope: staffScopes, body: { questions: [] }, allowed: 404 },
  'get /site': { scope: 'pets:read', allowed: 200 },
  'patch /site': { scope: 'store:manage', body: { imprint: 'Matrix' }, allowed: 200 },
  'get /pets/{petId}/profile': { scope: 'pets:read', allowed: 404 },
  'put /pets/{petId}/profile': { scope: petWriteScopes, body: {}, allowed: 404 },
  'patch /pets/{petId}/profile': { scope: petWriteScopes, body: {}, allowed: 404 },
  'get /pets/{petId}/photos': { scope: 'pets:read', allowed: 404 },
  'post /pets/{petId}/photos': { scope: petWriteScopes, allowed: 404 },
  'get /pets/{petId}/photos/{photoId}': { scope: 'pets:read', allowed: 404 },
  'patch /pets/{petId}/photos/{photoId}': { scope: petWriteScopes, body: { alt: 'Biscuit' }, allowed: 404 },
  'delete /pets/{petId}/photos/{photoId}': { scope: petWriteScopes, allowed: 404 },
  'get /listings': { scope: 'pets:read', allowed: 200 },
  'get /listings/facets': { scope: 'pets:read', allowed: 200 },
  'get /categories': { scope: 'pets:read', allowed: 200 },
  // A PUT with any id succeeds: it creates the category, or sets the same name again.
  'put /categories/{categoryId}': { scope: 'store:manage', body: { name: 'Matrix' }, allowed: 200 },
  // The category from the line above has a name, so it can't be deleted.
  'delete /categories/{categoryId}': { scope: 'store:manage', allowed: 409 },
  'get /events': { scope: 'pets:read', allowed: 200 },
  'get /store/orders': { scope: 'orders:read', allowed: 200 },
  'post /store/orders': { scope: 'orders:write', body: { petId: 4711, adopter }, allowed: 404 },
  'get /store/orders/{orderId}': { scope: 'orders:read', owned: true, allowed: 404 },
  'post /store/orders/{orderId}/approve': { scope: staffScopes, owned: true, allowed: 404 },
  'post /store/orders/{orderId}/complete': { scope: staffScopes, owned: true, allowed: 404 },
  'post /store/orders/{orderId}/cancel': { scope: 'orders:write', owned: true, allowed: 404 },
  'post /store/orders/{orderId}/return': { scope: staffScopes, owned: true, allowed: 404 },
  'get /applications': { scope: 'orders:read', allowed: 200 },
  'post /applications': { scope: applicationWriteScopes, body: { petId: 4711, adopter }, allowed: 404 },
  'get /applications/{applicationId}': { scope: 'orders:read', owned: true, allowed: 404 },
  'patch /applications/{applicationId}': { scope: staffScopes, owned: true, body: { note: 'Has a garden.' }, allowed: 404 },
  'delete /applications/{applicationId}': { scope: applicationWriteScopes, owned: true, allowed: 404 },
  'post /applications/{applicationId}/review': { scope: staffScopes, owned: true, allowed: 404 },
  'post /applications/{applicationId}/accept': { scope: staffScopes, owned: true, allowed: 404 },
  'post /applications/{applicationId}/decline': { scope: staffScopes, owned: true, body: {}, allowed: 404 },
  'post /applications/{applicationId}/reopen': { scope: staffScopes, owned: true, allowed: 404 },
  'post /applications/{applicationId}/withdraw': { scope: [...applicationWriteScopes, ...staffScopes], owned: true, allowed: 404 },
  'get /webhooks': { scope: 'webhooks:manage', allowed: 200 },
  'post /webhooks': { scope: 'webhooks:manage', body: { url: `${unusedOrigin}/hooks` }, allowed: 201 },
  'get /webhooks/{webhookId}': { scope: 'webhooks:manage', owned: true, allowed: 404 },
  'patch /webhooks/{webhookId}': { scope: 'webhooks:manage', owned: true, body: { status: 'disabled' }, allowed: 404 },
  'delete /webhooks/{webhookId}': { scope: 'webhooks:manage', owned: true, allowed: 404 },
  'post /webhooks/{webhookId}/rotate-secret': { scope: 'webhooks:manage', owned: true, allowed: 404 },
  'post /webhooks/{webhookId}/test': { scope: 'webhooks:manage', owned: true, allowed: 404 },
  'get /webhooks/{webhookId}/deliveries': { scope: 'webhooks:manage', owned: true, allowed: 404 },
  'get /webhooks/{webhookId}/deliveries/{deliveryId}': { scope: 'webhooks:manage', owned: true, allowed: 404 },
  'post /webhooks/{webhookId}/replay': { scope: 'webhooks:manage', owned: true, body: { failed: true }, allowed: 404 },
  'get /usage': { scope: noScope, allowed: 200 },
};

/** The id in all paths of the matrix. */
export const absentId = 4711;

export interface Caller {
  readonly name: string;
  readonly scopes: readonly Scope[];
  /** Undefined if the caller sends no key. */
  readonly key: string | undefined;
  /** The error code, if the key is missing or not valid. */
  readonly rejectedAs?: 'api_key_missing' | 'api_key_revoked' | 'api_key_expired' | 'client_suspended';
}

/** The expected status of an operation for a caller, and the error code if the caller itself is rejected. */
export function expectedOutcome({ scope, allowed }: MatrixRow, { scopes, rejectedAs }: Caller): string {
  if (rejectedAs) return `${errorCodes[rejectedAs].status} ${rejectedAs}`;
  const isAllowed = scope === noScope || [scope].flat().some((one) => scopes.includes(one));
  return isAllowed ? String(allowed) : '403 insufficient_scope';
}

export interface ApiPaths {
  readonly paths: Readonly<Record<string, Readonly<Record<string, { readonly 'x-scope'?: string }>>>>;
}

/** The differences between the matrix and the service's OpenAPI document, in both directions. */
export function differencesFrom({ paths }: ApiPaths): string[] {
  const documented = new Map<string, string>(
    Object.entries(paths).flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, operation]) => [`${method} ${path}`, operation['x-scope'] ?? noScope]),
    ),
  );
  return [
    ...[...documented.keys()].filter((operation) => !(operation in matrix)).map((operation) => `${operation} is not in the matrix`),
    ...Object.keys(matrix)
      .filter((operation) => !documented.has(operation))
      .map((operation) => `${operation} does not exist`),
    ...[...documented]
      .filter(([operation, scope]) => operation in matrix && scopeOf(operation) !== scope)
      .map(([operation, scope]) => `${operation} needs ${scope}, not ${scopeOf(operation)}`),
  ];
}

const scopeOf = (operation: string) => [matrix[operation]?.scope].flat().join(' or ');
