// What a change by a command leaves: its line in the journal, and its author in the audit. This is the only way for a command to get a journal,
// so that none forgets to look whether the store has one.

import { hostname, userInfo } from 'node:os';
import type { AuditAuthor } from '../../access/audit/audit.ts';
import type { Manager } from '../../access/people/people.ts';
import type { Dependencies } from '../../dependencies.ts';
import { rightsOf } from '../../domain/roles.ts';
import type { Config } from '../../platform/config.ts';
import { findRecordedJournal } from '../../platform/db/deployment.ts';
import { type Journal, openJournal } from '../../platform/journal/journal.ts';
import { printProblem, UsageError } from './output.ts';

export interface JournalOptions {
  readonly withoutJournal?: boolean;
}

export const withoutJournalOption = [
  '--without-journal',
  'make the change although the store has a journal and HOMEWARD_JOURNAL is not set; append the line that is printed to the journal',
] as const;

/**
 * Throws if the store has a journal that this command would not write to: a restore would undo the change, since nobody collects what
 * commands print. Call it before the operator is asked.
 */
export async function openCommandJournal(
  { config, db }: Pick<Dependencies, 'config' | 'db'>,
  { withoutJournal = false }: JournalOptions,
): Promise<Journal> {
  // A command's standard output is its result, so its journal goes to standard error.
  const journal = openJournal({ fd: 2, file: config.journalFile });
  const recorded = config.journalFile ? undefined : await findRecordedJournal(db);
  if (recorded === undefined) return journal;
  if (!withoutJournal)
    throw new UsageError(
      `This store has a journal, and HOMEWARD_JOURNAL is not set: a restore would undo this change. Nothing was changed. Set HOMEWARD_JOURNAL to ${recorded}, as the worker has it, or run the command where the worker runs. Or add --without-journal, and append the line that is printed to the journal.`,
    );
  let isSaid = false;
  return (entry) => {
    const isWritten = journal(entry);
    if (!isSaid)
      printProblem(
        `This change is not in the journal. Append each line with "journal":true that is printed here to ${recorded.endsWith('/') ? 'a file in ' : ''}${recorded}.`,
      );
    isSaid = true;
    return isWritten;
  };
}

/** A change was made on a full disk, without its line in the journal. The exit status is 1, although the change took effect. */
export function reportMissingLine({ journalFile }: Pick<Config, 'journalFile'>): void {
  const [where, fix] = journalFile
    ? [journalFile, `Make room, then append the line above to it`]
    : ['the log', 'Make room, then run the command again'];
  printProblem(`The change is made, but the disk is full and ${where} lacks its line: restoring a backup would undo the change. ${fix}.`);
  process.exitCode = 1;
}

const lengthMax = 200;

/** Who runs this command, as the audit records it: the login and the host. PostgreSQL's login is the store's own. */
export const commandAuthor = (): AuditAuthor => ({
  clientId: null,
  keyId: null,
  personId: null,
  origin: { login: loginName().slice(0, lengthMax), host: hostname().slice(0, lengthMax) },
});

/** A command may do what an admin of the store may. */
export const commandManager = (): Manager => ({ ...commandAuthor(), shelterId: null, acts: rightsOf('admin', null)?.acts ?? [] });

/** In a container the user may have no name. */
function loginName(): string {
  try {
    return userInfo().username;
  } catch {
    return `uid ${process.getuid?.() ?? '?'}`;
  }
}
