import { readFileSync } from 'node:fs';
import type { Db } from '../../platform/db/handles.ts';
import { findDefinition } from '../../platform/db/migration-files.ts';
import { broken, counted, type Judgement, note, ok, warning } from './finding.ts';
import { type BehindSequence, readSchema, type Schema, selectBehindSequences } from './schema-queries.ts';

/** Of an empty database that this release has migrated. `npm run schema` writes it. */
const expectedFile = new URL('./expected-schema.json', import.meta.url);
const shownMax = 3;

/** Compares the schema with that of an empty database: so it finds also what nobody has thought of. */
export async function checkObjects(db: Db, role: string): Promise<Judgement> {
  return judgeSchema(await readSchema(db, role), readExpected());
}

const readExpected = () => JSON.parse(readFileSync(expectedFile, 'utf8')) as Schema;

export const expectedTables = (): string[] =>
  Object.keys(readExpected()).flatMap((name) => (name.startsWith('table ') ? [name.slice('table '.length)] : []));

export function judgeSchema(found: Schema, expected: Schema): Judgement {
  const names = Object.keys(expected);
  const differing = names.filter((name) => found[name] !== expected[name]);
  const [first] = differing;
  if (first !== undefined) {
    const shown = differing.slice(0, shownMax).map((name) => describe(name, found[name], expected[name]));
    const text = `The schema is not as this release made it: ${shown.join('; ')}${more(differing)}.`;
    return broken(text, fixOf(first, found[first], expected[first] ?? ''));
  }
  const hooks = addedHooks(found, expected);
  if (hooks.length > 0) {
    const text = `Somebody has added to the store's tables: ${hooks.slice(0, shownMax).join(', ')}${more(hooks)}. It may reject what the store writes.`;
    return warning(text, `If requests fail since then: ${dropOf(hooks[0] ?? '')}.`);
  }
  const own = Object.keys(found).filter((name) => !(name in expected));
  if (own.length === 0) return ok(`All ${counted(names.length, 'object')} of the schema are as this release made them.`);
  const text = `The schema also has what this release does not know: ${own.slice(0, shownMax).join(', ')}${more(own)}.`;
  return note(text, 'That is fine if you have added it.');
}

/** What a schema lacks, has in another way, or has in addition that takes part in writes. */
export const describeDifferences = (found: Schema, expected: Schema): string[] => [
  ...Object.keys(expected).flatMap((name) => (found[name] === expected[name] ? [] : [describe(name, found[name], expected[name])])),
  ...addedHooks(found, expected).map((name) => `somebody has added the ${name}`),
];

/** What others have made in the store's own tables takes part in each write. */
const addedHooks = (found: Schema, expected: Schema): string[] =>
  Object.keys(found).filter(
    (name) =>
      !(name in expected) &&
      /^(trigger|constraint|policy|rule|default partition) /.test(name) &&
      `table ${name.split(' of ')[1]}` in expected,
  );

const more = (names: readonly string[]) => (names.length > shownMax ? `; and ${names.length - shownMax} more` : '');

function describe(name: string, found: string | undefined, expected: string | undefined): string {
  if (found === undefined) return `${name} is missing`;
  if (name.startsWith('function ') && !found.includes('of the owner')) return `${name} was changed`;
  return `${name} is "${found || 'nothing'}", not "${expected || 'nothing'}"`;
}

