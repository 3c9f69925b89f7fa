import { setTimeout as sleep } from 'node:timers/promises';
import closeWithGrace from 'close-with-grace';
import type { FastifyBaseLogger } from 'fastify';
import { rotateAuditPartitions } from './access/audit/audit.ts';
import { deleteOldResponses } from './access/idempotency/idempotency-queries.ts';
import { sweepPeople } from './access/people/people-sweep.ts';
import { rotateUsagePartitions } from './access/usage/usage.ts';
import { fillAdopterWords } from './adoption/applications/adopter-search.ts';
import { eraseCompletedWith, eraseOldApplicants } from './adoption/applications/applicants.ts';
import { remindShelters } from './adoption/applications/application-mail.ts';
import { sweepBulkEnds, workOnBulkEnds } from './adoption/applications/bulk-ends.ts';
import { closeUnanswered, deleteUnconfirmedApplications } from './adoption/applications/settling.ts';
import { eraseOldAdopters } from './adoption/orders/adopters.ts';
import { expireDueOrders, findOrderedPets } from './adoption/orders/orders.ts';
import { endUndoableOutcomes } from './adoption/outcomes/outcomes.ts';
import { openMailSenders } from './adoption/shelters/mail-senders.ts';
import { sweepActs } from './adoption/undo/undo.ts';
import { makeHistoryPartitions } from './animals/history/history.ts';
import { deleteTextsOfLeftAnimals } from './animals/history/texts.ts';
import { endOverHolds } from './animals/pets/holds.ts';
import { processPhoto } from './animals/photos/photo-processing.ts';
import { scanFiles } from './animals/photos/photo-scan.ts';
import { deleteRemoved } from './animals/photos/removed-files.ts';
import { Deliverer } from './changes/delivery/deliverer.ts';
import { SafeSender, tracedSender } from './changes/delivery/safe-sender.ts';
import { rotatePartitions } from './changes/events/events.ts';
import { Publisher } from './changes/events/publisher.ts';
import { sweepMail } from './changes/mail/mail-queue.ts';
import { rotateAttemptPartitions, sweepDeliveries } from './changes/webhooks/deliveries.ts';
import { disableWebhooksOfEndedKeys } from './changes/webhooks/endpoint-keys.ts';
import { listFailing } from './changes/webhooks/webhooks.ts';
import { deleteOldFormResults } from './console/forms/form-result-queries.ts';
import { openDependencies } from './dependencies.ts';
import { openPhotoStore } from './images/open-store.ts';
import { openPictureMaker } from './images/picture-maker.ts';
import { followFailover } from './operations/recovery/failovers.ts';
import { journalRecorder } from './operations/recovery/journal-files.ts';
import { JobFailures, JobTally } from './operations/telemetry/job-tally.ts';
import { BackupWatch, CertificateWatch, DiskWatch, PhotoWatch } from './operations/telemetry/watches.ts';
import { addWorkerMetrics, DeliveryTally, LastStoreFacts, MailTally } from './operations/telemetry/worker-metrics.ts';
import type { Config } from './platform/config.ts';
import type { Db, ServiceDb } from './platform/db/handles.ts';
import { openJournal } from './platform/journal/journal.ts';

/** Short, so that an animal is available within a second after its order expired or its hold ended. */
const expiryIntervalMs = 250;
const publishIntervalMs = 50;
/** How often the metrics that need a query are read. */
const factsIntervalMs = 15_000;
/** A certificate is valid for weeks. */
const certificateIntervalMs = 300_000;
const minuteMs = 60_000;
const hourMs = 3_600_000;
const batchSizeMax = 100;
const publishSizeMax = 500;
const sweepSizeMax = 1_000;
const deliverJob = 'deliver-webhooks';
const scanJob = 'scan-photo-files';
/** They find work up to twenty times a second: logged at debug level. */
const busyJobs = new Set(['publish-events', 'send-mail']);

/**
 * What a worker does beside sending webhooks, which has a loop of its own: the name of each job, its interval, its condition, and what it
 * runs. It returns how much it has done: above 0 it runs again at once, so one that only looks returns 0. A poll that finds nothing costs
 * one index probe, or reads a row or two.
 */
