// Generates the SDK's types from openapi.json: npm run openapi
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { createClient } from '@hey-api/openapi-ts';
import { inlineComponents } from '../service/src/platform/http/openapi-components.ts';
import { temporaryFolder } from '../testkit/temporary-folder.ts';

export const typesFile = 'sdk/src/api-types.gen.ts';

interface Schema {
  readonly type?: string | readonly string[];
  readonly format?: string;
  readonly anyOf?: readonly object[];
  readonly oneOf?: readonly object[];
  readonly [key: string]: unknown;
}

interface Document {
  readonly paths: Record<string, Record<string, { responses: Record<string, unknown> }>>;
  readonly components: { readonly schemas: Record<string, Schema & { properties?: Record<string, Schema> }> };
  webhooks?: unknown;
}

const int64Name = 'Int64';
const int64Ref = { $ref: `#/components/schemas/${int64Name}` };

if (import.meta.main) writeFileSync(typesFile, await sdkTypes(readFileSync('openapi.json', 'utf8')));

/** The types of requests and successful responses. Errors are left out: the SDK has one class for all of them, with a code. */
export async function sdkTypes(openapi: string): Promise<string> {
  const served = JSON.parse(openapi, (_, value) => forTypes(value)) as Document;
  // Inline everything but schemas: a shared parameter would become a type that the SDK exports.
  const document: Document = {
    ...served,
    paths: inlineComponents(served, served.paths),
    components: { schemas: served.components.schemas },
  };
  for (const operation of Object.values(document.paths).flatMap(Object.values)) {
    operation.responses = Object.fromEntries(Object.entries(operation.responses).filter(([status]) => status.startsWith('2')));
  }
  delete document.webhooks;
  const { schemas } = document.components;
  const codes = schemas['Error']?.properties?.['code']?.['x-extensible-enum'];
  schemas['ErrorCode'] = { type: 'string', enum: codes, description: 'The error codes that existed when this version was generated.' };
  delete schemas['Error'];
  schemas[int64Name] = {
    type: 'integer',
    description: 'A number if it is a safe integer, otherwise a bigint: each value has exactly one representation.',
  };
  const types = (await generate(document)).replace(`type ${int64Name} = number;`, `type ${int64Name} = number | bigint;`);
  const urls = Object.keys(document.paths).map((url) => `'${url}'`);
  return `${types}\nexport type ApiUrl = ${urls.join(' | ')};\n`;
}

/**
 * Gives int64 a named type, and drops what a type can't express: which fields must be present, and which are ignored. An object with
 * more fields, such as what a GET has returned, has the type all the same.
 */
function forTypes(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value;
  const { type, format, examples: _, ...rest } = value as Schema;
  const isInt64 = format === 'int64' && [type].flat().includes('integer');
  if (isInt64 && Array.isArray(type)) return { anyOf: [int64Ref, { type: 'null' }], ...rest };
  if (isInt64) return { ...int64Ref, ...rest };
  const { anyOf, oneOf, ...others } = value as Schema;
  const isAboutPresence = [...(anyOf ?? []), ...(oneOf ?? [])].some((one) => 'required' in one && !('type' in one));
  return withoutReadOnly(isAboutPresence ? others : value);
}

function withoutReadOnly(schema: { readonly properties?: Readonly<Record<string, Schema>> }): object {
  if (!schema.properties) return schema;
  return { ...schema, properties: Object.fromEntries(Object.entries(schema.properties).filter(([, field]) => !field['readOnly'])) };
}

async function generate(document: object): Promise<string> {
  using temporary = temporaryFolder('types');
  const folder = temporary.path;
  await createClient({
    input: document as Record<string, unknown>,
    output: folder,
    plugins: ['@hey-api/typescript'],
    logs: { level: 'silent', file: false },
  });
  return readFileSync(path.join(folder, 'types.gen.ts'), 'utf8');
}
