import { createReadStream, existsSync } from 'node:fs';
import path from 'node:path';
import { createInterface } from 'node:readline';
import type { Config } from '../../platform/config.ts';
import { findRecordedJournal, recordJournal } from '../../platform/db/deployment.ts';
import type { Db, Writer } from '../../platform/db/handles.ts';
import { type JournalLine, readJournalLine } from '../../platform/journal/journal.ts';
import { type JournalPlace, journalPlaceOf, listJournalFiles, UnreadableJournal } from '../../platform/journal-place.ts';
import type { Log } from '../../platform/log.ts';

/** Bounds memory. */
const linesMax = 1_000_000;
const anyTime = new Date(0);

/** Throws, or the line is skipped. */
type OnUnreadable = (text: string, error: unknown) => void;

/** Reads the journal lines of logs, and of all files of a directory; `-` is standard input. Other lines are skipped. */
export async function readJournalFiles(places: readonly string[], onUnreadable: OnUnreadable): Promise<JournalLine[]> {
  const lines: JournalLine[] = [];
  for (const file of places.flatMap(filesOf)) await readInto(lines, file, anyTime, onUnreadable);
  // Most likely this is the wrong file. Reporting success would let revoked keys work again.
  if (lines.length === 0) throw new UnreadableJournal(`There is no journal line in ${places.join(', ')}. Nothing was applied.`);
  return lines;
}

/** Reads what the journal of HOMEWARD_JOURNAL says since a time, also in the files of other hosts. There may be no line yet, and no file. */
export async function readOwnJournal(place: JournalPlace, since: Date, onUnreadable: OnUnreadable): Promise<JournalLine[]> {
  const lines: JournalLine[] = [];
  for (const file of filesOf(journalPlaceOf(place))) if (existsSync(file)) await readInto(lines, file, since, onUnreadable);
  return lines;
}

function filesOf(place: string): readonly string[] {
  try {
    return place === '-' ? [place] : listJournalFiles(place);
  } catch (error) {
    throw new UnreadableJournal(`${place}: ${error instanceof Error ? error.message : String(error)}. Nothing was applied.`);
  }
}

async function readInto(lines: JournalLine[], file: string, since: Date, onUnreadable: OnUnreadable): Promise<void> {
  const input = file === '-' ? process.stdin : createReadStream(file);
  let number = 0;
  try {
    for await (const text of createInterface({ input, crlfDelay: Number.POSITIVE_INFINITY })) {
      number += 1;
      const line = readLine(text, onUnreadable);
      if (line && line.at >= since) lines.push(line);
      if (lines.length > linesMax)
        throw new UnreadableJournal(`There are more than ${linesMax} journal lines. Apply the files one by one.`);
    }
  } catch (error) {
    if (error instanceof UnreadableJournal) throw error;
    // If a line can't be read, nothing is applied: a partly applied journal would look complete.
    throw new UnreadableJournal(`${file}, line ${number}: ${error instanceof Error ? error.message : String(error)}. Nothing was applied.`);
  }
}

function readLine(text: string, onUnreadable: OnUnreadable): JournalLine | undefined {
  try {
    return readJournalLine(text);
  } catch (error) {
    onUnreadable(text, error);
    return undefined;
  }
}

interface WorkerJournalParts {
  readonly db: Db & Writer;
  readonly config: Pick<Config, 'journalFile' | 'journalDirectory'>;
  readonly log: Log;
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
    if (journalPlaceOf(config)) {
      const journal = absolute(journalPlaceOf(config));
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
