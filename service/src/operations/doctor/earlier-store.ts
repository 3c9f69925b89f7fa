import { readFileSync } from 'node:fs';
import path from 'node:path';
import pg from 'pg';
import { ConfigError } from '../../platform/config.ts';
import { migrationsDir, readFacts, readMigrations } from '../../platform/db/migration-files.ts';
import { readRecorded, replaceRecords } from '../../platform/db/migration-records.ts';
import { type OwnerConnection, transactAsOwner } from '../../platform/db/owner-connection.ts';
import { applicationRole } from '../../platform/db/pool.ts';
import { untilNobodyIsConnected } from '../recovery/restored-store.ts';
import { describeDifferences } from './schema-check.ts';
import { readSchema, type Schema } from './schema-queries.ts';

/** Migrations that were never released made the stores of before 1.0.0. The folder and this file go with the first release after it. */
const folder = path.join(migrationsDir, 'before-1.0.0');
const firstRelease = '1.0.0';
const lockTimeoutMs = 10_000;
const listedMax = 5;
const otherwise =
  'Migrate it with the last version before 1.0.0 and then with this one, or begin with an empty database. Nothing was changed.';

interface EarlierStore {
  readonly migrations: readonly string[];
  readonly schema: Schema;
}

const readEarlier = () => JSON.parse(readFileSync(path.join(folder, 'store.json'), 'utf8')) as EarlierStore;

/** Whether migrations from before 1.0.0 are among these. */
export function isEarlierStore(recorded: readonly string[]): boolean {
  const { migrations } = readEarlier();
  return recorded.some((name) => migrations.includes(name));
}

/**
 * Makes a store of before 1.0.0 one of 1.0.0, in one transaction that changes no row of it: if it has exactly the migrations and the schema
 * of before. Its processes don't run on the schema afterwards, so none may be connected. Any other store from before is rejected, and one of
 * 1.0.0 or later is left as it is. Returns whether it was one of before.
 */
export async function takeOverEarlierStore(owner: OwnerConnection): Promise<boolean> {
  const recorded = await readRecorded(owner);
  const { migrations, schema } = readEarlier();
  if (!recorded.some((name) => migrations.includes(name))) return false;
  const lacking = migrations.filter((name) => !recorded.includes(name));
  const unknown = recorded.filter((name) => !migrations.includes(name));
  if (lacking.length > 0) throw new NotTakenOver(`it lacks the migrations ${listed(lacking)}`);
  if (unknown.length > 0) throw new NotTakenOver(`it also has the migrations ${listed(unknown)}`);
  await untilNobodyIsConnected(owner);
  await transactAsOwner(owner, lockTimeoutMs, async (tx) => {
    const differences = describeDifferences(await readSchema(tx, applicationRole), schema);
    if (differences.length > 0) throw new NotTakenOver(`its schema is not that of its migrations, ${listed(differences)}`);
    await tx.query({ text: readFileSync(path.join(folder, 'changes.sql'), 'utf8') }).catch(rejectUnfinished);
    await replaceRecords(tx, ownMigrations());
  });
  return true;
}

/** What changes.sql raises. */
function rejectUnfinished(error: unknown): never {
  throw error instanceof pg.DatabaseError && error.code === 'P0001' ? new NotTakenOver(error.message) : error;
}

class NotTakenOver extends ConfigError {
  constructor(why: string) {
    super(`This database was made before 1.0.0, and can't be migrated: ${why}. ${otherwise}`);
  }
}

const ownMigrations = () =>
  readMigrations(migrationsDir).flatMap(({ name, sql }) => {
    const facts = readFacts(name, sql);
    return 'release' in facts && facts.release === firstRelease ? [name] : [];
  });

const listed = (names: readonly string[]) =>
  names.slice(0, listedMax).join(', ') + (names.length > listedMax ? ` and ${names.length - listedMax} more` : '');
