import type { Command } from 'commander';
import type { ReadConfig } from '../config.ts';
import { migrate } from '../db/migrate.ts';
import { printJson, printLines } from './output.ts';

export function addMigrateCommand(program: Command, config: ReadConfig): void {
  program
    .command('migrate')
    .description('migrate the database to this release; safe to run again, and to run twice at the same time')
    .option('--json', 'print one JSON object')
    .action(async ({ json }: { json?: boolean }) => {
      const applied = await migrate(config().databaseUrl);
      if (json) printJson({ applied });
      else printLines(applied.length > 0 ? `Applied ${applied.join(', ')}.` : 'Nothing to do: the database is up to date.');
    });
}