const jobsOf = ({ config, db, catalogue, log, signal, tally, journal, retention, photos, processing, watches, ...rest }: Worker): Job[] => [
  job('expire-orders', expiryIntervalMs, always, () => expireDueOrders(db, catalogue, batchSizeMax)),
  job('end-holds', expiryIntervalMs, always, () => endOverHolds(db, catalogue, findOrderedPets, batchSizeMax)),
  job('close-unanswered-applications', minuteMs, always, () => closeUnanswered(db, config.applicationExpiryDays, batchSizeMax)),
  job('end-undoable-outcomes', minuteMs, always, () => endUndoableOutcomes(db, batchSizeMax)),
  job('end-applications-of-client', 1_000, always, () => workOnBulkEnds(db, catalogue)),
  job('sweep-ended-together', minuteMs, always, () => sweepBulkEnds(db, sweepSizeMax)),
  job('sweep-undoable-acts', minuteMs, always, () => sweepActs(db, sweepSizeMax)),
  job('delete-unconfirmed-applications', minuteMs, always, () => deleteUnconfirmedApplications(db, sweepSizeMax)),
  job('publish-events', publishIntervalMs, always, () => rest.publisher.publish()),
  job('follow-failover', 1_000, always, () => followFailover({ db, config, servers: rest.publisher.servers, log })),
  job('rotate-event-partitions', hourMs, always, () => rotatePartitions(db)),
  job('rotate-attempt-partitions', hourMs, always, () => rotateAttemptPartitions(db)),
  job('rotate-usage-partitions', hourMs, always, () => rotateUsagePartitions(db)),
  job('make-history-partitions', hourMs, always, () => makeHistoryPartitions(db)),
  job('rotate-audit-partitions', hourMs, always, () => rotateAuditPartitions(db, config.auditRetentionDays)),
  job('disable-webhooks-of-ended-keys', 5_000, always, endedKeysWatch(db, rest.reportDisabled)),
  job('warn-of-failing-webhooks', hourMs, always, () => warnOfFailing(db, log)),
  job('erase-adopters', minuteMs, always, () => eraseOldAdopters(db, journal, retention, batchSizeMax, eraseCompletedWith(journal))),
  job('erase-applicants', minuteMs, always, () => eraseOldApplicants(db, journal, retention.adopterDays, batchSizeMax)),
  job('delete-animal-texts', minuteMs, always, () => deleteTextsOfLeftAnimals(db, sweepSizeMax)),
  job('fill-adopter-words', minuteMs, always, () => fillAdopterWords(db, sweepSizeMax)),
  job('sweep-deliveries', minuteMs, always, () => sweepDeliveries(db, sweepSizeMax)),
  job('sweep-idempotent-answers', minuteMs, always, () => deleteOldResponses(db, sweepSizeMax)),
  job('look-for-photos', 15_000, photos, () => watches.photoWatch.look()),
  job('process-photos', 500, photos, (store) => processPhoto({ ...processing, store })),
  job('delete-removed-photos', minuteMs, photos, (store) => deleteRemoved(db, store)),
  // It may take days. Each page is a success, so that it does not look as if it had stopped.
  job(scanJob, hourMs, photos, (store) => scanFiles({ db, store, signal, onPage: () => tally.noteSuccess(scanJob) })),
  ...rest.mailers.map((mailer) => job('send-mail', 1_000, always, () => mailer.sendNext())),
  job('remind-shelters', hourMs, config.mail, () => remindShelters(db)),
  job('sweep-mail', minuteMs, always, () => sweepMail(db, sweepSizeMax)),
  job('sweep-form-results', minuteMs, always, () => deleteOldFormResults(db, sweepSizeMax)),
  job('sweep-people', minuteMs, always, () => sweepPeople(db, sweepSizeMax)),
  job('look-at-disks', 15_000, always, () => watches.disks.look()),
  job('record-journal', minuteMs, always, journalRecorder({ db, config, log })),
  job('read-store-facts', factsIntervalMs, config.metricsPort !== undefined, () => watches.store.read(db)),
  job('look-at-backup', minuteMs, config.metricsPort !== undefined && watches.backup.isKnown, () => watches.backup.look()),
  job('look-at-certificate', certificateIntervalMs, config.metricsPort !== undefined && watches.certificate.isKnown, () =>
    watches.certificate.look(signal),
  ),
];

interface Job {
  readonly name: string;
  readonly intervalMs: number;
  /** Undefined: its condition does not hold. */
  readonly run: (() => Promise<number>) | undefined;
}

const always = true;

function job<Needed>(name: string, intervalMs: number, needed: Needed, run: (needed: NonNullable<Needed>) => Promise<number>): Job {
  return { name, intervalMs, run: needed ? () => run(needed) : undefined };
}

/** Runs the jobs until SIGTERM or SIGINT. */
export async function work(config: Config): Promise<void> {
  await using opened = new AsyncDisposableStack();
  const stopping = new AbortController();
  const worker = await openWorker(config, stopping.signal, opened);
  const { deliverer, sender, mailers, log, endLog } = worker;
  const loops = Promise.all([deliverer.run(stopping.signal), ...jobsOf(worker).map((one) => repeat(one, worker))]);
  const open = opened.move();
  closeWithGrace({ delay: 10_000, logger: false }, async ({ err }) => {
    if (err) log.fatal({ err }, 'uncaught');
    stopping.abort();
    await loops;
    for (const mailer of mailers) mailer.close();
    await sender.close();
    await open.disposeAsync();
    log.info('closed');
    await endLog();
  });
  // Only now: a program that waits for this line may then stop the process, and that must work.
  log.info('working');
}

