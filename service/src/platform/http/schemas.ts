import type { IncomingMessage, ServerResponse } from 'node:http';
import type { FastifyBaseLogger, FastifyInstance, FastifyTypeProvider, RawServerDefault } from 'fastify';
import { type Static, type TSchema, Type } from 'typebox';
import { controls, controlsButLineFeed, reorderings } from '../characters.ts';
import { type ErrorCode, errorCodes } from '../errors.ts';

/** An int64: plain JSON Schema in documents and serialisation. Validation converts it to a BigInt. */
export const Int64 = (options: Record<string, unknown> = {}) => Type.Unsafe<bigint>({ type: 'integer', format: 'int64', ...options });

/** Of a response: the serializer can't tell a BigInt from other types in a union, so the document says it in its own way. */
export const Int64OrNull = (options: Record<string, unknown>) =>
  Type.Unsafe<bigint | null>({ type: 'integer', format: 'int64', nullable: true, ...options });

/**
 * The ids in a path, with their descriptions. They are documented as int64 but passed to the route as strings: a string
 * that is not an int64 is 404, like any other unknown id, and not 400.
 */
export const PathIds = <Name extends string>(descriptions: Readonly<Record<Name, string>>) =>
  Type.Unsafe<Record<Name, string>>({
    type: 'object',
    properties: Object.fromEntries(
      Object.entries(descriptions).map(([name, description]) => [name, { type: 'integer', format: 'int64', description }]),
    ),
    required: Object.keys(descriptions),
  });

export const StringEnum = <T extends string>(values: readonly T[], options: Record<string, unknown> = {}) =>
  Type.Unsafe<T>({ type: 'string', enum: values, ...options });

/** An animal's name. The characters that it accepts are part of the published interface. */
export const NameText = (description: string, examples: string[]) =>
  Type.String({ ...nameWithout(controls, 'control characters or lone surrogates'), description, examples });

/** One line, such as the name of a category or an adopter. Unlike an animal's name, it also rejects bidirectional overrides. */
export const PlainName = (description: string, examples: string[], lengthMax?: number) =>
  Type.String({ ...nameWithout(controls + reorderings, rejectedInPlainText, lengthMax), description, examples });

/** Free text of several lines. */
export const PlainText = (description: string, examples: string[], lengthMax = 200) =>
  Type.String({
    description,
    maxLength: lengthMax,
    pattern: `^[^${controlsButLineFeed}${reorderings}]*$`,
    'x-must-not-contain': controlsButLineFeed + reorderings,
    'x-must-be': `a string of at most ${lengthMax.toLocaleString('en')} characters, without control characters other than line feeds, lone surrogates or bidirectional overrides`,
    examples,
  });

const rejectedInPlainText = 'control characters, lone surrogates or bidirectional overrides';

/** The pattern takes linear time: spaces, one character that is not a space, then anything that is not rejected. */
const nameWithout = (rejected: string, inWords: string, lengthMax = 200) => ({
  minLength: 1,
  maxLength: lengthMax,
  pattern: `^[\\p{Zs}\\u2028\\u2029\\ufeff]*[^\\s${rejected}][^${rejected}]*$`,
  'x-must-not-contain': rejected,
  'x-must-be': `a string of 1–${lengthMax} characters, not blank, without ${inWords}`,
});

/** Casts a schema to the type of plain JSON Schema, for APIs that accept only that. */
export const jsonSchema = (schema: TSchema) => schema as { type?: 'object' };

/** A reference to a shared schema by its $id, so that the OpenAPI document contains it once. */
export const Ref = <T extends TSchema & { $id?: string }>(schema: T) => Type.Unsafe<Static<T>>({ $ref: `${schema.$id}#` });

export const ErrorSchema = Type.Object(
  {
    // Not an enum: a new code must not break existing clients.
    code: Type.String({ description: 'Machine-readable error code.', 'x-extensible-enum': Object.keys(errorCodes) }),
    message: Type.String({ description: 'What was wrong, with the value received, and what to do.' }),
    status: Type.Integer({ description: 'The HTTP status code of the response.' }),
  },
  { $id: 'Error', description: 'The body of every error response. Its Link header with rel="help" leads to the help page of the code.' },
);

const rateHeaders = {
  'X-RateLimit-Limit': { type: 'integer', description: 'The limit of the window that has fewer requests remaining.' },
  'X-RateLimit-Remaining': { type: 'integer', description: 'Requests remaining in that window.' },
  'X-RateLimit-Reset': { type: 'integer', description: 'Unix timestamp at which that window ends.' },
  'RateLimit-Policy': { type: 'string', description: 'Both windows: quota (q) and length in seconds (w).' },
  RateLimit: { type: 'string', description: 'Both windows: requests remaining (r) and seconds until the end (t).' },
  'X-Request-Id': { type: 'string', description: 'The id of this request. Include it when you report a problem.' },
};

/** The response to every successful read has it. */
export const etagHeader = { ETag: { type: 'string', description: 'A hash of the response, for If-None-Match.' } };

/** The response to every request that creates something has it. */
export const locationHeader = { Location: { type: 'string', description: 'The path of what was created.' } };

export const notModified = {
  type: 'null',
  description: 'Unchanged since the ETag in If-None-Match; no body. Counts as a request.',
  headers: { ...rateHeaders, ...etagHeader },
};

