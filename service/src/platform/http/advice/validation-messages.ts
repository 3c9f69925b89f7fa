import type { Ajv, ErrorObject, ValidateFunction } from 'ajv';
import { findCharacter } from '../../characters.ts';
import { show } from '../../errors.ts';
import { guessField, guessValue, nearestField } from './nearest-name.ts';

type Json = Record<string, unknown>;

const shownMax = 5;

/** One sentence for each fault. The first five are shown, and the others are counted. */
export function describeAll(faults: ReadonlyArray<() => string>): string {
  const shown = faults.slice(0, shownMax).map((describe) => describe());
  return [...shown, ...(faults.length > shownMax ? [`And ${faults.length - shownMax} more.`] : [])].join(' ');
}

/** The message for one error of a body. */
export function describeBodyError(body: unknown, error: ErrorObject | undefined): string {
  const { 'x-must-be': expected = 'a JSON object' } = (error?.parentSchema ?? {}) as { 'x-must-be'?: string };
  // Fastify passes null for an empty body too.
  if (body === null) return `The request body is empty or null. Send ${expected}.`;
  const field = fieldOf(error?.instancePath ?? '') || 'The body';
  if (error?.keyword === 'required') {
    const missing = String(error.params['missingProperty']);
    return `${error.instancePath ? `${field}.` : ''}${missing} is required.${adviseOnMissing(missing, error)}`;
  }
  if (error?.keyword === 'additionalProperties') return describeUnknownField(error);
  return describe(field, error) + adviseOnBody(error);
}

/** Fields that are ignored are looked at only if one is missing, and few of them: a body may have 100,000. */
const ignoredMax = 20;

/** What was probably sent in place of a required field, where unknown ones are ignored. */
function adviseOnMissing(missing: string, { data, parentSchema }: ErrorObject): string {
  for (const [name, value] of ignoredFields(data, parentSchema)) {
    if (isObject(value) && Object.hasOwn(value, missing)) return ` It must not be within ${quotedUnlessPlain(name)}.`;
    const guess = guessField(name, [missing]);
    if (guess) return ` ${quotedUnlessPlain(name)} is not a field. ${guess}`;
  }
  return '';
}

/** A number in quotes, one of several objects, JSON within JSON, and a body none of whose fields is known. */
function adviseOnBody(error: ErrorObject | undefined): string {
  const { data, parentSchema, instancePath, keyword } = error ?? {};
  if (typeof data === 'string' && isNumber(parentSchema) && /^-?\d{1,19}$/.test(data)) return ` Write it without quotes: ${data}.`;
  if (instancePath !== '' && keyword !== 'anyOf') return '';
  if (Array.isArray(data)) return ' Send one in each request.';
  if (typeof data === 'string' && data.trimStart().startsWith('{')) return ' Send the object as it is, not as a string.';
  const known = Object.keys((parentSchema as Json | undefined)?.['properties'] ?? {});
  for (const [name] of ignoredFields(data, parentSchema)) {
    const guess = guessField(name, known);
    if (guess) return ` ${quotedUnlessPlain(name)} is not a field. ${guess}`;
  }
  return '';
}

const isNumber = (schema: unknown) => {
  const { int64, type } = (schema ?? {}) as Json;
  return int64 === true || type === 'integer' || type === 'number';
};

function ignoredFields(value: unknown, schema: unknown): Array<[name: string, value: unknown]> {
  const { properties = {}, additionalProperties } = (schema ?? {}) as Json;
  if (!isObject(value) || additionalProperties === false) return [];
  return Object.entries(value)
    .filter(([name]) => !Object.hasOwn(properties as Json, name))
    .slice(0, ignoredMax);
}

const isObject = (value: unknown): value is Json => typeof value === 'object' && value !== null && !Array.isArray(value);

