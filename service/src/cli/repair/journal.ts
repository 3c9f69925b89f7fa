import { setTimeout as sleep } from 'node:timers/promises';
import type { Command } from 'commander';
import { applyJournal } from '../../operations/recovery/apply-journal.ts';
import { readJournalFiles } from '../../operations/recovery/journal-files.ts';
import type { ReadConfig } from '../../platform/config.ts';
import { settledMs } from '../../platform/db/change-watch.ts';
import { findRecordedJournal, recordJournal } from '../../platform/db/deployment.ts';
import type { JournalLine } from '../../platform/journal/journal.ts';
import { describePostgres } from '../../platform/server-urls.ts';
import { type ConfirmOptions, confirm, drawBar, endProgress, printProblem } from '../terminal/output.ts';
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
      const lines = await readJournalFiles(files, unreadable(skipUnreadable));
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

/** What is done with a line that was cut off. */
export const unreadable = (isSkipped: boolean) => (text: string, error: unknown) => {
  if (!isSkipped) throw error;
  printProblem(`skipped: ${text.slice(0, 200)}`);
};

/** For a question: how many, and of which time. */
export function describeLines(lines: readonly JournalLine[]): string {
  const times = lines.map(({ at }) => at.getTime()).toSorted((a, b) => a - b);
  const [first, last] = [times[0], times.at(-1)].map((time) => new Date(time ?? 0).toISOString().slice(0, 16));
  return `${lines.length} journal ${lines.length === 1 ? 'line' : 'lines'} written from ${first} to ${last} UTC`;
}
