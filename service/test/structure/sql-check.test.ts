// The check of SQL statements, of a program with right and wrong ones.
import { symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, inject, test } from 'vitest';
import { connectTo } from '../../../testkit/postgres.ts';
import { temporaryFolder } from '../../../testkit/temporary-folder.ts';
import { checkStatements } from '../../../tools/sql-check.ts';
import { findStatements } from '../../../tools/sql-statements.ts';
import { cloneTemplate } from '../databases.ts';
import { disposeAfterAll } from '../dispose-after-all.ts';

const root = fileURLToPath(new URL('../../..', import.meta.url));
const program = `
import type pg from 'pg';

interface Db {
  query<Row extends pg.QueryResultRow>(statement: pg.QueryConfig): Promise<pg.QueryResult<Row>>;
}
interface Catalogue {
  writePets<Row extends pg.QueryResultRow>(statement: pg.QueryConfig): Promise<Row[]>;
}
declare const rowsOf: <Row extends object>(db: Db) => (texts: TemplateStringsArray, ...values: unknown[]) => Promise<Row[]>;

interface Pet { readonly id: bigint; readonly name: string }
const fields = ['id', 'name'] as const;
const columns = fields.map((field) => \`pets.\${field}\`).join(', ');
const ofShelter = (shelterId: bigint | undefined) => (shelterId === undefined ? '' : 'and shelter_id = $2');

export const right = (db: Db) => db.query<Pet>({ name: 'right', text: \`select \${columns} from pets\` });

export async function rightInParts(db: Db, { shelterId, isHeld }: { shelterId: bigint | undefined; isHeld: boolean }) {
  const where = ofShelter(shelterId);
  return db.query<Pet>({ text: \`select \${columns} from pets where id = $1 \${where} \${isHeld ? 'and hold is not null' : ''}\`, values: [1n, shelterId] });
}
export const rightByTag = (db: Db, id: bigint) => rowsOf<Pet & { count: bigint }>(db)\`select \${''}::text as name, id, 1::bigint as count from pets where id = \${id}\`;
export const rightWithNulls = (db: Db) => db.query<{ hold: string | null; until: Date | null; files: object; scopes: string[] }>({
  text: 'select hold, hold_until as until, files, scopes from pets left join photos on pet_id = pets.id, api_keys where files is not null',
});
export const rightByCondition = (db: Db) => db.query<{ hold: string; shelter: string }>({
  text: 'select hold, shelters.name as shelter from pets left join shelters on shelters.id = shelter_id where hold is not null and shelters.name > $1',
});
export const rightOnRun = (db: Catalogue) => db.writePets<Pet>({ text: \`delete from pets returning \${columns}, '1' as "transactionId"\` });
export const passedOn = (db: Db, statement: pg.QueryConfig) => db.query<Pet>(statement);

export const misspelt = (db: Db) => db.query<Pet>({ text: 'select id, nam as name from pets' });
export const missing = (db: Db) => db.query<Pet>({ text: 'select id from pets' });
export const extra = (db: Db) => db.query<{ id: bigint }>({ text: \`select \${columns} from pets\` });
export const ofOtherType = (db: Db) => db.query<{ id: number; name: string }>({ text: \`select \${columns} from pets\` });
export const ofOtherElements = (db: Db) => db.query<{ ids: string[] }>({ text: 'select array(select id from pets) as ids' });
export const ofOtherKind = (db: Db) => db.query<{ at: string }>({ text: 'select updated_at as at from pets' });
export const nullable = (db: Db) => db.query<{ hold: string }>({ text: 'select hold from pets where hold is not null or id = 1' });
export const inserted = (db: Db) => db.query<{ hold: string }>({ text: 'insert into pets (name) values ($1) returning hold' });
export const outerJoined = (db: Db) => db.query<{ shelter: string }>({
  text: 'with here as materialized (select * from shelters) select here.name as shelter from pets left join here on here.id = shelter_id',
});
export const inOnePart = (db: Db, isOld: boolean) => db.query<{ id: bigint }>({ text: isOld ? 'select id from pets' : 'select id::text from pets' });
export const notAnnounced = (db: Catalogue) => db.writePets<Pet>({ text: \`delete from pets returning \${columns}\` });
export const byCaller = (db: Db, conditions: string) => db.query<Pet>({ text: \`select \${columns} from pets where \${conditions}\` });
`;

