import type { Db } from './handles.ts';
import {
  compareReleases,
  latestRelease,
  type MigrationFacts,
  type MigrationFile,
  migrationsDir,
  readFacts,
  readMigrations,
} from './migration-files.ts';
import { readRecorded } from './migration-records.ts';
import { connectAsOwner } from './owner-connection.ts';

interface PlannedMigration extends MigrationFacts {
  readonly name: string;
}

export interface MigrationPlan {
  /** The migrations of this program that the database has. */
  readonly applied: readonly string[];
  /** Those that `migrate` would run, in this order. */
  readonly pending: readonly PlannedMigration[];
  /** Those that only a newer release knows. */
  readonly unknown: readonly string[];
  /** Whether the processes that run on the schema of now also run on the one after the migration. Null: the database is empty. */
  readonly canGoBack: boolean | null;
  /** The oldest release whose processes run on the schema after the migration. */
  readonly oldestRelease: string;
  /** What keeps earlier ones from it. Empty: there are none. */
  readonly obstacles: readonly PlannedMigration[];
}

/** Reads which migrations the database has. Writes nothing: with the login of the owner or of the processes. */
export async function planMigrations(databaseUrl: string): Promise<MigrationPlan> {
  await using client = await connectAsOwner(databaseUrl, 'homeward migrate --plan');
  await client.query({ text: 'begin read only' });
  return planFrom(readMigrations(migrationsDir), await readApplied(client));
}

async function readApplied(client: Db): Promise<string[]> {
  const { rows } = await client.query<{ mayRead: boolean }>({
    text: `select coalesce(has_table_privilege(to_regclass('schema_migrations'), 'select'), true) as "mayRead"`,
  });
  // A login that has the rights of the processes only after it has switched to their role.
  if (!rows[0]?.mayRead) await client.query({ text: 'set local role homeward_app' });
  return readRecorded(client);
}

export function planFrom(files: readonly Pick<MigrationFile, 'name' | 'sql'>[], names: readonly string[]): MigrationPlan {
  const all = files.map(({ name, sql }): PlannedMigration => {
    const facts = readFacts(name, sql);
    if ('length' in facts) throw new Error(facts.join(' '));
    return { name, ...facts };
  });
  const applied = all.filter(({ name }) => names.includes(name));
  const pending = all.filter(({ name }) => !names.includes(name));
  const oldestRelease = oldestOn(all);
  // What runs now is at least what the schema of now requires, and at least the last release that it has all of.
  const incomplete = pending.map(({ release }) => release);
  const complete = applied.map(({ release }) => release).filter((release) => !incomplete.some((one) => compareReleases(one, release) <= 0));
  const running = latestRelease([oldestOn(applied), ...complete]) ?? '0.0.0';
  return {
    applied: applied.map(({ name }) => name),
    pending,
    unknown: names.filter((name) => !all.some((one) => one.name === name)).toSorted(),
    canGoBack: applied.length === 0 ? null : pending.every(({ runsWith }) => compareReleases(runsWith, running) <= 0),
    oldestRelease,
    obstacles: all.filter(({ runsWith, reason }) => reason !== undefined && compareReleases(runsWith, oldestRelease) === 0),
  };
}

const oldestOn = (migrations: readonly PlannedMigration[]): string => latestRelease(migrations.map(({ runsWith }) => runsWith)) ?? '0.0.0';
