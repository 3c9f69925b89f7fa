import { setTimeout as sleep } from 'node:timers/promises';
import closeWithGrace from 'close-with-grace';
import type { Command } from 'commander';
import type { Config, ReadConfig } from '../config.ts';
import { openDependencies } from '../dependencies.ts';
import { deleteOldAnswers } from '../idempotency/idempotency-queries.ts';
import { expireDueOrders } from '../orders/orders.ts';

const batchSizeMax = 100;
/** An animal is free at most a second after its order expired: a look costs one index probe. */
const expiryIntervalMs = 250;
const sweepIntervalMs = 60_000;
const sweepSizeMax = 1_000;

export function addWorkerCommand(program: Command, config: ReadConfig): void {
  program
    .command('worker')
    .description('expire orders that were not approved in time, and sweep away what is kept for a day; run one or more')
    .action(() => work(config()));
}

async function work(config: Config): Promise<void> {
  const dependencies = await openDependencies(config);
  const { db, catalogue, log } = dependencies;
  const stopping = new AbortController();
  /** Repeats a job until it finds nothing to do, then waits; a failure is logged and tried again after the wait. */
  const repeat = async (name: string, intervalMs: number, job: () => Promise<number>) => {
    while (!stopping.signal.aborted) {
      const done = await job().catch((error) => {
        log.error({ err: error, job: name }, 'job failed');
        return 0;
      });
      if (done > 0) log.info({ job: name, count: done }, 'job done');
      else await sleep(intervalMs, undefined, { signal: stopping.signal }).catch(() => {});
    }
  };
  log.info('working');
  const jobs = Promise.all([
    repeat('expire-orders', expiryIntervalMs, () => expireDueOrders(db, catalogue, batchSizeMax)),
    repeat('sweep-idempotent-answers', sweepIntervalMs, () => deleteOldAnswers(db, sweepSizeMax)),
  ]);
  closeWithGrace({ delay: 10_000, logger: false }, async ({ err }) => {
    if (err) log.fatal({ err }, 'uncaught');
    stopping.abort();
    await jobs;
    await dependencies[Symbol.asyncDispose]();
    log.info('closed');
  });
}
