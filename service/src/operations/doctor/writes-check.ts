import type { Db } from '../../platform/db/handles.ts';
import { tryWrites } from './doctor-queries.ts';
import { broken, type Judgement, ok } from './finding.ts';

/** By the class of PostgreSQL's error, or the whole code. */
const fixes: Readonly<Record<string, string>> = {
  '53100': "Make room on the disk of PostgreSQL: its log names the file. Don't delete anything in its data directory by hand.",
  '53': 'Look at the log of PostgreSQL, and give it the memory, the disk or the connections that it names.',
  '25006': 'Make the database writable: see default_transaction_read_only, and whether a tool has made it read-only.',
  '42501':
    'Something that the store did not make is in the way: look at the owner and the rights of what the message names, and at triggers that use it.',
  '58': 'Look at the disk, the file system and the log of PostgreSQL. If a disk fails, restore: docs/backup.md.',
  XX: 'A file of PostgreSQL is damaged. Save a copy of the data directory, look at its log, and restore: docs/backup.md. For an index alone: reindex it.',
  P0: 'A trigger or a rule that is not of the store rejects it: look at the triggers of the table that the message names.',
  '23': 'A constraint that is not of the store rejects it: look at those of the table that the message names.',
};

/** Writes an animal and an order as the store does, in a transaction that is rolled back: what prevents it is found whatever it is. */
export async function checkWrites(db: Db): Promise<Judgement> {
  try {
    await tryWrites(db);
    return ok('An animal and an order can be written (tried, and rolled back).');
  } catch (error) {
    const { code = '', message, table, constraint } = error as Error & { code?: string; table?: string; constraint?: string };
    // Another check names who has locked it.
    if (code === lockTimeout || code === cancelled) throw error;
    const where = [table && `table ${table}`, constraint && `constraint ${constraint}`].filter(Boolean).join(', ');
    const found = `An animal or an order can't be written: ${message}${where ? ` (${where})` : ''}.`;
    return broken(found, fixes[code] ?? fixes[code.slice(0, 2)] ?? `Look at the log of PostgreSQL (${code}).`);
  }
}

const lockTimeout = '55P03';
const cancelled = '57014';
