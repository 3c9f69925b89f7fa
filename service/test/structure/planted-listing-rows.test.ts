// A row that is added to a table alone either has all that it needs, or does not compile.
import { execFile } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';

const root = fileURLToPath(new URL('../../..', import.meta.url));
const filters = 'service/src/domain/listing-filters.ts';
const fields = 'service/src/domain/profile-fields.ts';
const schema = 'service/src/operations/doctor/expected-schema.json';

/** The tables, what is made from them, and the types that compare them with the schema: few enough to be compiled in a second. */
const compiled = [
  'service/src/domain',
  'service/src/search/listings/geography.ts',
  'service/src/search/listings/labels.ts',
  'service/src/search/listings/listing-search.ts',
  'service/src/search/listings/search-conditions.ts',
  'service/src/animals/pets/hold-conditions.ts',
  'service/src/animals/profiles/profile-columns.ts',
  'service/test/structure/listing-tables.types.ts',
  schema,
];

interface Plant {
  readonly file: string;
  /** The text before which it is planted. */
  readonly before: string;
  readonly text: string;
}

const column = (name: string): Plant => ({ file: schema, before: '  "column ', text: `  "column ${name}": "text",\n` });
const filter = (text: string): Plant => ({ file: filters, before: '  near: {\n', text });
const field = (text: string): Plant => ({ file: fields, before: '  adoptionFee: {\n', text });

const plantedFilter = filter(
  "  planted: { kind: 'choice', values: ['yes', 'no'], of: 'profile', column: 'planted', term: 'planted', about: '' },\n",
);
const plantedField = field("  planted: { ...triState('planted', ''), isListed: true },\n");
const columnIsUnknown = `Type '"planted"' is not assignable`;

/** The compiler's errors with what is planted. */
async function faultsWith(...plants: readonly Plant[]): Promise<string> {
  const folder = mkdtempSync(path.join(tmpdir(), 'homeward-planted-'));
  try {
    for (const file of compiled) cpSync(path.join(root, file), path.join(folder, file), { recursive: true });
    for (const { file, before, text } of plants) {
      const source = readFileSync(path.join(folder, file), 'utf8');
      expect(source).toContain(before);
      writeFileSync(
        path.join(folder, file),
        source.replace(before, () => text + before),
      );
    }
    const { compilerOptions } = JSON.parse(readFileSync(path.join(root, 'tsconfig.json'), 'utf8')) as { compilerOptions: object };
    writeFileSync(path.join(folder, 'package.json'), '{"type":"module"}');
    writeFileSync(path.join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions: { ...compilerOptions, types: [] } }));
    await promisify(execFile)(path.join(root, 'node_modules/.bin/tsc'), ['-p', folder, '--pretty', 'false']);
    return '';
  } catch (error) {
    const { stdout } = error as { stdout?: string };
    if (!stdout) throw error;
    return stdout;
  } finally {
    rmSync(folder, { recursive: true });
  }
}

test('the tables compile as they are', async () => {
  expect(await faultsWith()).toBe('');
});

test('a filter compiles once listings has its column', async () => {
  expect(await faultsWith(plantedFilter)).toContain(columnIsUnknown);
  expect(await faultsWith(plantedFilter, column('listings.planted'))).toBe('');
});

test('a field compiles once profiles has its column, and a column once it has a field', async () => {
  expect(await faultsWith(plantedField)).toContain(columnIsUnknown);
  expect(await faultsWith(column('profiles.planted'))).toContain(columnIsUnknown);
  expect(await faultsWith(plantedField, column('profiles.planted'))).toBe('');
});

test('a kind of filter or field compiles once all that is made from it knows it', async () => {
  const faults = await faultsWith(
    { file: filters, before: "  | { readonly kind: 'id' }\n", text: "  | { readonly kind: 'prefix' }\n" },
    { file: fields, before: "  | { readonly kind: 'flag';", text: "  | { readonly kind: 'hour'; readonly empty: null }\n" },
  );
  for (const file of ['search/listings/search-conditions.ts', 'animals/profiles/profile-columns.ts']) {
    expect(faults).toMatch(new RegExp(`${file}.*error TS2741: Property '(prefix|hour)' is missing`));
  }
});
