// Who may do what: every operation with the scope that it must need, every kind of caller, and what the one must answer the other.
import type { Scope } from '../service/src/domain/scopes.ts';
import { errorCodes } from '../service/src/errors.ts';
import { adopter } from './adopters.ts';

export interface MatrixRow {
  readonly scope: Scope;
  /** What it names belongs to one client; the catalogue is everybody's. */
  readonly owned?: true;
  readonly body?: unknown;
  /** What the sample is answered by a caller that holds the scope. Its ids name nothing, so that no caller changes what the next one meets. */
  readonly allowed: number;
}

/** An endpoint on this machine, at which nothing listens: a worker that sends to it leaves no trace elsewhere. */
export const nowhere = 'http://127.0.0.1:9';

/** Every operation of the API. One that is missing here, or stands here under another scope than its own, is a broken claim. */
export const matrix: Readonly<Record<string, MatrixRow>> = {
  'get /pets': { scope: 'pets:read', allowed: 200 },
  'post /pets': { scope: 'pets:write', body: { name: 'Biscuit', categoryId: 1 }, allowed: 201 },
  'get /pets/{petId}': { scope: 'pets:read', allowed: 404 },
  'patch /pets/{petId}': { scope: 'store:manage', body: { name: 'Biscuit II' }, allowed: 404 },
  'delete /pets/{petId}': { scope: 'store:manage', allowed: 404 },
  'get /categories': { scope: 'pets:read', allowed: 200 },
  // A category of any id can be named: this one alone names something, and gives it the name that it has.
  'put /categories/{categoryId}': { scope: 'store:manage', body: { name: 'Matrix' }, allowed: 200 },
  // That one, which has a name.
  'delete /categories/{categoryId}': { scope: 'store:manage', allowed: 409 },
  'get /events': { scope: 'pets:read', allowed: 200 },
  'get /store/orders': { scope: 'orders:read', allowed: 200 },
  'post /store/orders': { scope: 'orders:write', body: { petId: 4711, adopter }, allowed: 404 },
  'get /store/orders/{orderId}': { scope: 'orders:read', owned: true, allowed: 404 },
  'post /store/orders/{orderId}/approve': { scope: 'store:manage', owned: true, allowed: 404 },
  'post /store/orders/{orderId}/complete': { scope: 'store:manage', owned: true, allowed: 404 },
  'post /store/orders/{orderId}/cancel': { scope: 'orders:write', owned: true, allowed: 404 },
  'post /store/orders/{orderId}/return': { scope: 'store:manage', owned: true, allowed: 404 },
  'get /webhooks': { scope: 'webhooks:manage', allowed: 200 },
  'post /webhooks': { scope: 'webhooks:manage', body: { url: `${nowhere}/hooks`, types: ['pet.created'] }, allowed: 201 },
  'get /webhooks/{webhookId}': { scope: 'webhooks:manage', owned: true, allowed: 404 },
  'patch /webhooks/{webhookId}': { scope: 'webhooks:manage', owned: true, body: { status: 'disabled' }, allowed: 404 },
  'delete /webhooks/{webhookId}': { scope: 'webhooks:manage', owned: true, allowed: 404 },
  'post /webhooks/{webhookId}/rotate-secret': { scope: 'webhooks:manage', owned: true, allowed: 404 },
  'post /webhooks/{webhookId}/test': { scope: 'webhooks:manage', owned: true, allowed: 404 },
  'get /webhooks/{webhookId}/deliveries': { scope: 'webhooks:manage', owned: true, allowed: 404 },
  'get /webhooks/{webhookId}/deliveries/{deliveryId}': { scope: 'webhooks:manage', owned: true, allowed: 404 },
  'post /webhooks/{webhookId}/replay': { scope: 'webhooks:manage', owned: true, body: { failed: true }, allowed: 404 },
};

/** The id that the samples name. */
export const absentId = 4711;

export interface Caller {
  readonly name: string;
  readonly scopes: readonly Scope[];
  /** Undefined: it sends none. */
  readonly key: string | undefined;
  /** Why it is nobody, whatever its scopes are. */
  readonly refusedAs?: 'api_key_missing' | 'api_key_revoked' | 'api_key_expired' | 'client_suspended';
}

/** What an operation must answer a caller: the status, and the code where it refuses the caller itself. */
export function expectedOf({ scope, allowed }: MatrixRow, { scopes, refusedAs: rejectedAs }: Caller): string {
  if (rejectedAs) return `${errorCodes[rejectedAs].status} ${rejectedAs}`;
  return scopes.includes(scope) ? String(allowed) : '403 insufficient_scope';
}

export interface ApiPaths {
  readonly paths: Readonly<Record<string, Readonly<Record<string, { readonly 'x-scope'?: string }>>>>;
}

/** Where the matrix and the service's own document differ, both ways. */
export function differencesFrom({ paths }: ApiPaths): string[] {
  const documented = new Map<string, string>(
    Object.entries(paths).flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, operation]) => [`${method} ${path}`, operation['x-scope'] ?? 'no scope']),
    ),
  );
  return [
    ...[...documented.keys()].filter((operation) => !(operation in matrix)).map((operation) => `${operation} is not in the matrix`),
    ...Object.keys(matrix)
      .filter((operation) => !documented.has(operation))
      .map((operation) => `${operation} does not exist`),
    ...[...documented]
      .filter(([operation, scope]) => operation in matrix && matrix[operation]?.scope !== scope)
      .map(([operation, scope]) => `${operation} needs ${scope}, not ${matrix[operation]?.scope}`),
  ];
}
