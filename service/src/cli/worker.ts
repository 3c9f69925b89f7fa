import { setTimeout as sleep } from 'node:timers/promises';
import closeWithGrace from 'close-with-grace';
import type { Command } from 'commander';
import type { Config, ReadConfig } from '../config.ts';
import { Deliverer } from '../delivery/deliverer.ts';
import { SafeSender } from '../delivery/safe-sender.ts';
import { openDependencies } from '../dependencies.ts';
import { rotatePartitions } from '../events/events.ts';
import { Publisher } from '../events/publisher.ts';
import { deleteOldResponses } from '../idempotency/idempotency-queries.ts';
import { eraseOldAdopters } from '../orders/adopters.ts';
import { expireDueOrders } from '../orders/orders.ts';
import { rotateAttemptPartitions, sweepDeliveries } from '../webhooks/deliveries.ts';
import { disableWebhooksOfEndedKeys } from '../webhooks/endpoint-keys.ts';
import { listFailing } from '../webhooks/webhooks.ts';

const batchSizeMax = 100;
/** Short, so that an animal is available within a second after its order expired. A poll costs one index probe. */
const expiryIntervalMs = 250;
const publishIntervalMs = 50;
const publishSizeMax = 500;
const partitionIntervalMs = 3_600_000;
const sweepIntervalMs = 60_000;
const sweepSizeMax = 1_000;
const warnIntervalMs = 3_600_000;
const endedKeysIntervalMs = 5_000;
/** Polls overlap: their times are from the clock of this process, the ends of keys from PostgreSQL's. */
const endedKeysOverlapMs = 60_000;

export function addWorkerCommand(program: Command, config: ReadConfig): void {
  program
    .command('worker')
    .description(
      'expire orders that were not approved in time, publish events, send webhooks, erase adopters after the retention period, and delete old records; run one or more',
    )
    .action(() => work(config()));
}

async function work(config: Config): Promise<void> {
  const dependencies = await openDependencies(config, { byIndex: true });
  const { db, catalogue, journal, log } = dependencies;
  const retention = { adopterDays: config.adopterRetentionDays, adoptionDays: config.adoptionRetentionDays };
  const stopping = new AbortController();
  /**
   * Runs a job in a loop: again at once while it finds work, else after the interval. A failure is logged and retried after the
   * interval.
   */
  const runJob = async (name: string, intervalMs: number, job: () => Promise<number>, level: 'info' | 'debug' = 'info') => {
    while (!stopping.signal.aborted) {
      const done = await job().catch((error) => {
        log.error({ err: error, job: name }, 'job failed');
        return 0;
      });
      if (done > 0) log[level]({ job: name, count: done }, 'job done');
      else await sleep(intervalMs, undefined, { signal: stopping.signal }).catch(() => {});
    }
  };
  // Changes are announced before their events are readable, so that a reader of an event finds the change in the list too.
  const beforePublishing = (transactionIds: readonly string[]) => catalogue.announceMissing(transactionIds);
  const publisher = new Publisher({ db, batchSizeMax: publishSizeMax, beforePublishing });
  const sender = new SafeSender({ toLoopback: config.webhooksToLoopback === 'on' });
  const deliverer = new Deliverer({
    db,
    sender,
    onDisabled: (webhook) => log.warn(logFields(webhook), 'webhook disabled'),
    onError: (error) => log.error({ err: error, job: 'deliver-webhooks' }, 'job failed'),
  });
  const warnOfFailing = async () => {
    for (const webhook of await listFailing(db)) log.warn(logFields(webhook), 'webhook failing');
    return 0;
  };
  let endedKeysSeenAtMs: number | undefined;
  const disableEnded = async () => {
    const startedAtMs = performance.now();
    // The first poll covers all time.
    const sinceMs = endedKeysSeenAtMs === undefined ? undefined : startedAtMs - endedKeysSeenAtMs + endedKeysOverlapMs;
    const disabled = await disableWebhooksOfEndedKeys(db, sinceMs === undefined ? undefined : sinceMs / 1_000);
    endedKeysSeenAtMs = startedAtMs;
    for (const webhook of disabled) log.warn(logFields(webhook), 'webhook disabled');
    return 0;
  };
  const jobs = Promise.all([
    runJob('expire-orders', expiryIntervalMs, () => expireDueOrders(db, catalogue, batchSizeMax)),
    // Logged at debug level: up to twenty times a second.
    runJob('publish-events', publishIntervalMs, () => publisher.publish(), 'debug'),
    runJob('turn-event-partitions', partitionIntervalMs, () => rotatePartitions(db)),
    runJob('turn-attempt-partitions', partitionIntervalMs, () => rotateAttemptPartitions(db)),
    deliverer.run(stopping.signal),
    runJob('disable-webhooks-of-ended-keys', endedKeysIntervalMs, disableEnded),
    runJob('warn-of-failing-webhooks', warnIntervalMs, warnOfFailing),
    runJob('erase-adopters', sweepIntervalMs, () => eraseOldAdopters(db, journal, retention, batchSizeMax)),
    runJob('sweep-deliveries', sweepIntervalMs, () => sweepDeliveries(db, sweepSizeMax)),
    runJob('sweep-idempotent-answers', sweepIntervalMs, () => deleteOldResponses(db, sweepSizeMax)),
  ]);
  closeWithGrace({ delay: 10_000, logger: false }, async ({ err }) => {
    if (err) log.fatal({ err }, 'uncaught');
    stopping.abort();
    await jobs;
    await sender.close();
    await dependencies[Symbol.asyncDispose]();
    log.info('closed');
  });
  // Only now: a program that waits for this line may then stop the process, and that must work.
  log.info('working');
}

const logFields = ({ id, clientId, ...rest }: { id: bigint; clientId: bigint }) => ({
  webhook: Number(id),
  client: Number(clientId),
  ...rest,
});
