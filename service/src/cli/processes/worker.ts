import { setTimeout as sleep } from 'node:timers/promises';
import closeWithGrace from 'close-with-grace';
import type { Command } from 'commander';
import { rotateAuditPartitions } from '../../access/audit/audit.ts';
import { deleteOldResponses } from '../../access/idempotency/idempotency-queries.ts';
import { sweepPeople } from '../../access/people/people-sweep.ts';
import { rotateUsagePartitions } from '../../access/usage/usage.ts';
import { eraseCompletedWith, eraseOldApplicants } from '../../adoption/applications/applicants.ts';
import { remindShelters } from '../../adoption/applications/application-mail.ts';
import { sweepBulkEnds, workOnBulkEnds } from '../../adoption/applications/bulk-ends.ts';
import { closeUnanswered, deleteUnconfirmedApplications } from '../../adoption/applications/settling.ts';
import { eraseOldAdopters } from '../../adoption/orders/adopters.ts';
import { expireDueOrders, findOrderedPets } from '../../adoption/orders/orders.ts';
import { endUndoableOutcomes } from '../../adoption/outcomes/outcomes.ts';
import { makeHistoryPartitions } from '../../animals/history/history.ts';
import { endOverHolds } from '../../animals/pets/holds.ts';
import { processPhoto } from '../../animals/photos/photo-processing.ts';
import { scanFiles } from '../../animals/photos/photo-scan.ts';
import { deleteRemoved } from '../../animals/photos/removed-files.ts';
import { Deliverer } from '../../changes/delivery/deliverer.ts';
import { SafeSender, tracedSender } from '../../changes/delivery/safe-sender.ts';
import { rotatePartitions } from '../../changes/events/events.ts';
import { Publisher } from '../../changes/events/publisher.ts';
import { sweepMail } from '../../changes/mail/mail-queue.ts';
import { rotateAttemptPartitions, sweepDeliveries } from '../../changes/webhooks/deliveries.ts';
import { disableWebhooksOfEndedKeys } from '../../changes/webhooks/endpoint-keys.ts';
import { listFailing } from '../../changes/webhooks/webhooks.ts';
import { deleteOldFormResults } from '../../console/forms/form-result-queries.ts';
import { openDependencies } from '../../dependencies.ts';
import { openPhotoStore } from '../../images/open-store.ts';
import type { PhotoStore } from '../../images/photo-store.ts';
import { openPictureMaker } from '../../images/picture-maker.ts';
import { JobFailures, JobTally } from '../../operations/telemetry/job-tally.ts';
import { BackupWatch, CertificateWatch, DiskWatch, PhotoWatch } from '../../operations/telemetry/watches.ts';
import { addWorkerMetrics, DeliveryTally, LastStoreFacts, MailTally } from '../../operations/telemetry/worker-metrics.ts';
import type { Config, ReadConfig } from '../../platform/config.ts';
import { openJournal } from '../../platform/journal/journal.ts';
import { countWords } from '../../search/listings/words.ts';
import { followFailover } from '../repair/failovers.ts';
import { journalRecorder } from '../repair/journal.ts';
import { openMailSenders } from './mail-jobs.ts';

const deliverJob = 'deliver-webhooks';
const scanJob = 'scan-photo-files';
const batchSizeMax = 100;
/** Short, so that an animal is available within a second after its order expired or its hold ended. A poll costs one index probe. */
const expiryIntervalMs = 250;
/** A poll costs one index probe. */
const bulkEndIntervalMs = 1_000;
const publishIntervalMs = 50;
const publishSizeMax = 500;
const failoverIntervalMs = 1_000;
const partitionIntervalMs = 3_600_000;
const sweepIntervalMs = 60_000;
const sweepSizeMax = 1_000;
const warnIntervalMs = 3_600_000;
const endedKeysIntervalMs = 5_000;
/** Polls overlap: their times are from the clock of this process, the ends of keys from PostgreSQL's. */
const endedKeysOverlapMs = 60_000;
/** A poll costs one index probe. */
const photoIntervalMs = 500;
const photoWatchIntervalMs = 15_000;
/** A poll reads one row. */
const photoScanIntervalMs = 3_600_000;
/** Short, so that a search knows a new word within a second. A poll reads two rows. */
const wordsIntervalMs = 250;
/** Of each sender. A poll costs one index probe. */
const mailIntervalMs = 1_000;
const remindIntervalMs = 3_600_000;
const diskIntervalMs = 15_000;
const backupIntervalMs = 60_000;
/** A certificate is valid for weeks. */
const certificateIntervalMs = 300_000;
/** How often the metrics that need a query are read. */
const factsIntervalMs = 15_000;

