import { createReadStream } from 'node:fs';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Command } from 'commander';
import type { ReadConfig } from '../config.ts';
import { settledMs } from '../db/change-watch.ts';
import { openDependencies } from '../dependencies.ts';
import { type JournalLine, readJournalLine } from '../journal/journal-lines.ts';
import { applyJournal } from '../recovery/apply-journal.ts';
import { confirm, printJson, printLines, printProblem, UsageError } from './output.ts';
import { drawBar, endProgress } from './progress.ts';
import { describePostgres } from './server-addresses.ts';

/** Bounds memory. */
const linesMax = 1_000_000;

export function addJournalCommands(program: Command, config: ReadConfig): void {
  const journal = program.command('journal').description('reapply, after a restore, what was done after the backup');

  journal
    .command('apply')
    .description(
      'read logs and reapply their erasures, revocations, rotations and suspensions; run it after a restore, before serve and worker are started',
    )
    .argument('<file...>', "logs of the worker and of commands, or the file of HOMEWARD_JOURNAL; '-' reads standard input")
    .option('--skip-unreadable', 'skip journal lines that were cut off, and print them')
    .option('--yes', 'do not ask on a terminal')
    .option('--json', 'print one JSON object')
    .action(async (files: string[], { yes = false, json, skipUnreadable = false }: ApplyOptions) => {
      const lines = await readLines(files, skipUnreadable);
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
}

interface ApplyOptions {
  readonly skipUnreadable?: boolean;
  readonly yes?: boolean;
  readonly json?: boolean;
}

function describeLines(lines: readonly JournalLine[]): string {
  const times = lines.map(({ at }) => at.getTime()).toSorted((a, b) => a - b);
  const [first, last] = [times[0], times.at(-1)].map((time) => new Date(time ?? 0).toISOString().slice(0, 16));
  return `${lines.length} journal ${lines.length === 1 ? 'line' : 'lines'} written from ${first} to ${last} UTC`;
}

async function readLines(files: readonly string[], skipUnreadable: boolean): Promise<JournalLine[]> {
  const lines: JournalLine[] = [];
  for (const file of files) {
    const input = file === '-' ? process.stdin : createReadStream(file);
    let number = 0;
    try {
      for await (const text of createInterface({ input, crlfDelay: Number.POSITIVE_INFINITY })) {
        number += 1;
        const line = readLine(text, skipUnreadable);
        if (line) lines.push(line);
        if (lines.length > linesMax) throw new UsageError(`There are more than ${linesMax} journal lines. Apply the files one by one.`);
      }
    } catch (error) {
      if (error instanceof UsageError) throw error;
      // If a line can't be read, nothing is applied: a partly applied journal would look complete.
      throw new UsageError(`${file}, line ${number}: ${error instanceof Error ? error.message : String(error)}. Nothing was applied.`);
    }
  }
  // Most likely this is the wrong file. Reporting success would let revoked keys work again.
  if (lines.length === 0) throw new UsageError(`There is no journal line in ${files.join(', ')}. Nothing was applied.`);
  return lines;
}

function readLine(text: string, skipUnreadable: boolean): JournalLine | undefined {
  try {
    return readJournalLine(text);
  } catch (error) {
    if (!skipUnreadable) throw error;
    printProblem(`skipped: ${text.slice(0, 200)}`);
    return undefined;
  }
}
