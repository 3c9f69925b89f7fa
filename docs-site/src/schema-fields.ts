import { type ApiDocument, resolve, type Schema } from './reference-document.ts';

export interface Field {
  /** The path of the field: dots for nested objects, [] for the elements of an array. */
  readonly name: string;
  readonly type: string;
  readonly required: boolean;
  readonly description: string;
  readonly constraints: readonly string[];
  readonly default: string | undefined;
}

/** No schema is nested deeper. Ends the recursion if one refers to itself. */
const depthMax = 6;

/** The fields of a schema as a flat list, without those that a body may have and that are ignored. */
export function fieldsOf(document: ApiDocument, schema: Schema, prefix = '', depth = 0): Field[] {
  const { properties, required = [], items, anyOf } = resolve(document, schema);
  if (depth > depthMax) return [];
  if (items) return fieldsOf(document, items, `${prefix}[]`, depth + 1);
  if (anyOf && !properties) return anyOf.flatMap((choice) => fieldsOf(document, choice, prefix, depth + 1)).filter(isFirstOfItsName);
  const shown = Object.entries(properties ?? {}).filter(([, property]) => !property.readOnly);
  return shown.flatMap(([key, property]) => {
    const name = prefix === '' ? key : `${prefix}.${key}`;
    return [describe(document, name, property, required.includes(key)), ...fieldsOf(document, property, name, depth + 1)];
  });
}

const isFirstOfItsName = (field: Field, index: number, all: readonly Field[]) => all.findIndex(({ name }) => name === field.name) === index;

export function describe(document: ApiDocument, name: string, schema: Schema, required: boolean): Field {
  const known = resolve(document, schema);
  const descriptions = [known, ...(known.anyOf ?? [])].map((one) => resolve(document, one).description);
  return {
    name,
    type: typeOf(document, schema),
    required,
    description: [...new Set(descriptions.filter((text) => text !== undefined))].join(' '),
    constraints: constraintsOf(document, known),
    default: known.default === undefined ? undefined : JSON.stringify(known.default),
  };
}

function typeOf(document: ApiDocument, schema: Schema): string {
  const { type, format, items, anyOf, enum: values, const: only } = resolve(document, schema);
  if (anyOf) return anyOf.map((choice) => typeOf(document, choice)).join(' or ');
  if (items) return `array of ${typeOf(document, items)}`;
  if (type) return [type].flat().join(' or ') + (format ? ` (${format})` : '');
  return typeof (values?.[0] ?? only ?? '');
}

function constraintsOf(document: ApiDocument, schema: Schema): string[] {
  const { minimum, maximum, minLength, maxLength, maxItems, items, enum: values, const: only } = schema;
  const choices = values ?? (items && resolve(document, items).enum);
  if (only !== undefined) return [`always ${JSON.stringify(only)}`];
  return [
    schema['x-must-be'],
    choices && `one of ${choices.map(String).join(', ')}`,
    minimum !== undefined && maximum !== undefined && `${minimum} to ${maximum}`,
    !schema['x-must-be'] && lengthRange(minLength, maxLength),
    maxItems !== undefined && `at most ${maxItems} items`,
  ].filter((text) => typeof text === 'string');
}

function lengthRange(min: number | undefined, max: number | undefined): string | undefined {
  if (min !== undefined && max !== undefined) return `${formatted(min)}–${formatted(max)} characters`;
  if (max !== undefined) return `at most ${formatted(max)} characters`;
  return min === undefined ? undefined : `at least ${formatted(min)} characters`;
}

const formatted = (count: number) => count.toLocaleString('en');
