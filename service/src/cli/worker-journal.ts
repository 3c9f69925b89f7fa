// What a worker lets commands know of the journal.
import path from 'node:path';
import type { FastifyBaseLogger } from 'fastify';
import type { Config } from '../platform/config.ts';
import { findRecordedJournal, recordJournal } from '../platform/db/deployment.ts';
import type { Db, Writer } from '../platform/db/handles.ts';
import { placeOf } from './journal-files.ts';

export interface WorkerJournalParts {
  readonly db: Db & Writer;
  readonly config: Pick<Config, 'journalFile' | 'journalDirectory'>;
  readonly log: Pick<FastifyBaseLogger, 'info' | 'warn'>;
}

/**
 * Returns a job that records where the journal is. A worker without one deletes no record, since its variable may be missing by mistake:
 * it warns, once. 'homeward journal forget' deletes it.
 */
export function journalRecorder({ db, config, log }: WorkerJournalParts): () => Promise<0> {
  let hasWarned = false;
  let isRecorded = false;
  return async () => {
    // Once: two workers that name it differently must not replace each other's record for ever.
    if (isRecorded) return 0;
    if (placeOf(config)) {
      const journal = absolute(placeOf(config));
      if (await recordJournal(db, journal)) log.info({ journal }, 'journal recorded: commands without HOMEWARD_JOURNAL are rejected');
      isRecorded = true;
      return 0;
    }
    const journal = hasWarned ? undefined : await findRecordedJournal(db);
    if (journal === undefined) return 0;
    hasWarned = true;
    log.warn(
      { journal },
      "HOMEWARD_JOURNAL is not set, and the store has a journal: set it. If the store shall have none any more, run 'homeward journal forget'",
    );
    return 0;
  };
}

/** Keeps the slash at the end, which tells a directory. */
const absolute = (place: string): string => `${path.resolve(place)}${place.endsWith('/') ? '/' : ''}`;