const folder = disposeAfterAll(temporaryFolder('sql-check'));
const file = path.join(folder.path, 'pet-queries.ts');
writeFileSync(file, program);
writeFileSync(path.join(folder.path, 'package.json'), '{ "type": "module" }');
symlinkSync(path.join(root, 'node_modules'), path.join(folder.path, 'node_modules'));
const statements = await findStatements([file], path.join(root, 'tsconfig.json'));
const client = disposeAfterAll(await connectTo(await cloneTemplate(inject('postgresUrl'))));

const check = (exceptions: Readonly<Record<string, string>>, of = statements) => checkStatements(of, client, exceptions);
/** What is wrong with each of the statements. */
async function findProblems(): Promise<Array<[statement: string, problem: string]>> {
  const { problems } = await check({});
  return problems.map((problem) => [/^\S+pet-queries.ts:\d+: (?:"\w+" of )?(\w+)/.exec(problem)?.[1] ?? problem, problem]);
}

test('statements that are right have no problem, in all their forms', async () => {
  expect(statements.find(({ name }) => name === 'rightInParts')?.texts).toHaveLength(4);
  const found = await findProblems();
  expect(found.map(([statement]) => statement)).toEqual([
    'misspelt',
    'missing',
    'extra',
    'ofOtherType',
    'ofOtherElements',
    'ofOtherKind',
    'nullable',
    'inserted',
    'outerJoined',
    'inOnePart',
    'notAnnounced',
    'byCaller',
  ]);
});

test.each([
  ['misspelt', 'is rejected by PostgreSQL (column "nam" does not exist)'],
  ['missing', '"name" of missing is declared as string, and the statement does not return it'],
  ['extra', '"name" of extra is string, and is not declared'],
  ['ofOtherType', '"id" of ofOtherType is bigint, and is declared as number'],
  ['ofOtherElements', '"ids" of ofOtherElements is bigint[], and is declared as string[]'],
  ['ofOtherKind', '"at" of ofOtherKind is Date, and is declared as string'],
  ['nullable', '"hold" of nullable is pets.hold, which may be null here, and is declared as string'],
  ['inserted', '"hold" of inserted is pets.hold, which may be null here, and is declared as string'],
  ['outerJoined', '"shelter" of outerJoined is shelters.name, which may be null here, and is declared as string'],
  ['inOnePart', '"id" of inOnePart is string, and is declared as bigint'],
  ['notAnnounced', '"transactionId" of notAnnounced is declared as string, and the statement does not return it'],
  ['byCaller', 'byCaller has a text that is known only when it runs'],
])('one that is %s is found, with its line and what is wrong', async (statement, what) => {
  const line = program.slice(0, program.indexOf(`const ${statement} `)).split('\n').length;
  expect(await findProblems()).toContainEqual([statement, expect.stringContaining(`pet-queries.ts:${line}: `)]);
  expect(await findProblems()).toContainEqual([statement, expect.stringContaining(what)]);
});

test('an exception is for what needs one: for one statement, or for one column that may seem to be null', async () => {
  const { checked, problems } = await check({
    byCaller: 'A reason.',
    'nullable.hold': 'A reason.',
    right: 'A reason.',
    'right.name': 'A reason.',
  });
  expect(checked).toBe(statements.length - 2);
  expect(problems.filter((problem) => /nullable|byCaller/.test(problem))).toEqual([]);
  expect(problems.slice(-2)).toEqual([
    'tools/sql-exceptions.ts: "right" needs no exception: remove it',
    'tools/sql-exceptions.ts: "right.name" needs no exception: remove it',
  ]);
  const twice = [...statements, ...statements.filter(({ name }) => name === 'byCaller')];
  expect((await check({ byCaller: 'A reason.' }, twice)).problems).toContainEqual(expect.stringContaining('byCaller has a text'));
});
