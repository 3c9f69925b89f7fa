import { Ajv, type ErrorObject, type ValidateFunction } from 'ajv';
import type { FastifySchemaCompiler } from 'fastify';
import { findCharacter } from '../characters.ts';
import { int64Max, int64Min, parseInt64 } from '../db/int64.ts';
import { AppError, show } from '../errors.ts';

type Json = Record<string, unknown>;

/**
 * Compiles the schemas of the routes. Query parameters are converted from text to the schema's type. Nothing else is
 * coerced, clamped or dropped.
 */
export function createValidatorCompiler(shared: readonly object[]): FastifySchemaCompiler<unknown> {
  const ajv = new Ajv({ useDefaults: true, verbose: true, formats: { int64: true } });
  ajv.addKeyword({ keyword: 'int64', modifying: true, errors: false, validate: validateInt64 });
  ajv.addKeyword('x-must-be');
  ajv.addKeyword('x-must-not-contain');
  for (const schema of shared) ajv.addSchema(withInt64Keyword(schema) as Json);
  return ({ schema, httpPart }) => {
    // Routes parse the ids in a path themselves: an invalid id is 404, not 400.
    if (httpPart === 'params') return () => true;
    const validate = ajv.compile(withInt64Keyword(schema as Json) as Json);
    return httpPart === 'querystring' ? validateQuery(validate, schema as Json) : validateBody(validate);
  };
}

const validateBody = (validate: ValidateFunction) => (body: unknown) => {
  if (validate(body)) return { value: body };
  return { error: new AppError('invalid_body', describeBodyError(body, validate.errors?.at(-1))) };
};

function validateQuery(validate: ValidateFunction, schema: Json) {
  const properties = (schema['properties'] ?? {}) as Record<string, Json>;
  return (query: Record<string, string | string[]>) => {
    const value: Json = {};
    for (const [name, received] of Object.entries(query)) {
      const property = Object.hasOwn(properties, name) ? properties[name] : undefined;
      if (!property) return { error: new AppError('invalid_query', unknownParameter(name, Object.keys(properties))) };
      const repeatable = property['type'] === 'array';
      if (Array.isArray(received) && !repeatable) {
        return { error: new AppError('invalid_query', `${name} is given ${received.length} times; give it once.`) };
      }
      const type = repeatable ? (property['items'] as Json) : property;
      const texts = Array.isArray(received) ? received : [received];
      const values = texts.map((text) => readText(text, type));
      value[name] = repeatable ? values : values[0];
    }
    if (validate(value)) return { value };
    return { error: new AppError('invalid_query', describeQueryError(validate.errors?.[0])) };
  };
}

/** A string that is not an integer stays a string: the schema rejects it, and the message can show it. */
function readText(text: string, type: Json): unknown {
  if (type['type'] !== 'integer') return text;
  const value = parseInt64(text);
  if (value === undefined) return text;
  if (type['format'] === 'int64') return value;
  return Number.isSafeInteger(Number(value)) ? Number(value) : text;
}

/** Ajv accepts only a double as an integer, so a custom keyword validates an int64 and converts it to a BigInt. */
function withInt64Keyword(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(withInt64Keyword);
  if (typeof schema !== 'object' || schema === null) return schema;
  const { format, type, ...rest } = schema as Json;
  if (type === 'integer' && format === 'int64') return { ...rest, int64: true };
  return Object.fromEntries(Object.entries(schema).map(([key, value]) => [key, withInt64Keyword(value)]));
}

function validateInt64(
  _: unknown,
  value: unknown,
  __: unknown,
  context?: { parentData: Json | unknown[]; parentDataProperty: string | number },
): boolean {
  if (typeof value === 'bigint') {
    if (value < int64Min || value > int64Max) return false;
  } else if (!Number.isSafeInteger(value)) return false;
  if (context) (context.parentData as Json)[context.parentDataProperty] = BigInt(value as number);
  return true;
}

function describeBodyError(body: unknown, error: ErrorObject | undefined): string {
  const { 'x-must-be': expected = 'a JSON object' } = (error?.parentSchema ?? {}) as { 'x-must-be'?: string };
  // Fastify passes null for an empty body too.
  if (body === null) return `The request body is empty or null. Send ${expected}.`;
  const field = fieldOf(error?.instancePath ?? '') || 'The body';
  if (error?.keyword === 'required') {
    const missing = String(error.params['missingProperty']);
    return `${error.instancePath ? `${field}.` : ''}${missing} is required.`;
  }
  return describe(field, error);
}

/** `/adopter/email` becomes `adopter.email`, and `/types/0` becomes `types[0]`. */
const fieldOf = (instancePath: string) =>
  instancePath
    .slice(1)
    .replaceAll(/\/(\d+)/g, '[$1]')
    .replaceAll('/', '.');

function describeQueryError(error: ErrorObject | undefined): string {
  if (error?.keyword === 'required') return `The query parameter ${error.params['missingProperty']} is required.`;
  const [field = '', index] = (error?.instancePath ?? '').slice(1).split('/');
  if (error?.keyword === 'int64' && index !== undefined && /^-?\d+(\s*,\s*-?\d+)+$/.test(String(error.data))) {
    return `${field} must be an integer. To ask for several, repeat it: ${field}=1&${field}=2.`;
  }
  return describe(field || 'The query', error);
}

function describe(field: string, error: ErrorObject | undefined): string {
  return `${field} must be ${expectation(error)}; got ${show(error?.data)}.${rejectedCharacter(error)}`;
}

/** Names the character, since it may be invisible, or beyond the part of the value that is shown. */
function rejectedCharacter(error: ErrorObject | undefined): string {
  const rejected = (error?.parentSchema as Json | undefined)?.['x-must-not-contain'];
  const found = error?.keyword === 'pattern' && typeof rejected === 'string' ? findCharacter(String(error.data), rejected) : undefined;
  return found ? ` It contains ${found}.` : '';
}

function expectation(error: ErrorObject | undefined): string {
  const schema = (error?.parentSchema ?? {}) as Json;
  if (typeof schema['x-must-be'] === 'string') return schema['x-must-be'];
  if (Array.isArray(schema['enum'])) return `one of ${schema['enum'].join(', ')}`;
  if (schema['int64']) return 'an integer (int64)';
  const { minimum, maximum, type } = schema as { minimum?: number; maximum?: number; type?: string };
  if (minimum !== undefined && maximum !== undefined) return `an integer from ${minimum} to ${maximum}`;
  if (error?.keyword === 'maxItems') return `given at most ${error.params['limit']} times`;
  if (error?.keyword === 'maxLength' || error?.keyword === 'minLength') return `a string of ${lengthsOf(schema)} characters`;
  return type === 'integer' || type === 'object' || type === 'array' ? `an ${type}` : `a ${type ?? 'valid value'}`;
}

/** `1–2,000`, `at most 2,000` or `at least 1`. */
function lengthsOf({ minLength = 0, maxLength }: { minLength?: number; maxLength?: number }): string {
  const [min, max] = [minLength.toLocaleString('en'), maxLength?.toLocaleString('en')];
  if (max === undefined) return `at least ${min}`;
  return minLength > 0 ? `${min}–${max}` : `at most ${max}`;
}

function unknownParameter(name: string, known: string[]): string {
  const cut = name.length > 40 ? `${name.slice(0, 40)}…` : name;
  return `Unknown query parameter ${show(cut)}. ${known.length > 0 ? `This operation takes ${known.join(', ')}.` : 'This operation takes none.'}`;
}