export function addWorkerCommand(program: Command, config: ReadConfig): void {
  program
    .command('worker')
    .description(
      'expire orders that were not approved in time, end holds of animals, publish events, send webhooks, process photos, count the words of searches, send mail, erase adopters after the retention period, and delete old records; run one or more',
    )
    .action(() => work(config()));
}

async function work(config: Config): Promise<void> {
  await using opened = new AsyncDisposableStack();
  const dependencies = opened.use(await openDependencies(config, { byIndex: true }));
  const { db, catalogue, log, endLog, tracing } = dependencies;
  const journal = openJournal({ fd: config.logLevel === 'silent' ? 2 : 1, file: config.journalFile });
  await db.startProbing();
  const retention = { adopterDays: config.adopterRetentionDays, adoptionDays: config.adoptionRetentionDays };
  const stopping = new AbortController();
  const tally = new JobTally();
  const failures = new JobFailures(log);
  const deliveries = new DeliveryTally();
  const mail = new MailTally();
  const store = new LastStoreFacts();
  const disks = new DiskWatch(config, log);
  const photos = openPhotoStore(config.photos);
  const photoWatch = new PhotoWatch(db, photos, log);
  const backup = new BackupWatch(config.backupStamp);
  const certificate = new CertificateWatch(config.publicUrl);
  /** Runs a job in a loop: again at once while it finds work, else after the interval. */
  const runJob = async (name: string, intervalMs: number, job: () => Promise<number>, level: 'info' | 'debug' = 'info') => {
    tally.add(name);
    while (!stopping.signal.aborted) {
      const done = await tally.run(name, job).then(
        (count) => {
          failures.succeeded(name);
          return count;
        },
        (error) => {
          failures.failed(name, error);
          return 0;
        },
      );
      if (done > 0) log[level]({ job: name, count: done }, 'job done');
      else await sleep(intervalMs, undefined, { signal: stopping.signal }).catch(() => {});
    }
  };
  // Changes are announced before their events are readable, so that a reader of an event finds the change in the list too.
  const beforePublishing = (transactionIds: readonly string[]) => catalogue.announceMissing(transactionIds);
  const publisher = new Publisher({
    db,
    batchSizeMax: publishSizeMax,
    beforePublishing,
    onServerChange: ({ from, to, gap }) =>
      log.warn({ from, to, after: Number(gap.from), upTo: Number(gap.to) }, 'the feed is on another server'),
  });
  const followed = { db, config, servers: publisher.servers, log };
  const sender = new SafeSender({ toLoopback: config.webhooksToLoopback === 'on' });
  const deliverer = new Deliverer({
    db,
    sender: tracing ? tracedSender(sender, tracing) : sender,
    onDisabled: (webhook) => reportDisabled(webhook),
    onConcluded: deliveries.onConcluded,
    onStep: () => {
      tally.noteSuccess(deliverJob);
      failures.succeeded(deliverJob);
    },
    onError: (error) => {
      tally.noteFailure(deliverJob);
      failures.failed(deliverJob, error);
    },
  });
  const reportDisabled = (webhook: { id: bigint; clientId: bigint }) => {
    deliveries.disabled += 1;
    log.warn(logFields(webhook), 'webhook disabled');
  };
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
    for (const webhook of disabled) reportDisabled(webhook);
    return 0;
  };
  // It may take days. Each page is a success, so that it does not look as if it had stopped.
  const scanPhotos = (photos: PhotoStore) =>
    scanFiles({ db, store: photos, signal: stopping.signal, onPage: () => tally.noteSuccess(scanJob) });
  const countNextWords = async () => {
    const startedAtMs = performance.now();
    const { count, isFill } = await countWords(db);
    // Animals from before are filled in for half of the time at most.
    if (isFill) await sleep(performance.now() - startedAtMs, undefined, { signal: stopping.signal }).catch(() => {});
    return count;
  };
  tally.add(deliverJob);
  if (config.metricsPort !== undefined) {
    const { openMetrics } = await import('../../operations/telemetry/metrics-server.ts');
    const metrics = { jobs: tally, deliveries, mail, deliverer, store, disks, photoWatch, backup, certificate };
    opened.use(
      await openMetrics({ host: config.metricsHost, port: config.metricsPort }, dependencies, (registry) =>
        addWorkerMetrics(registry, metrics),
      ),
    );
  }
  const processing = {
    db,
    catalogue,
    makePictures: openPictureMaker(config.imagesSocket),
    signal: stopping.signal,
    turn: { clientId: 0n },
  };
  const { signal } = stopping;
  const mailers = config.mail ? await openMailSenders(dependencies, config.mail, { signal, onOutcome: mail.onOutcome }) : [];
  const jobs = Promise.all([
    runJob('expire-orders', expiryIntervalMs, () => expireDueOrders(db, catalogue, batchSizeMax)),
    runJob('end-holds', expiryIntervalMs, () => endOverHolds(db, catalogue, findOrderedPets, batchSizeMax)),
    runJob('close-unanswered-applications', sweepIntervalMs, () => closeUnanswered(db, config.applicationExpiryDays, batchSizeMax)),
    runJob('end-undoable-outcomes', sweepIntervalMs, () => endUndoableOutcomes(db, batchSizeMax)),
    runJob('end-applications-of-client', bulkEndIntervalMs, () => workOnBulkEnds(db, catalogue)),
    runJob('sweep-ended-together', sweepIntervalMs, () => sweepBulkEnds(db, sweepSizeMax)),
    runJob('delete-unconfirmed-applications', sweepIntervalMs, () => deleteUnconfirmedApplications(db, sweepSizeMax)),
    // Logged at debug level: up to twenty times a second.
    runJob('publish-events', publishIntervalMs, () => publisher.publish(), 'debug'),
    runJob('follow-failover', failoverIntervalMs, () => followFailover(followed)),
    runJob('rotate-event-partitions', partitionIntervalMs, () => rotatePartitions(db)),
    runJob('rotate-attempt-partitions', partitionIntervalMs, () => rotateAttemptPartitions(db)),
    runJob('rotate-usage-partitions', partitionIntervalMs, () => rotateUsagePartitions(db)),
    runJob('make-history-partitions', partitionIntervalMs, () => makeHistoryPartitions(db)),
    runJob('rotate-audit-partitions', partitionIntervalMs, () => rotateAuditPartitions(db, config.auditRetentionDays)),
    deliverer.run(stopping.signal),
    runJob('disable-webhooks-of-ended-keys', endedKeysIntervalMs, disableEnded),
    runJob('warn-of-failing-webhooks', warnIntervalMs, warnOfFailing),
    runJob('erase-adopters', sweepIntervalMs, () => eraseOldAdopters(db, journal, retention, batchSizeMax, eraseCompletedWith(journal))),
    runJob('erase-applicants', sweepIntervalMs, () => eraseOldApplicants(db, journal, config.adopterRetentionDays, batchSizeMax)),
    runJob('count-words', wordsIntervalMs, countNextWords, 'debug'),
    runJob('sweep-deliveries', sweepIntervalMs, () => sweepDeliveries(db, sweepSizeMax)),
    runJob('sweep-idempotent-answers', sweepIntervalMs, () => deleteOldResponses(db, sweepSizeMax)),
    photos && runJob('look-for-photos', photoWatchIntervalMs, () => photoWatch.look()),
    photos && runJob('process-photos', photoIntervalMs, () => processPhoto({ ...processing, store: photos })),
    photos && runJob('delete-removed-photos', sweepIntervalMs, () => deleteRemoved(db, photos)),
    photos && runJob(scanJob, photoScanIntervalMs, () => scanPhotos(photos)),
    ...mailers.map((mailer) => runJob('send-mail', mailIntervalMs, () => mailer.sendNext(), 'debug').finally(() => mailer.close())),
    config.mail && runJob('remind-shelters', remindIntervalMs, () => remindShelters(db)),
    runJob('sweep-mail', sweepIntervalMs, () => sweepMail(db, sweepSizeMax)),
    runJob('sweep-form-results', sweepIntervalMs, () => deleteOldFormResults(db, sweepSizeMax)),
    runJob('sweep-people', sweepIntervalMs, () => sweepPeople(db, sweepSizeMax)),
    runJob('look-at-disks', diskIntervalMs, () => disks.look()),
    runJob('record-journal', sweepIntervalMs, journalRecorder({ db, config, log })),
    ...(config.metricsPort === undefined
      ? []
      : [
          runJob('read-store-facts', factsIntervalMs, () => store.read(db)),
          backup.isKnown && runJob('look-at-backup', backupIntervalMs, () => backup.look()),
          certificate.isKnown && runJob('look-at-certificate', certificateIntervalMs, () => certificate.look(stopping.signal)),
        ]),
  ]);
  const open = opened.move();
  closeWithGrace({ delay: 10_000, logger: false }, async ({ err }) => {
    if (err) log.fatal({ err }, 'uncaught');
    stopping.abort();
    await jobs;
    await sender.close();
    await open.disposeAsync();
    log.info('closed');
    await endLog();
  });
  // Only now: a program that waits for this line may then stop the process, and that must work.
  log.info('working');
}

const logFields = ({ id, clientId, ...rest }: { id: bigint; clientId: bigint }) => ({
  webhook: Number(id),
  client: Number(clientId),
  ...rest,
});