/** Again at once while it finds work, else after the interval. */
async function repeat({ name, intervalMs, run }: Job, { signal, tally, failures, log }: Worker): Promise<void> {
  if (!run) return;
  tally.add(name);
  while (!signal.aborted) {
    const done = await tally.run(name, run).then(
      (count) => {
        failures.succeeded(name);
        return count;
      },
      (error) => {
        failures.failed(name, error);
        return 0;
      },
    );
    if (done > 0) log[busyJobs.has(name) ? 'debug' : 'info']({ job: name, count: done }, 'job done');
    else await sleep(intervalMs, undefined, { signal }).catch(() => {});
  }
}

type Worker = Awaited<ReturnType<typeof openWorker>>;

/** What the jobs need. What must be closed is added to `opened`. */
async function openWorker(config: Config, signal: AbortSignal, opened: AsyncDisposableStack) {
  const dependencies = opened.use(await openDependencies(config, { byIndex: true }));
  const { db, catalogue, log, endLog, tracing } = dependencies;
  const journal = openJournal({ fd: config.logLevel === 'silent' ? 2 : 1, file: config.journalFile });
  await db.startProbing();
  const tally = new JobTally();
  const failures = new JobFailures(log);
  const deliveries = new DeliveryTally();
  const mail = new MailTally();
  const photos = openPhotoStore(config.photos);
  const watches = {
    store: new LastStoreFacts(),
    disks: new DiskWatch(config, log),
    photoWatch: new PhotoWatch(db, photos, log),
    backup: new BackupWatch(config.backupStamp),
    certificate: new CertificateWatch(config.publicUrl),
  };
  const publisher = new Publisher({
    db,
    batchSizeMax: publishSizeMax,
    // Changes are announced before their events are readable, so that a reader of an event finds the change in the list too.
    beforePublishing: (transactionIds) => catalogue.announceMissing(transactionIds),
    onServerChange: ({ from, to, gap }) =>
      log.warn({ from, to, after: Number(gap.from), upTo: Number(gap.to) }, 'the feed is on another server'),
  });
  const reportDisabled: ReportDisabled = (webhook) => {
    deliveries.disabled += 1;
    log.warn(logFields(webhook), 'webhook disabled');
  };
  const sender = new SafeSender({ toLoopback: config.webhooksToLoopback === 'on' });
  const deliverer = new Deliverer({
    db,
    sender: tracing ? tracedSender(sender, tracing) : sender,
    onDisabled: reportDisabled,
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
  tally.add(deliverJob);
  if (config.metricsPort !== undefined) {
    const { openMetrics } = await import('./operations/telemetry/metrics-server.ts');
    const metrics = { jobs: tally, deliveries, mail, deliverer, ...watches };
    opened.use(
      await openMetrics({ host: config.metricsHost, port: config.metricsPort }, dependencies, (registry) =>
        addWorkerMetrics(registry, metrics),
      ),
    );
  }
  return {
    config,
    db,
    catalogue,
    log,
    endLog,
    signal,
    tally,
    failures,
    journal,
    retention: { adopterDays: config.adopterRetentionDays, adoptionDays: config.adoptionRetentionDays },
    photos,
    processing: { db, catalogue, makePictures: openPictureMaker(config.imagesSocket), signal, turn: { clientId: 0n } },
    mailers: config.mail ? await openMailSenders(dependencies, config.mail, { signal, onOutcome: mail.onOutcome }) : [],
    watches,
    publisher,
    sender,
    deliverer,
    reportDisabled,
  };
}

type ReportDisabled = (webhook: { readonly id: bigint; readonly clientId: bigint }) => void;

/** Polls overlap: their times are from the clock of this process, the ends of keys from PostgreSQL's. */
const endedKeysOverlapMs = 60_000;

/** A job. Its first run covers all time. */
function endedKeysWatch(db: ServiceDb, reportDisabled: ReportDisabled): () => Promise<0> {
  let seenAtMs: number | undefined;
  return async () => {
    const startedAtMs = performance.now();
    const since = seenAtMs === undefined ? undefined : (startedAtMs - seenAtMs + endedKeysOverlapMs) / 1_000;
    for (const webhook of await disableWebhooksOfEndedKeys(db, since)) reportDisabled(webhook);
    seenAtMs = startedAtMs;
    return 0;
  };
}

async function warnOfFailing(db: Db, log: FastifyBaseLogger): Promise<0> {
  for (const webhook of await listFailing(db)) log.warn(logFields(webhook), 'webhook failing');
  return 0;
}

const logFields = ({ id, clientId, ...rest }: { readonly id: bigint; readonly clientId: bigint }) => ({
  webhook: Number(id),
  client: Number(clientId),
  ...rest,
});
