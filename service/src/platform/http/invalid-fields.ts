import type { Ajv, ErrorObject, ValidateFunction } from 'ajv';

interface Schema {
  readonly $ref?: string;
  readonly properties?: Readonly<Record<string, Schema>>;
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
export function findInvalidFields(ajv: Ajv, schema: Schema, value: unknown, path = ''): ErrorObject[] {
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

const resolve = (ajv: Ajv, schema: Schema) => (schema.$ref === undefined ? schema : (ajv.getSchema(schema.$ref)?.schema as Schema));

const missing = (name: string, path: string, parentSchema: Schema, data: unknown): ErrorObject => ({
  keyword: 'required',
  instancePath: path,
  schemaPath: '',
  params: { missingProperty: name },
  parentSchema,
  data,
});

const unknownField = (name: string, path: string, parentSchema: Schema): ErrorObject => ({
  keyword: 'additionalProperties',
  instancePath: path,
  schemaPath: '',
  params: { additionalProperty: name },
  parentSchema,
});

const validators = new WeakMap<Schema, ValidateFunction>();

/** Compiled when the field is first validated. In an object, since Ajv applies defaults and conversions only there. */
function validatorOf(ajv: Ajv, name: string, property: Schema): ValidateFunction {
  const validate = validators.get(property) ?? ajv.compile({ type: 'object', properties: { [name]: property } });
  validators.set(property, validate);
  return validate;
}

const isObject = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null && !Array.isArray(value);
