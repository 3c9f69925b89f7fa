import { setTimeout as sleep } from 'node:timers/promises';
import type { Command } from 'commander';
import type { ReadConfig } from '../config.ts';
import { settledMs } from '../db/change-watch.ts';
import { findRecordedJournal, recordJournal } from '../db/deployment-queries.ts';
import { openDependencies } from '../dependencies.ts';
import { applyJournal } from '../recovery/apply-journal.ts';
import { describePostgres } from '../server-addresses.ts';
import { describeLines, readJournalFiles } from './journal-files.ts';
import { confirm, printJson, printLines } from './output.ts';
import { drawBar, endProgress } from './progress.ts';

export function addJournalCommands(program: Command, config: ReadConfig): void {
  const journal = program
    .command('journal')
    .description('reapply, after a restore, what was done after the backup; forget where the journal is');

  journal
    .command('apply')
    .description(
      'read logs and reapply their erasures, revocations, rotations and suspensions; run it after a restore, before serve and worker are started',
    )
    .argument('<file...>', "logs of the worker and of commands, or the file or directory of HOMEWARD_JOURNAL; '-' reads standard input")
    .option('--skip-unreadable', 'skip journal lines that were cut off, and print them')
    .option('--yes', 'do not ask on a terminal')
    .option('--json', 'print one JSON object')
    .action(async (files: string[], { yes = false, json, skipUnreadable = false }: ApplyOptions) => {
      const lines = await readJournalFiles(files, skipUnreadable);
      await using dependencies = await openDependencies(config());
      await confirm({
        target: `${describeLines(lines)}, to ${describePostgres(dependencies.config.databaseUrl)}`,
        question: 'Apply them?',
        // The terminal was read to its end as the journal, so nothing more can be asked there.
        yes: yes || files.includes('-'),
        json,
      });
      const result = await applyJournal(dependencies.db, lines, drawBar);
      endProgress();
      // Processes that are already serving have read the changes by then.
      await sleep(settledMs);
      if (json) printJson({ lines: lines.length, ...result });
      else {
        printLines(
          `Journal lines: ${lines.length}. Applied: ${result.applied}. Skipped: ${result.skipped} (the order, key, client or endpoint is not in this backup, or was changed after the line was written).`,
        );
      }
    });

  journal
    .command('forget')
    .description(
      'the store has no journal any more, so that commands need no HOMEWARD_JOURNAL; a worker that has it records the journal again',
    )
    .option('--yes', 'do not ask on a terminal')
    .option('--json', 'print one JSON object')
    .action(async ({ yes, json }: { yes?: boolean; json?: boolean }) => {
      await using dependencies = await openDependencies(config());
      const { db } = dependencies;
      const recorded = await findRecordedJournal(db);
      if (recorded !== undefined) {
        await confirm({ target: `The journal ${recorded}`, question: 'Forget it? Its files stay.', yes, json });
        await recordJournal(db, undefined);
      }
      if (json) printJson({ forgotten: recorded ?? null });
      else if (recorded === undefined) printLines('No worker has recorded a journal. Nothing was changed.');
      else
        printLines(
          `The journal ${recorded} is forgotten; its files stay. Unset HOMEWARD_JOURNAL for every worker, or it is recorded again.`,
        );
    });
}

interface ApplyOptions {
  readonly skipUnreadable?: boolean;
  readonly yes?: boolean;
  readonly json?: boolean;
}