/** As the owner. */
function fixOf(name: string, found: string | undefined, expected: string): string {
  const [, object = '', table = ''] = /^\S+ (?:on )?(\S+)(?: of (\S+))?$/.exec(name) ?? [];
  const owner = 'As the owner: ';
  if (name.startsWith('trigger ') && found?.includes('enabled')) return `${owner}alter table ${table} enable trigger ${object}.`;
  if (name.startsWith('foreign keys of ')) return `${owner}alter table ${name.split(' ').at(-1)} enable trigger all.`;
  if (name.startsWith('index ') && found?.includes('invalid')) return `${owner}reindex index concurrently ${object}.`;
  if (name.startsWith('constraint ') && found?.includes('not validated'))
    return `${owner}alter table ${table} validate constraint ${object}.`;
  if (name.startsWith('table ') && found?.includes('unlogged')) return `${owner}alter table ${object} set logged.`;
  if (name.startsWith('table ') && found?.includes('row security')) return `${owner}alter table ${object} disable row level security.`;
  if (name.startsWith('table ') && found?.includes('replica identity'))
    return `${owner}alter table ${object} replica identity default. Or drop the publication that needs another.`;
  const [, right] = /of the owner .* in place of (\S+)/.exec(found ?? '') ?? [];
  if (right)
    return `As a superuser: alter ${name.startsWith('function ') ? `function ${object.split('/')[0]}` : `table ${object}`} owner to ${right}.`;
  if (name.startsWith('right of the owner ')) {
    const [, schema = '', role = ''] = /^no: (\S+) for (\S+)$/.exec(found ?? '') ?? [];
    return `As a superuser: grant create on schema ${schema} to ${role}.`;
  }
  if (name.startsWith('rights on ')) return `${owner}${grantOf(object, found ?? '', expected)}.`;
  if (name.startsWith('right to call ')) {
    const callee = name.split(' ').at(-1)?.split('/')[0];
    return expected === 'yes'
      ? `${owner}grant execute on function ${callee} to homeward_app.`
      : `${owner}revoke execute on function ${callee} from public, homeward_app.`;
  }
  if (name.startsWith('extension ')) return `As a superuser: alter extension ${object} set schema public.`;
  const definition = findDefinition(name.startsWith('column ') ? (object.split('.')[1] ?? object) : (object.split('/')[0] ?? object));
  if (definition?.statement) return `${owner}${withoutBlocking(definition.statement)}`;
  return `${owner}make it again as the migration ${definition?.file ?? 'that has made it'} did. What it was is in an empty database that 'homeward migrate' has made: pg_dump --schema-only.`;
}

/** Orders must not wait while an index is built. */
function withoutBlocking(statement: string): string {
  const concurrently = statement.replace(/^create (unique )?index (?!concurrently)/i, 'create $1index concurrently ');
  return /^create unique index/i.test(statement)
    ? `${concurrently} If it says that a key is duplicated: 'homeward verify' first.`
    : concurrently;
}

/** What is missing is granted, what is too much is revoked. */
function grantOf(table: string, found: string, expected: string): string {
  const listOf = (text: string) => (text.split(';')[0] ?? '').split(', ').filter((word) => word && word !== 'none');
  const missing = listOf(expected).filter((word) => !listOf(found).includes(word));
  const extra = listOf(found).filter((word) => !listOf(expected).includes(word));
  if (missing.length > 0) return `grant ${missing.join(', ')} on ${table} to homeward_app`;
  if (extra.length > 0) return `revoke ${extra.join(', ')} on ${table} from homeward_app`;
  return `restore the privileges of columns of ${table}: ${expected}`;
}

function dropOf(name: string): string {
  const [kind = '', object = '', , table = ''] = name.replace('default partition', 'partition').split(' ');
  if (kind === 'partition') return `alter table ${table} detach partition ${object}`;
  return kind === 'constraint' ? `alter table ${table} drop constraint ${object}` : `drop ${kind} ${object} on ${table}`;
}

export async function checkSequences(db: Db): Promise<Judgement> {
  return judgeSequences(await selectBehindSequences(db));
}

export function judgeSequences(behind: readonly BehindSequence[]): Judgement {
  const [first] = behind;
  if (!first) return ok('Every sequence is ahead of the ids of its table.');
  const { sequence, table, column, next, max } = first;
  const text = `The sequence ${sequence} gives ${next} next, and ${table}.${column} already has ${max}: new rows are rejected.`;
  const others = behind.length > 1 ? ` ${counted(behind.length - 1, 'other sequence')} too.` : '';
  return broken(text + others, `As the owner: select setval('${sequence}', ${max}).`);
}
