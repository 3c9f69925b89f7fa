import type { Command } from 'commander';
import type { ReadConfig } from '../config.ts';
import { openDependencies } from '../dependencies.ts';
import { verifyHistory } from '../verify/verify.ts';
import { printJson, printLines } from './output.ts';
import { drawBar, endProgress } from './progress.ts';

export function addVerifyCommand(program: Command, config: ReadConfig): void {
  program
    .command('verify')
    .description(
      'replay the whole history and check that no animal ever had two open orders at once; on a violation, print it and exit with 1',
    )
    .option('--json', 'print one JSON object')
    .action(async ({ json }: { json?: boolean }) => {
      await using dependencies = await openDependencies(config());
      const result = await verifyHistory(dependencies.db, drawBar);
      endProgress();
      if (json) printJson({ holds: result.violation === undefined, ...result });
      else {
        printLines(`Replayed the history: rows ${result.rows}, animals ${result.animals}, orders ${result.orders}.`);
        if (result.violation) printLines(`VIOLATION: ${result.violation}.`);
        else
          printLines('No animal ever had two open orders at once, every transition was legal, and the current state matches the history.');
      }
      if (result.violation) process.exitCode = 1;
    });
}
