import type { Command } from 'commander';
import { verifyHistory } from '../../adoption/verify/verify.ts';
import type { ReadConfig } from '../../platform/config.ts';
import { drawBar, endProgress } from '../terminal/output.ts';
import { onStore } from '../terminal/store-command.ts';

export function addVerifyCommand(program: Command, config: ReadConfig): void {
  const verify = program
    .command('verify')
    .description(
      'replay the whole history and check that no animal ever had two open orders at once; on a violation, print it and exit with 1',
    );
  onStore(verify, config, () => async ({ db }) => {
    const result = await verifyHistory(db, drawBar);
    endProgress();
    const { rows, animals, orders, applications, violation } = result;
    if (violation) process.exitCode = 1;
    const outcome = violation
      ? `VIOLATION: ${violation}.`
      : 'No animal ever had two open orders at once, every transition was legal, and the current state matches the history.';
    return {
      json: { holds: violation === undefined, ...result },
      text: [`Replayed the history: rows ${rows}, animals ${animals}, orders ${orders}, applications ${applications}.`, outcome],
    };
  });
}
