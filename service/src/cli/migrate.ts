import type { Command } from 'commander';
import type { ReadConfig } from '../config.ts';
import { migrate } from '../db/migrate.ts';
import { printJson, printLines, printProblem } from './output.ts';

const waitIntervalMs = 5_000;

export function addMigrateCommand(program: Command, config: ReadConfig): void {
  program
    .command('migrate')
    .description('migrate the database to this release; safe to run again, and to run twice at the same time')
    .option('--json', 'print one JSON object')
    .action(async ({ json }: { json?: boolean }) => {
      const applied = await migrate(config().databaseUrl, { onWait: everyFewSeconds(printProblem) });
      if (json) printJson({ applied });
      else printLines(applied.length > 0 ? `Applied ${applied.join(', ')}.` : 'Nothing to do: the database is up to date.');
    });
}

/** Passes on the first call, and then at most one in `waitIntervalMs`. */
function everyFewSeconds(print: (text: string) => void): (text: string) => void {
  let nextAtMs = 0;
  return (text) => {
    if (performance.now() < nextAtMs) return;
    nextAtMs = performance.now() + waitIntervalMs;
    print(text);
  };
}
