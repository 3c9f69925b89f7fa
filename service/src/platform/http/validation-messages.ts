import type { ErrorObject } from 'ajv';
import { findCharacter } from '../characters.ts';
import { show } from '../errors.ts';
import { nearestName } from './nearest-name.ts';

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
    return `${error.instancePath ? `${field}.` : ''}${missing} is required.`;
  }
  if (error?.keyword === 'additionalProperties') return describeUnknownField(error);
  return describe(field, error);
}

function describeUnknownField({ instancePath, params, parentSchema }: ErrorObject): string {
  const parent = fieldOf(instancePath);
  const name = String(params['additionalProperty']);
  const fields = Object.entries((parentSchema as Json)['properties'] as Record<string, Json>);
  const writable = fields.filter(([, field]) => field['readOnly'] !== true).map(([known]) => known);
  const nearest = nearestName(name, writable);
  const advice = nearest === undefined ? `${parent || 'The body'} takes ${writable.join(', ')}.` : `Did you mean ${nearest}?`;
  return `${parent && `${parent}.`}${/^\w{1,40}$/.test(name) ? name : shortened(name)} is not a field. ${advice}`;
}

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

export const unknownParameter = (name: string): string => `Unknown query parameter ${shortened(name)}.`;

const shortened = (name: string) => show(name.length > 40 ? `${name.slice(0, 40)}…` : name);

export const knownParameters = (names: readonly string[]): string =>
  names.length > 0 ? `This operation takes ${names.join(', ')}.` : 'This operation takes none.';
