import type { Command } from 'commander';
import type { ReadConfig } from '../../platform/config.ts';
import { work } from '../../worker.ts';

export function addWorkerCommand(program: Command, config: ReadConfig): void {
  program
    .command('worker')
    .description(
      'expire orders that were not approved in time, end holds of animals, publish events, send webhooks, process photos, send mail, erase adopters after the retention period, and delete old records; run one or more',
    )
    .action(() => work(config()));
}
