import type { Command } from 'commander';
import { isEarlierStore, takeOverEarlierStore } from '../../operations/doctor/earlier-store.ts';
import type { ReadConfig } from '../../platform/config.ts';
import { migrate } from '../../platform/db/migrate.ts';
import { type MigrationPlan, planMigrations } from '../../platform/db/migration-plan.ts';
import type { OwnerConnection } from '../../platform/db/owner-connection.ts';
import { printJson, printLines, printProblem, printTable } from '../terminal/output.ts';

const waitIntervalMs = 5_000;

export function addMigrateCommand(program: Command, config: ReadConfig): void {
  program
    .command('migrate')
    .description('migrate the database to this release; safe to run again, and to run twice at the same time')
    .option('--plan', 'only print which migrations would run, and whether you can go back')
    .option('--json', 'print one JSON object')
    .action(async ({ plan, json }: { plan?: boolean; json?: boolean }) => {
      if (plan) {
        const planned = await planMigrations(config().databaseUrl);
        if (json) printJson(planned);
        else if (isEarlierStore(planned.unknown)) printLines(takesOver);
        else printPlan(planned);
        return;
      }
      let isTakenOver = false;
      const onLocked = async (owner: OwnerConnection) => {
        isTakenOver = await takeOverEarlierStore(owner);
      };
      const applied = await migrate(config().databaseUrl, { onLocked, onWait: everyFewSeconds(printProblem) });
      if (json) printJson({ applied });
      else if (isTakenOver) printLines('The database is one of 1.0.0 now. No row was changed.');
      else printLines(applied.length > 0 ? `Applied ${applied.join(', ')}.` : 'Nothing to do: the database is up to date.');
    });
}

const takesOver =
  "The database was made before 1.0.0. Stop every process of the store; 'homeward migrate' then makes it one of 1.0.0 and changes no row. There is no way back but a backup.";

function printPlan({ applied, pending, unknown, canGoBack, oldestRelease, obstacles }: MigrationPlan): void {
  printLines(
    pending.length === 0
      ? `Nothing to do: the database has all ${applied.length} migrations.`
      : `The database has ${applied.length} of ${applied.length + pending.length} migrations. 'homeward migrate' would run:`,
  );
  if (pending.length > 0) {
    const rows = pending.map(({ name, release, change, waits }) => ({
      migration: name,
      release,
      change,
      online: waits ? `no: ${waits}` : 'yes',
    }));
    printLines('');
    printTable(rows, '');
    printLines('');
  }
  if (unknown.length > 0)
    printLines(`Only a newer release knows ${unknown.join(', ')}: ask its 'homeward migrate --plan' whether this one runs on them.`);
  if (pending.length > 0 && canGoBack !== null) {
    printLines(
      canGoBack
        ? 'What runs now also runs on the schema after that: you can go back to it. The schema stays.'
        : 'What runs now does not run on the schema after that: you can go back only by restoring a backup.',
    );
  }
  const why = obstacles.map(({ name, reason }) => `${name}: ${reason}`).join('; ');
  printLines(`Releases from ${oldestRelease} on run on the schema of this one${why ? `, and earlier ones don't (${why})` : ''}.`);
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
