import { createReadStream, existsSync } from 'node:fs';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Command } from 'commander';
import type { FastifyBaseLogger } from 'fastify';
import { applyJournal } from '../../operations/recovery/apply-journal.ts';
import type { Config, ReadConfig } from '../../platform/config.ts';
import { settledMs } from '../../platform/db/change-watch.ts';
import { findRecordedJournal, recordJournal } from '../../platform/db/deployment.ts';
import type { Db, Writer } from '../../platform/db/handles.ts';
import { type JournalLine, readJournalLine } from '../../platform/journal/journal.ts';
import { type JournalPlace, listJournalFiles } from '../../platform/journal-place.ts';
import { describePostgres } from '../../platform/server-urls.ts';
import { type ConfirmOptions, confirm, drawBar, endProgress, printProblem, UsageError } from '../terminal/output.ts';
import { onStore, yesOption } from '../terminal/store-command.ts';

export function addJournalCommands(program: Command, config: ReadConfig): void {
  const journal = program
    .command('journal')
    .description('reapply, after a restore, what was done after the backup; forget where the journal is');

  const apply = journal
    .command('apply')
    .description(
      'read logs and reapply their erasures, revocations, rotations and suspensions; run it after a restore, before serve and worker are started',
    )
    .argument('<file...>', "logs of the worker and of commands, or the file or directory of HOMEWARD_JOURNAL; '-' reads standard input")
    .option('--skip-unreadable', 'skip journal lines that were cut off, and print them')
    .option(...yesOption);
  onStore(
    apply,
    config,
    async (files: string[], { yes, json, skipUnreadable = false }: ConfirmOptions & { readonly skipUnreadable?: boolean }) => {
      const lines = await readJournalFiles(files, skipUnreadable);
      return async (dependencies) => {
        const target = `${describeLines(lines)}, to ${describePostgres(dependencies.config.databaseUrl)}`;
        // If the terminal was read to its end as the journal, nothing more can be asked there.
        await confirm(target, 'Apply them?', { yes: yes || files.includes('-'), json });
        const result = await applyJournal(dependencies.db, lines, drawBar);
        endProgress();
        // Processes that are already serving have read the changes by then.
        await sleep(settledMs);
        const text = `Journal lines: ${lines.length}. Applied: ${result.applied}. Skipped: ${result.skipped} (the order, key, client or endpoint is not in this backup, or was changed after the line was written).`;
        return { json: { lines: lines.length, ...result }, text };
      };
    },
  );

  const forget = journal
    .command('forget')
    .description(
      'the store has no journal any more, so that commands need no HOMEWARD_JOURNAL; a worker that has it records the journal again',
    )
    .option(...yesOption);
  onStore(forget, config, (options: ConfirmOptions) => async ({ db }) => {
    const recorded = await findRecordedJournal(db);
    if (recorded === undefined) return { json: { forgotten: null }, text: 'No worker has recorded a journal. Nothing was changed.' };
    await confirm(`The journal ${recorded}`, 'Forget it? Its files stay.', options);
    await recordJournal(db, undefined);
    const text = `The journal ${recorded} is forgotten; its files stay. Unset HOMEWARD_JOURNAL for every worker, or it is recorded again.`;
    return { json: { forgotten: recorded }, text };
  });
}

/** Bounds memory. */
const linesMax = 1_000_000;
const anyTime = new Date(0);

type OnUnreadable = (text: string, error: unknown) => void;

/** Reads the journal lines of logs, and of all files of a directory; `-` is standard input. Other lines are skipped. */
export async function readJournalFiles(places: readonly string[], skipUnreadable: boolean): Promise<JournalLine[]> {
  const lines: JournalLine[] = [];
  for (const file of places.flatMap(filesOf)) {
    await readInto(lines, file, anyTime, (text, error) => {
      if (!skipUnreadable) throw error;
      printProblem(`skipped: ${text.slice(0, 200)}`);
    });
  }
  // Most likely this is the wrong file. Reporting success would let revoked keys work again.
  if (lines.length === 0) throw new UsageError(`There is no journal line in ${places.join(', ')}. Nothing was applied.`);
  return lines;
}

/** Reads what the journal of HOMEWARD_JOURNAL says since a time, also in the files of other hosts. There may be no line yet, and no file. */
export async function readOwnJournal(place: JournalPlace, since: Date, onUnreadable: OnUnreadable): Promise<JournalLine[]> {
  const lines: JournalLine[] = [];
  for (const file of filesOf(journalPlaceOf(place))) if (existsSync(file)) await readInto(lines, file, since, onUnreadable);
  return lines;
}

/** What HOMEWARD_JOURNAL names; empty if it is not set. */
export const journalPlaceOf = ({ journalFile, journalDirectory }: JournalPlace): string => journalDirectory || journalFile;

function filesOf(place: string): readonly string[] {
  try {
    return place === '-' ? [place] : listJournalFiles(place);
  } catch (error) {
    throw new UsageError(`${place}: ${error instanceof Error ? error.message : String(error)}. Nothing was applied.`);
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
      if (lines.length > linesMax) throw new UsageError(`There are more than ${linesMax} journal lines. Apply the files one by one.`);
    }
  } catch (error) {
    if (error instanceof UsageError) throw error;
    // If a line can't be read, nothing is applied: a partly applied journal would look complete.
    throw new UsageError(`${file}, line ${number}: ${error instanceof Error ? error.message : String(error)}. Nothing was applied.`);
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

/** For a question: how many, and of which time. */
export function describeLines(lines: readonly JournalLine[]): string {
  const times = lines.map(({ at }) => at.getTime()).toSorted((a, b) => a - b);
  const [first, last] = [times[0], times.at(-1)].map((time) => new Date(time ?? 0).toISOString().slice(0, 16));
  return `${lines.length} journal ${lines.length === 1 ? 'line' : 'lines'} written from ${first} to ${last} UTC`;
}

interface WorkerJournalParts {
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