function describeUnknownField({ instancePath, params, parentSchema }: ErrorObject): string {
  const parent = fieldOf(instancePath);
  const name = String(params['additionalProperty']);
  const fields = Object.entries((parentSchema as Json)['properties'] as Record<string, Json>);
  const writable = fields.filter(([, field]) => field['readOnly'] !== true).map(([known]) => known);
  const advice = guessField(name, writable) ?? `${parent || 'The body'} takes ${writable.join(', ')}.`;
  return `${parent && `${parent}.`}${quotedUnlessPlain(name)} is not a field. ${advice}`;
}

const quotedUnlessPlain = (name: string) => (/^\w{1,40}$/.test(name) ? name : shortened(name));

/** `/adopter/email` becomes `adopter.email`, and `/types/0` becomes `types[0]`. */
const fieldOf = (instancePath: string) =>
  instancePath
    .slice(1)
    .replaceAll(/\/(\d+)/g, '[$1]')
    .replaceAll('/', '.');

/** The message for one error of a query. */
export function describeQueryError(error: ErrorObject | undefined): string {
  if (error?.keyword === 'required') return `The query parameter ${error.params['missingProperty']} is required.`;
  const [field = '', index] = (error?.instancePath ?? '').slice(1).split('/');
  if (error?.keyword === 'int64' && index !== undefined && /^-?\d+(\s*,\s*-?\d+)+$/.test(String(error.data))) {
    return `${field} must be an integer. To ask for several, repeat it: ${field}=1&${field}=2.`;
  }
  if (error?.keyword === 'maxItems') return `${field} must be given at most ${error.params['limit']} times; got ${show(error.data)}.`;
  return describe(field || 'The query', error) + adviseOnList(field, error, index !== undefined);
}

/** Several values in one, with commas. */
function adviseOnList(name: string, error: ErrorObject | undefined, mayRepeat: boolean): string {
  const { data, parentSchema } = error ?? {};
  const values = (parentSchema as Json | undefined)?.['enum'];
  const given = typeof data === 'string' && data.includes(',') ? data.split(',', valuesMax + 1) : [];
  if (!Array.isArray(values) || given.length === 0 || !given.every((one) => values.includes(one))) return '';
  return mayRepeat ? ` Repeat it: ${given.map((one) => `${name}=${one}`).join('&')}.` : ' It takes one value.';
}

const valuesMax = 5;

function describe(field: string, error: ErrorObject | undefined): string {
  return `${field} must be ${expectation(error)}; got ${show(error?.data)}.${rejectedCharacter(error)}${likelyValue(error)}`;
}

function likelyValue(error: ErrorObject | undefined): string {
  const values = (error?.parentSchema as Json | undefined)?.['enum'];
  const guess = Array.isArray(values) ? guessValue(error?.data, values) : undefined;
  return guess ? ` ${guess}` : '';
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
  if (Array.isArray(schema['enum'])) return `one of ${schema['enum'].map(String).join(', ')}`;
  if (schema['int64']) return 'an integer (int64)';
  const { minimum, maximum, type } = schema as { minimum?: number; maximum?: number; type?: string };
  if (minimum !== undefined && maximum !== undefined) return `an integer from ${minimum} to ${maximum}`;
  if (error?.keyword === 'maxItems') return `an array of at most ${error.params['limit']} items`;
  if (error?.keyword === 'maxLength' || error?.keyword === 'minLength') return `a string of ${lengthsOf(schema)} characters`;
  return type === 'integer' || type === 'object' || type === 'array' ? `an ${type}` : `a ${type ?? 'valid value'}`;
}

/** `1–2,000`, `at most 2,000` or `at least 1`. */
function lengthsOf({ minLength = 0, maxLength }: { minLength?: number; maxLength?: number }): string {
  const [min, max] = [minLength.toLocaleString('en'), maxLength?.toLocaleString('en')];
  if (max === undefined) return `at least ${min}`;
  return minLength > 0 ? `${min}–${max}` : `at most ${max}`;
}

