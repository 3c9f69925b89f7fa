import type { ErrorObject, ValidateFunction } from 'ajv';
import type { TObject, TSchema } from 'typebox';
import { findCharacter } from '../../platform/characters.ts';
import { parseInt64 } from '../../platform/db/int64.ts';
import { createAjv, withInt64Keyword } from '../../platform/http/schema-compilers.ts';

type Json = Record<string, unknown>;

/** What a form has sent, read by its schema: the values of the fields that it accepts, and what is wrong with the others. */
export interface ReadForm {
  readonly values: Json;
  readonly errors: ReadonlyMap<string, string>;
}

/** What a field takes, as far as a page shows it. */
export interface FieldFacts {
  readonly isRequired: boolean;
  readonly kind: 'text' | 'integer' | 'number' | 'boolean' | 'list';
  /** A blank field says that there is no value. */
  readonly mayBeNull: boolean;
  readonly lengthMax: number | undefined;
  readonly minimum: number | undefined;
  readonly maximum: number | undefined;
}

/** What the fields of a form send is text: it becomes what the schema says. */
export function readForm(schema: TObject, sent: URLSearchParams): ReadForm {
  const values: Json = {};
  const errors = new Map<string, string>();
  for (const [name, property] of Object.entries(schema.properties)) {
    const facts = factsOf(schema, name);
    const value = readField(facts, sent.getAll(name));
    if (value === undefined) {
      if (facts.isRequired) errors.set(name, 'Fill this in.');
      continue;
    }
    const holder = { [name]: value };
    const validate = validatorOf(name, property);
    if (validate(holder)) values[name] = holder[name];
    else errors.set(name, describe(validate.errors?.at(-1), validate.errors?.at(0)));
  }
  return { values, errors };
}

export function factsOf(schema: TObject, name: string): FieldFacts {
  const property = schema.properties[name];
  if (property === undefined) throw new Error(`the form has no field ${name}`);
  const parts = [property, ...(((property as Json)['anyOf'] as TSchema[] | undefined) ?? [])] as Json[];
  const find = (key: string) => parts.map((part) => part[key]).find((value) => value !== undefined);
  const types = parts.flatMap(({ type }) => (Array.isArray(type) ? type : [type]));
  const known = (['integer', 'number', 'boolean', 'array'] as const).find((type) => types.includes(type));
  return {
    isRequired: schema.required?.includes(name) ?? false,
    kind: known === 'array' ? 'list' : (known ?? 'text'),
    mayBeNull: types.includes('null'),
    lengthMax: find('maxLength') as number | undefined,
    minimum: find('minimum') as number | undefined,
    maximum: find('maximum') as number | undefined,
  };
}

function readField({ kind, mayBeNull, isRequired }: FieldFacts, [sent, ...others]: string[]): unknown {
  if (kind === 'list') return [sent, ...others].filter((one) => one !== undefined && one !== '');
  // A box that is not ticked is not sent.
  if (kind === 'boolean') return sent === 'true' ? true : sent === '' && mayBeNull ? null : false;
  // Browsers end a line with both.
  const text = sent?.replaceAll('\r\n', '\n');
  if (text === undefined || text.trim() === '') return text !== undefined && mayBeNull && !isRequired ? null : undefined;
  if (kind === 'text') return text;
  const number = kind === 'integer' ? parseInt64(text.trim()) : Number(text.trim().replace(',', '.'));
  if (number === undefined || Number.isNaN(number)) return text;
  return typeof number === 'bigint' && Number.isSafeInteger(Number(number)) ? Number(number) : number;
}

const ajv = createAjv();
const validators = new WeakMap<TSchema, ValidateFunction>();

/** In an object, since an int64 becomes a BigInt only there. */
function validatorOf(name: string, property: TSchema): ValidateFunction {
  const known = validators.get(property);
  if (known) return known;
  const { $id: _, ...plain } = withInt64Keyword(property) as Json;
  const made = ajv.compile({ type: 'object', properties: { [name]: plain } });
  validators.set(property, made);
  return made;
}

/** What to do, beside the field: it needs no name. */
function describe(error: ErrorObject | undefined, first: ErrorObject | undefined): string {
  const { keyword, params, data } = (error?.keyword === 'anyOf' ? first : error) ?? {};
  const schema = (error?.parentSchema ?? {}) as Json;
  const rejected = schema['x-must-not-contain'];
  const character = typeof rejected === 'string' ? findCharacter(String(data), rejected) : undefined;
  if (character) return `Remove the character ${character}, which can't be stored.`;
  if (keyword === 'maxLength')
    return `At most ${params?.['limit'].toLocaleString('en')} characters; these are ${[...String(data)].length.toLocaleString('en')}.`;
  if (keyword === 'minLength') return `At least ${params?.['limit']} characters.`;
  if (keyword === 'minimum' || keyword === 'maximum') return `At ${keyword === 'minimum' ? 'least' : 'most'} ${params?.['limit']}.`;
  if (keyword === 'enum' || keyword === 'const') return 'Choose one of these.';
  if (keyword === 'maxItems') return `At most ${params?.['limit']}.`;
  // A blank field is null: nobody types it.
  if (typeof schema['x-must-be'] === 'string') return `This must be ${schema['x-must-be'].replace(/, or null$/, '')}.`;
  if (keyword === 'int64' || keyword === 'type') return 'Write a number, such as 12.';
  return "This can't be right. Check how it is written.";
}
