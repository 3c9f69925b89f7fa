import { type Static, type TSchema, Type } from 'typebox';
import { controls, controlsButLineFeed, reorderings } from '../characters.ts';
import { type ErrorCode, errorCodes } from '../errors.ts';

/** An int64: plain JSON Schema for documents and serialisation; validation turns it into an exact BigInt. */
export const Int64 = (options: Record<string, unknown> = {}) => Type.Unsafe<bigint>({ type: 'integer', format: 'int64', ...options });

/**
 * The ids in a path, each with its description: documented as the int64 that it is and handed to the route as its text. What
 * is no int64 names nothing, which is 404 and not 400.
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

/** An animal's name: what it may hold is part of the interface. */
export const NameText = (description: string, examples: string[]) =>
  Type.String({ ...nameWithout(controls, 'control characters or lone surrogates'), description, examples });

/** Any other name that people read. */
export const PlainName = (description: string, examples: string[]) =>
  Type.String({ ...nameWithout(controls + reorderings, rejectedInPlainText), description, examples });

/** What people write for people, in lines. */
export const PlainText = (description: string, examples: string[]) =>
  Type.String({
    description,
    maxLength: 200,
    pattern: `^[^${controlsButLineFeed}${reorderings}]*$`,
    'x-must-not-contain': controlsButLineFeed + reorderings,
    'x-must-be': `a string of at most 200 characters and line feeds, without other ${rejectedInPlainText}`,
    examples,
  });

const rejectedInPlainText = 'control characters, lone surrogates or bidirectional overrides';

/** The pattern is linear in time: blanks, one character that isn't, then all but what is refused. */
const nameWithout = (rejected: string, inWords: string) => ({
  minLength: 1,
  maxLength: 200,
  pattern: `^[\\p{Zs}\\u2028\\u2029\\ufeff]*[^\\s${rejected}][^${rejected}]*$`,
  'x-must-not-contain': rejected,
  'x-must-be': `a string of 1 to 200 characters, not blank, without ${inWords}`,
});

/** A schema for those who take only plain JSON Schema; it is one, whatever its static type says. */
export const jsonSchema = (schema: TSchema) => schema as { type?: 'object' };

/** Points to a schema that the app knows by its $id, so that the OpenAPI document names it once. */
export const Ref = <T extends TSchema & { $id?: string }>(schema: T) => Type.Unsafe<Static<T>>({ $ref: `${schema.$id}#` });

export const ErrorSchema = Type.Object(
  {
    // Not an enum: a new code must not break a client that was made before it.
    code: Type.String({ description: 'Machine-readable error code.', 'x-extensible-enum': Object.keys(errorCodes) }),
    message: Type.String({ description: 'What was wrong, with the value received, and what to do.' }),
    status: Type.Integer({ description: 'The HTTP status code of the response.' }),
  },
  { $id: 'Error', description: 'Every refusal has this body. The Link header with rel="help" leads to the page of its code.' },
);

const rateHeaders = {
  'X-RateLimit-Limit': { type: 'integer', description: 'The request limit that applies: of the window with fewer requests remaining.' },
  'X-RateLimit-Remaining': { type: 'integer', description: 'Requests remaining in that window.' },
  'X-RateLimit-Reset': { type: 'integer', description: 'Unix timestamp at which that window ends.' },
  'RateLimit-Policy': { type: 'string', description: 'Both windows: quota (q) and length in seconds (w).' },
  RateLimit: { type: 'string', description: 'Both windows: requests remaining (r) and seconds until the end (t).' },
  'X-Request-Id': { type: 'string', description: 'Name this in a report.' },
};

/** On every successful read. */
export const etagHeader = { ETag: { type: 'string', description: 'A hash of the answer, for If-None-Match.' } };

export const notModified = {
  type: 'null',
  description: 'Unchanged since the ETag in If-None-Match; no body. Counts as a request.',
  headers: { ...rateHeaders, ...etagHeader },
};

const statusHeaders: Record<number, Record<string, { type: string; description: string }>> = {
  401: { 'WWW-Authenticate': { type: 'string', description: 'Bearer, with error="invalid_token" where a key was sent.' } },
  429: {
    'Retry-After': { type: 'integer', description: 'Seconds to wait; sending before then counts towards a ban.' },
    'X-RateLimit-Strikes-Remaining': { type: 'integer', description: 'Further requests before then that ban the key.' },
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

/** The refusals of an operation, one response for each status, made from the table of codes. */
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
  const examples = Object.fromEntries(codes.map((code) => [code, { value: { code, message: errorCodes[code].example.message, status } }]));
  return { ...response, content: { 'application/json': { ...response.content['application/json'], examples } } };
}

/** How a body can be refused. */
export const bodyErrors = ['invalid_json', 'invalid_body', 'body_too_large', 'unsupported_media_type'] as const satisfies ErrorCode[];

/** What every POST takes, and how it can refuse it. */
export const idempotencyHeader = Type.Object({
  'idempotency-key': Type.Optional(
    Type.String({
      description: 'Makes a repeat harmless: within 24 hours it gets the first answer again. Use a random UUID for each request.',
    }),
  ),
});
export const idempotencyErrors = [
  'invalid_idempotency_key',
  'idempotency_in_progress',
  'idempotency_key_reused',
] as const satisfies ErrorCode[];
