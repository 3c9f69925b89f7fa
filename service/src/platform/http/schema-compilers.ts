import { Ajv, type ValidateFunction } from 'ajv';
import fastJsonStringify, { type Schema } from 'fast-json-stringify';
import type { FastifyInstance, FastifySchemaCompiler, FastifySerializerCompiler } from 'fastify';
import type { FastifyValidationResult } from 'fastify/types/schema.js';
import { Type } from 'typebox';
import { int64Max, int64Min, parseInt64 } from '../db/int64.ts';
import { AppError } from '../errors.ts';
import {
  describeAll,
  describeBodyError,
  describeQueryError,
  findInvalidFields,
  knownParameters,
  ParameterGuide,
} from './advice/validation-messages.ts';
import { errorResponses } from './schemas.ts';

type Json = Record<string, unknown>;

/**
 * Compiles the schemas of the routes. Query parameters are converted from text to the schema's type. Nothing else is
 * coerced, clamped or dropped. A route that has been compiled, for another server of this process, is not compiled again.
 */
export function createValidatorCompiler(shared: readonly object[]): FastifySchemaCompiler<unknown> {
  const ajv = createAjv();
  for (const schema of shared) ajv.addSchema(withInt64Keyword(schema) as Json);
  const guide = new ParameterGuide();
  const known = new Map<string, FastifyValidationResult>();
  return ({ schema, httpPart, method, url }) => {
    // Routes parse the ids in a path themselves: an invalid id is 404, not 400.
    if (httpPart === 'params') return () => true;
    const text = JSON.stringify([httpPart, method, url, schema]);
    const compiled = withInt64Keyword(schema) as Json;
    const validate =
      known.get(text) ??
      (httpPart === 'querystring' ? validateQuery(ajv, compiled, guide.of(method, url, compiled)) : validateBody(ajv, compiled));
    known.set(text, validate);
    return validate;
  };
}

/** It knows the keywords that the schemas of this service use. */
export function createAjv(): Ajv {
  const ajv = new Ajv({ useDefaults: true, verbose: true, formats: { int64: true } });
  ajv.addKeyword({ keyword: 'int64', modifying: true, errors: false, validate: validateInt64 });
  ajv.addKeyword('x-must-be');
  ajv.addKeyword('x-must-not-contain');
  return ajv;
}

/** Compiles a schema when a request first needs it: to compile all of them takes a sixth of the time that the service needs to start. */
function compileLater(ajv: Ajv, schema: Json): () => ValidateFunction {
  let validate: ValidateFunction | undefined;
  return () => {
    validate ??= ajv.compile(schema);
    return validate;
  };
}

function validateBody(ajv: Ajv, schema: Json) {
  const validator = compileLater(ajv, schema);
  return (body: unknown) => {
    const validate = validator();
    if (validate(body)) return { value: body };
    const first = validate.errors?.at(-1);
    const errors = findInvalidFields(ajv, schema, body);
    // A misspelt field may also be one that is missing: then its name says more.
    const hasUnknown = errors.some(({ keyword }) => keyword === 'additionalProperties');
    const message = describeAll((hasUnknown || errors.length > 1 ? errors : [first]).map((error) => () => describeBodyError(body, error)));
    return { error: new AppError('invalid_body', message) };
  };
}

function validateQuery(ajv: Ajv, schema: Json, describeUnknown: (name: string) => string) {
  const validator = compileLater(ajv, schema);
  const properties = (schema['properties'] ?? {}) as Record<string, Json>;
  return (query: Record<string, string | string[]>) => {
    const value: Json = {};
    const unknown: string[] = [];
    const repeated: string[] = [];
    for (const [name, received] of Object.entries(query)) {
      const property = Object.hasOwn(properties, name) ? properties[name] : undefined;
      if (!property) unknown.push(name);
      else if (property['type'] === 'array') value[name] = [received].flat().map((text) => readText(text, property['items'] as Json));
      else if (Array.isArray(received)) repeated.push(name);
      else value[name] = readText(received, property);
    }
    if (validator()(value) && unknown.length === 0 && repeated.length === 0) return { value };
    const invalid = findInvalidFields(ajv, schema, value).filter(({ params }) => !repeated.includes(params['missingProperty']));
    const message = describeAll([
      ...invalid.map((error) => () => describeQueryError(error)),
      ...repeated.map((name) => () => `${name} is given ${query[name]?.length} times; give it once.`),
      ...unknown.map((name) => () => describeUnknown(name)),
    ]);
    const advice = unknown.length > 0 ? ` ${knownParameters(Object.keys(properties))}` : '';
    return { error: new AppError('invalid_query', message + advice) };
  };
}

/** A string that is not an integer stays a string: the schema rejects it, and the message can show it. */
function readText(text: string, type: Json): unknown {
  if (type['type'] !== 'integer' && !type['int64']) return text;
  const value = parseInt64(text);
  if (value === undefined) return text;
  if (type['int64']) return value;
  return Number.isSafeInteger(Number(value)) ? Number(value) : text;
}

/** Ajv accepts only a double as an integer, so a custom keyword validates an int64 and converts it to a BigInt. */
export function withInt64Keyword(schema: unknown): unknown {
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

type Serializer = (data: unknown) => string;

/**
 * Compiles the schemas of responses, each schema once. The routes name some 200 responses with fewer than 20 schemas, and
 * compiling every one of them took half of the time that the service needs to start.
 */
export function createSerializerCompiler(shared: readonly object[]): FastifySerializerCompiler<unknown> {
  const byId = Object.fromEntries(shared.map((schema) => [(schema as { $id: string }).$id, schema as Schema]));
  const compiled = new Map<string, Serializer>();
  return ({ schema }) => {
    // What only documents a response does not change how it is written.
    const { description, headers, ...rest } = schema as { description?: unknown; headers?: unknown };
    const text = JSON.stringify(rest);
    const serializer = compiled.get(text) ?? (fastJsonStringify(rest as Schema, { schema: referencedBy(text, byId) }) as Serializer);
    compiled.set(text, serializer);
    return serializer;
  };
}

/** Without the others, each of which would be validated again for each response. */
function referencedBy(text: string, byId: Readonly<Record<string, Schema>>): Record<string, Schema> {
  const found: Record<string, Schema> = {};
  const visit = (json: string) => {
    for (const [, id = ''] of json.matchAll(/"\$ref":"([^"#]+)#"/g)) {
      const schema = byId[id];
      if (!schema || id in found) continue;
      found[id] = schema;
      visit(JSON.stringify(schema));
    }
  };
  visit(text);
  return found;
}

/** Makes operations without query parameters reject any. The others reject unknown ones by their schemas. */
export function rejectUnknownQuery(api: FastifyInstance): void {
  api.addHook('onRoute', ({ schema }) => {
    if (!schema?.operationId || schema.querystring) return;
    schema.querystring = Type.Object({}, { additionalProperties: false });
    schema.response = { ...errorResponses('invalid_query'), ...(schema.response as object) };
  });
}
