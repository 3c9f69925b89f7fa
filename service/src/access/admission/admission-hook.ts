import type { IncomingMessage } from 'node:http';
import type { FastifyContextConfig, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { type TObject, type TSchema, Type } from 'typebox';
import type { ListVersion } from '../../domain/caches.ts';
import { hasOne, type Scope } from '../../domain/scopes.ts';
import { requestSubject } from '../../platform/caller-addresses.ts';
import { parseInt64 } from '../../platform/db/int64.ts';
import { AppError, type ErrorCode } from '../../platform/errors.ts';
import { asAppError, routeNotFound, sendError } from '../../platform/http/error-handler.ts';
import { nextLink } from '../../platform/http/paging.ts';
import { corsHeaders, securityHeaders } from '../../platform/http/protocol/browsers.ts';
import { countOfHeader, requireOneHost } from '../../platform/http/protocol/connections.ts';
import { matchesEtag } from '../../platform/http/protocol/representations.ts';
import { hasEmptyId } from '../../platform/http/routing.ts';
import {
  bodyErrors,
  errorResponses,
  etagHeader,
  idempotencyErrors,
  idempotencyHeader,
  jsonResponse,
  locationHeader,
  notModified,
  Ref,
} from '../../platform/http/schemas.ts';
import type { KeyCaller } from '../principals/principals.ts';
import { insufficientScope } from './access.ts';
import { type Admission, type Rehearsal, sentTwice } from './admission.ts';

interface Declaration<Params, Query, Headers, Body> extends Pick<FastifyContextConfig, 'scope' | 'deprecation'> {
  readonly operationId: string;
  readonly tags: readonly string[];
  readonly summary: string;
  readonly description?: string;
  readonly 'x-stability'?: 'beta' | 'experimental';
  readonly deprecated?: true;
  readonly 'x-sunset'?: string;
  readonly consumes?: readonly string[];
  readonly params?: Params;
  readonly querystring?: Query;
  readonly headers?: Headers;
  readonly body?: Body;
  /** Without those of errors. */
  readonly response: Readonly<Record<number, unknown>>;
  /** Without those that follow from what the operation accepts. */
  readonly errors?: readonly ErrorCode[];
}

/** The options of a route under /v1, from what its operation needs, accepts and returns. */
export function operation<Params, Query, Headers, Body>({
  scope,
  deprecation,
  response,
  errors = [],
  ...schema
}: Declaration<Params, Query, Headers, Body>) {
  const { querystring, headers, body } = schema as { querystring?: TObject; headers?: TObject; body?: object };
  const codes: ErrorCode[] = [
    ...(querystring ? (['invalid_query'] as const) : []),
    ...(querystring?.properties['cursor'] ? (['invalid_cursor'] as const) : []),
    // A body that is not JSON, such as a photo, has errors of its own.
    ...(body && '$ref' in body ? bodyErrors : []),
    ...errors,
    ...(headers === (idempotencyHeader as TObject) ? idempotencyErrors : []),
    ...(headers?.properties['if-match'] ? (['precondition_failed'] as const) : []),
  ];
  return {
    config: { ...(scope && { scope }), ...(deprecation && { deprecation }) },
    schema: { ...schema, response: { ...response, ...errorResponses(...codes) } } as {
      params: Params;
      querystring: Query;
      headers: Headers;
      body: Body;
    },
  };
}

type Shared = TSchema & { $id?: string };
type ResponseHeaders = Parameters<typeof jsonResponse>[2];

/** The responses of an operation that returns a page of a list. */
export const page = (what: string, schema: Shared) => ({
  200: jsonResponse(what, Type.Array(Ref(schema)), { ...nextLink, ...etagHeader }),
  304: notModified,
});

/** Of one that reads: what is not a page has an ETag too. */
export const read = (what: string, schema: Shared, headers: ResponseHeaders = {}) => ({
  200: jsonResponse(what, schema.$id ? Ref(schema) : schema, { ...etagHeader, ...headers }),
  304: notModified,
});

export const created = (what: string, schema: Shared, headers: ResponseHeaders = {}) => ({
  201: jsonResponse(what, Ref(schema), { ...locationHeader, ...headers }),
});

export const updated = (what: string, schema: Shared, headers: ResponseHeaders = {}) => ({ 200: jsonResponse(what, Ref(schema), headers) });

export const noContent = (description: string) => ({ 204: { type: 'null', description } });

export const ifMatch = (what: string) =>
  Type.Object({
    'if-match': Type.Optional(Type.String({ description: `The ${what}'s ETag. Returns 412 if the ${what} has changed since.` })),
  });

/** Throws unless the caller has seen this version. `what` is named by the error. */
export function requireEtag(given: string | undefined, etag: string, what: string): void {
  if (given === undefined || matchesEtag(given, etag)) return;
  throw new AppError('precondition_failed', `${what} has changed: its ETag is now ${etag}. Read it again before you change it.`);
}

/** Reads an id in a path: a text that is no int64 is not found, like an unknown id. */
export const idReader =
  (notFound: (text: string) => AppError) =>
  (text: string): bigint => {
    const id = parseInt64(text);
    if (id === undefined) throw notFound(text);
    return id;
  };

/** Sends a body that is already JSON. */
export const sendJson = (reply: FastifyReply, json: string | Buffer) =>
  reply.type('application/json; charset=utf-8').serializer(alreadySerialized).send(json);

const alreadySerialized = (body: unknown) => String(body);

declare module 'fastify' {
  interface FastifyRequest {
    /** Null until the key is authenticated. Routes under /v1 always have a caller. */
    caller: KeyCaller | null;
    /** As of a time after this request arrived; null: no page may be cached or served from the cache. */
    listVersion: ListVersion | null;
    /** What the request rehearses; null: nothing. Always null in production. */
    rehearsal: Rehearsal | null;
  }
  interface FastifyContextConfig {
    /** The scope that a key must have, or a list of which it must have one. */
    scope?: Scope | readonly Scope[];
  }
}

export type Admit = (request: { authorization: string | undefined; address: () => string; raw: IncomingMessage }) => Promise<Admission>;

/** Authenticates, rate-limits and authorises each request, before its body is read. */
export function addAdmission(api: FastifyInstance, admit: Admit): void {
  api.decorateRequest('caller', null);
  api.decorateRequest('listVersion', null);
  api.decorateRequest('rehearsal', null);
  api.addHook('onRequest', async (request, reply) => {
    await admitRequest(request, reply, admit);
    requireOneHost(request.raw);
    if (hasEmptyId(request)) throw routeNotFound(request);
    requireScope(request);
  });
}

/** For a request that the router rejects before any hook has run: it is authenticated and counted like any other. */
export async function rejectUnroutable(error: AppError, request: FastifyRequest, reply: FastifyReply, admit: Admit): Promise<void> {
  reply.headers(securityHeaders).headers(corsHeaders).header('cache-control', 'no-store');
  const rejection = await admitRequest(request, reply, admit).then(() => error, asAppError);
  sendError(rejection, request, reply);
}

export function callerOf(request: FastifyRequest): KeyCaller {
  if (!request.caller) throw new Error('the route is not behind admission');
  return request.caller;
}

async function admitRequest(request: FastifyRequest, reply: FastifyReply, admit: Admit): Promise<void> {
  const authorization = countOfHeader(request.raw, 'authorization') > 1 ? sentTwice : request.headers.authorization;
  const admission = await admit({ authorization, address: () => requestSubject(request), raw: request.raw });
  reply.headers(admission.headers);
  request.caller = admission.caller ?? null;
  if ('error' in admission) throw admission.error;
  request.listVersion = admission.listVersion ?? null;
  request.rehearsal = admission.rehearsal ?? null;
}

function requireScope(request: FastifyRequest): void {
  const { scope } = request.routeOptions.config;
  const accepted = [scope ?? []].flat();
  const { scopes } = callerOf(request);
  if (accepted.length === 0 || hasOne(scopes, accepted)) return;
  const message = `This operation needs the scope ${accepted.join(' or ')}; this key has ${scopes.join(', ') || 'none'}.`;
  throw insufficientScope(message, accepted);
}
