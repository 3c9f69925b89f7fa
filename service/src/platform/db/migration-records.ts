import type { Db } from './handles.ts';
import type { MigrationFile } from './migration-files.ts';

/** Which migrations a database has. Without the table, none. */
export async function readRecorded(db: Db): Promise<string[]> {
  const { rows: found } = await db.query<{ exists: boolean }>({ text: "select to_regclass('schema_migrations') is not null as exists" });
  if (!found[0]?.exists) return [];
  const { rows } = await db.query<{ name: string }>({ text: 'select name from schema_migrations order by name' });
  return rows.map(({ name }) => name);
}

/** In their order. Rejects a file whose number is below that of one that is recorded: databases would get them in different orders. */
export function findPending(files: readonly MigrationFile[], recorded: readonly string[]): MigrationFile[] {
  const pending = files.filter(({ name }) => !recorded.includes(name));
  const last = files.findLast(({ name }) => recorded.includes(name));
  const early = pending.find(({ name }) => last !== undefined && name < last.name);
  if (early)
    throw new Error(`The migration ${early.name} comes before ${last?.name}, which the database has already. Give it a later number.`);
  return pending;
}

/** Only if it is missing: also a statement that changes nothing needs the right to create, and would wait for a standby that is away. */
export async function createRecords(owner: Db): Promise<void> {
  const { rows } = await owner.query<{ exists: boolean }>({ text: "select to_regclass('schema_migrations') is not null as exists" });
  if (rows[0]?.exists) return;
  await owner.query({
    text: 'create table schema_migrations (id serial primary key, name varchar(255) not null, run_on timestamp not null)',
  });
}

export async function grantRecords(owner: Db): Promise<void> {
  const { rows } = await owner.query<{ mayRead: boolean }>({
    text: `select has_table_privilege('homeward_app', 'schema_migrations', 'select') as "mayRead"`,
  });
  if (!rows[0]?.mayRead) await owner.query({ text: 'grant select on schema_migrations to homeward_app' });
}

export async function recordMigration(owner: Db, name: string): Promise<void> {
  await owner.query({ text: 'insert into schema_migrations (name, run_on) values ($1, now())', values: [name] });
}

/** In place of all that are recorded. */
export async function replaceRecords(owner: Db, names: readonly string[]): Promise<void> {
  await owner.query({ text: 'delete from schema_migrations' });
  for (const name of names) await recordMigration(owner, name);
}
