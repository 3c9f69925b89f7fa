import type { FastifyContextConfig, FastifyReply } from 'fastify';
import { type TObject, type TSchema, Type } from 'typebox';
import { parseInt64 } from '../../platform/db/int64.ts';
import { AppError, type ErrorCode } from '../../platform/errors.ts';
import { nextLink } from '../../platform/http/paging.ts';
import { matchesEtag } from '../../platform/http/protocol/representations.ts';
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