/** Describes query parameters that an operation does not have, with what the others take. */
export class ParameterGuide {
  /** The first operation that takes each parameter. */
  readonly #takers = new Map<string, string>();

  /** The description of an unknown parameter of this operation. Call it once for each operation, before the first request. */
  of(method: string, url: string, schema: Json): (name: string) => string {
    const own = Object.keys(schema['properties'] ?? {});
    for (const name of method === 'GET' ? own : []) if (!this.#takers.has(name)) this.#takers.set(name, url);
    return (name) => {
      const advice = guessField(name, own) ?? (method === 'GET' ? this.#describeTaker(name) : undefined);
      return `Unknown query parameter ${shortened(name)}.${advice ? ` ${advice}` : ''}`;
    };
  }

  #describeTaker(name: string): string | undefined {
    const guess = nearestField(name, [...this.#takers.keys()]);
    return guess === undefined ? undefined : `GET ${this.#takers.get(guess)} takes ${guess}.`;
  }
}

const shortened = (name: string) => show(name.length > 40 ? `${name.slice(0, 40)}…` : name);

export const knownParameters = (names: readonly string[]): string =>
  names.length > 0 ? `This operation takes ${names.join(', ')}.` : 'This operation takes none.';

interface FieldSchema {
  readonly $ref?: string;
  readonly properties?: Readonly<Record<string, FieldSchema>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: unknown;
}

/**
 * The first error of each invalid field, for a value that its schema has rejected, and one for each field that the schema does not
 * have and does not allow. Empty if no field is invalid, but the value as a whole.
 *
 * Each field is validated up to its first error, so the number of fields in the schema bounds the work; an unknown one is not
 * validated. Ajv's option `allErrors` has no bound: a body of 1 MiB can contain a list of 500,000 invalid items.
 */
export function findInvalidFields(ajv: Ajv, schema: FieldSchema, value: unknown, path = ''): ErrorObject[] {
  const resolved = resolve(ajv, schema);
  const { properties = {}, required = [], additionalProperties } = resolved;
  if (!isObject(value)) return [];
  const unknown = additionalProperties === false ? Object.keys(value).filter((name) => !Object.hasOwn(properties, name)) : [];
  const invalid = Object.entries(properties).flatMap(([name, property]) => {
    const field = value[name];
    if (field === undefined) return required.includes(name) ? [missing(name, path, resolved, value)] : [];
    if (isObject(field) && resolve(ajv, property).properties) return findInvalidFields(ajv, property, field, `${path}/${name}`);
    const validate = validatorOf(ajv, name, property);
    if (validate({ [name]: field })) return [];
    return (validate.errors ?? []).slice(0, 1).map((error) => ({ ...error, instancePath: path + error.instancePath }));
  });
  return [...unknown.map((name) => unknownField(name, path, resolved)), ...invalid];
}

const resolve = (ajv: Ajv, schema: FieldSchema) =>
  schema.$ref === undefined ? schema : (ajv.getSchema(schema.$ref)?.schema as FieldSchema);

const missing = (name: string, path: string, parentSchema: FieldSchema, data: unknown): ErrorObject => ({
  keyword: 'required',
  instancePath: path,
  schemaPath: '',
  params: { missingProperty: name },
  parentSchema,
  data,
});

const unknownField = (name: string, path: string, parentSchema: FieldSchema): ErrorObject => ({
  keyword: 'additionalProperties',
  instancePath: path,
  schemaPath: '',
  params: { additionalProperty: name },
  parentSchema,
});

const validators = new WeakMap<FieldSchema, ValidateFunction>();

/** Compiled when the field is first validated. In an object, since Ajv applies defaults and conversions only there. */
function validatorOf(ajv: Ajv, name: string, property: FieldSchema): ValidateFunction {
  const validate = validators.get(property) ?? ajv.compile({ type: 'object', properties: { [name]: property } });
  validators.set(property, validate);
  return validate;
}