const statusHeaders: Record<number, Record<string, { type: string; description: string }>> = {
  401: { 'WWW-Authenticate': { type: 'string', description: 'Bearer, with error="invalid_token" if a key was sent.' } },
  429: {
    'Retry-After': {
      type: 'integer',
      description: 'Seconds to wait. After a 429 for the limit per minute, requests before then count towards a ban.',
    },
    'X-RateLimit-Strikes-Remaining': { type: 'integer', description: 'How many more requests before then lead to a ban of the key.' },
  },
  503: { 'Retry-After': { type: 'integer', description: 'Seconds to wait.' } },
};

export function jsonResponse(description: string, schema: TSchema, headers: Record<string, { type: string; description: string }> = {}) {
  return { description, headers: { ...rateHeaders, ...headers }, content: { 'application/json': { schema } } };
}

const alwaysPossible: ErrorCode[] = [
  'api_key_missing',
  'api_key_invalid',
  'api_key_expired',
  'api_key_revoked',
  'insufficient_scope',
  'client_suspended',
  'rate_limit_exceeded',
  'api_key_banned',
  'internal_error',
  'unavailable',
];

/** The error responses of an operation, one for each status, generated from the table of codes. */
export function errorResponses(...codes: ErrorCode[]) {
  const byStatus = new Map<number, ErrorCode[]>();
  for (const code of [...codes, ...alwaysPossible]) {
    const { status } = errorCodes[code];
    byStatus.set(status, [...(byStatus.get(status) ?? []), code]);
  }
  return Object.fromEntries([...byStatus].sort(([a], [b]) => a - b).map(([status, list]) => [status, errorResponse(status, list)]));
}

function errorResponse(status: number, codes: ErrorCode[]) {
  const description = codes.map((code) => `\`${code}\`: ${errorCodes[code].cause}`).join('\n\n');
  const response = jsonResponse(description, Ref(ErrorSchema), statusHeaders[status]);
  const examples = Object.fromEntries(codes.map((code) => [code, { value: { code, message: errorCodes[code].message, status } }]));
  return { ...response, content: { 'application/json': { ...response.content['application/json'], examples } } };
}

/** The errors of every operation with a body. */
export const bodyErrors = ['invalid_json', 'invalid_body', 'body_too_large', 'unsupported_media_type'] as const satisfies ErrorCode[];

/** The header that every POST accepts, and its errors. */
export const idempotencyHeader = Type.Object({
  'idempotency-key': Type.Optional(
    Type.String({
      description: 'Makes retries safe: within 24 hours, a retry gets the first response again. Use a random UUID for each request.',
    }),
  ),
});
export const idempotencyErrors = [
  'invalid_idempotency_key',
  'idempotency_in_progress',
  'idempotency_key_reused',
] as const satisfies ErrorCode[];

export const EmailText = (description: string, example: string) =>
  Type.String({
    description,
    maxLength: 254,
    pattern: emailPattern(),
    'x-must-not-contain': rejectedInEmail,
    'x-must-be': `an e-mail address of at most 254 characters, such as ${example}`,
    examples: [example],
  });

/** Includes invisible characters such as U+200B, so that two different addresses can't look the same. */
const rejectedInEmail = `${controls}\\p{Cf}`;

/**
 * A deliverable e-mail address: no quoted local part, and a domain with a top level. The pattern runs in linear time, since
 * no two neighbouring parts of the pattern match the same character.
 */
function emailPattern(): string {
  const atom = `[^\\s${rejectedInEmail}"<>()\\[\\]\\\\,;:@.]+`;
  const [letter, inner] = ['\\p{L}', '[\\p{L}\\p{M}\\p{Nd}]'];
  const label = `${inner}+(?:-+${inner}+)*`;
  const topLevel = `${letter}${inner}+(?:-+${inner}+)*`;
  return `^(?=[^@]{1,64}@)${atom}(?:\\.${atom})*@(?:${label}\\.)+${topLevel}$`;
}

interface ObjectSchema {
  readonly description?: string;
  readonly properties?: Readonly<Record<string, ObjectSchema>>;
}

/**
 * Makes a body reject fields that it does not have, at every level: a misspelt one must not be lost in silence. Fields that only the
 * resource has, as responses show it, are read-only: they are ignored, so that what a GET has returned can be sent back. Objects with
 * names of the caller's choice stay open.
 */
export const closedBody = <Body extends TSchema>(body: Body, resource: TSchema = {}): Body => close(body, resource) as Body;

function close(body: ObjectSchema, resource: ObjectSchema): ObjectSchema {
  if (!body.properties) return body;
  const own = Object.entries(body.properties).map(([name, field]) => [name, close(field, resource.properties?.[name] ?? {})] as const);
  const others = Object.entries(resource.properties ?? {}).filter(([name]) => !Object.hasOwn(body.properties ?? {}, name));
  const readOnly = others.map(([name, { description }]) => [name, { ...(description && { description }), readOnly: true }] as const);
  return { ...body, properties: Object.fromEntries([...own, ...readOnly]), additionalProperties: false } as ObjectSchema;
}

/** Derives a handler's types from its schemas. */
interface SchemaTypes extends FastifyTypeProvider {
  validator: this['schema'] extends TSchema ? Static<this['schema']> : unknown;
  serializer: unknown;
}

/** The part of the app with the routes under /v1. */
export type Api = FastifyInstance<RawServerDefault, IncomingMessage, ServerResponse, FastifyBaseLogger, SchemaTypes>;
