import { removedSecondsMin } from '../../animals/photos/removed-files.ts';
import type { DelivererParts, DelivererState } from '../../changes/delivery/deliverer.ts';
import type { MailOutcome } from '../../changes/mail/mail-sender.ts';
import type { Db } from '../../platform/db/handles.ts';
import type { JobTally } from './job-tally.ts';
import type { MetricRegistry } from './metric-registry.ts';
import { Histogram } from './metric-table.ts';
import { readStoreFacts, type StoreFacts } from './store-facts-queries.ts';
import type { BackupWatch, CertificateWatch, DiskWatch, PhotoWatch } from './watches.ts';

type OnConcluded = NonNullable<DelivererParts['onConcluded']>;

/** Counts deliveries. */
export class DeliveryTally {
  readonly outcomes = { delivered: 0, failed: 0, held: 0, skipped: 0, gone: 0 };
  readonly durations = new Histogram('homeward_webhook_duration_seconds');
  disabled = 0;

  readonly onConcluded: OnConcluded = (outcome, exchange) => {
    this.outcomes[outcome] += 1;
    if (exchange) this.durations.observe(exchange.durationMs / 1_000);
  };
}

/** The last facts that were read. A scrape reads nothing: it would be as slow as PostgreSQL, and there may be many. */
export class LastStoreFacts {
  /** A part is missing if it was not read yet, or if the last attempt failed. */
  facts: StoreFacts = {};

  /** A job: it never finds more to do at once. A part that can't be read does not hide the others. */
  async read(db: Db): Promise<0> {
    const { facts, errors } = await readStoreFacts(db);
    this.facts = facts;
    if (errors.length > 0) throw errors[0];
    return 0;
  }
}

interface Parts {
  readonly jobs: JobTally;
  readonly deliveries: DeliveryTally;
  readonly mail: MailTally;
  readonly deliverer: { readonly state: DelivererState };
  readonly store: LastStoreFacts;
  readonly disks: DiskWatch;
  readonly photoWatch: PhotoWatch;
  readonly backup: BackupWatch;
  readonly certificate: CertificateWatch;
}

/** Metrics of `worker`. */
export function addWorkerMetrics(
  registry: MetricRegistry,
  { jobs, deliveries, mail, deliverer, store, disks, photoWatch, backup, certificate }: Parts,
): void {
  registry.addValuesBy('homeward_jobs_failed_total', 'task', () => [...jobs].map(([task, { failures }]) => [task, failures]));
  registry.addValuesBy('homeward_job_items_total', 'task', () => [...jobs].map(([task, { items }]) => [task, items]));
  registry.addValuesBy('homeward_job_last_success_timestamp_seconds', 'task', () =>
    [...jobs].map(([task, { succeededAtMs }]) => [task, succeededAtMs / 1_000]),
  );

  registry.addValuesBy('homeward_disk_free_bytes', 'disk', () => [...disks].map(([disk, { freeBytes }]) => [disk, freeBytes]));
  registry.addValuesBy('homeward_disk_size_bytes', 'disk', () => [...disks].map(([disk, { totalBytes }]) => [disk, totalBytes]));
  registry.addValuesBy('homeward_disk_full', 'disk', () => [...disks].map(([disk, { isFull }]) => [disk, Number(isFull)]));

  registry.addValue('homeward_postgres_timeline', () => store.facts.wal?.timeline);
  registry.addValue('homeward_archive_failing', () => store.facts.wal?.archive && Number(store.facts.wal.archive.isFailing));
  registry.addValue('homeward_archive_age_seconds', () => store.facts.wal?.archive?.ageSeconds);
  registry.addValue('homeward_backup_timestamp_seconds', () => backup.madeAtSeconds);
  registry.addValue('homeward_certificate_expiry_timestamp_seconds', () => certificate.expiresAtSeconds);
  registry.addValue('homeward_photos_here', () => (photoWatch.isHere === undefined ? undefined : Number(photoWatch.isHere)));
  registry.addValue('homeward_photo_originals_missing', () => store.facts.photos?.originalsMissing);
  registry.addValue('homeward_photos_waiting', () => store.facts.photos?.waiting);
  registry.addValue('homeward_photos_oldest_waiting_seconds', () => store.facts.photos?.oldestWaitingSeconds);
  registry.addValue('homeward_removed_photos_overdue_seconds', () => {
    const { oldestSeconds } = store.facts.removedPhotos ?? {};
    return oldestSeconds === undefined ? undefined : Math.max(oldestSeconds - removedSecondsMin, 0);
  });

  registry.addValuesBy('homeward_webhook_deliveries_total', 'outcome', () => Object.entries(deliveries.outcomes));
  registry.addHistogram('homeward_webhook_duration_seconds', deliveries.durations);
  registry.addValue('homeward_webhook_requests_in_flight', () => deliverer.state.inFlight);
  registry.addValue('homeward_webhook_endpoints_due', () => deliverer.state.due);
  registry.addValue('homeward_webhook_endpoints_behind', () => deliverer.state.behind);
  registry.addValue('homeward_webhook_shards', () => deliverer.state.shards);
  registry.addValue('homeward_webhooks_disabled_total', () => deliveries.disabled);

  registry.addValuesBy('homeward_mail_total', 'outcome', () => Object.entries(mail.outcomes));
  registry.addValue('homeward_mail_oldest_waiting_seconds', () => store.facts.mail?.oldestWaitingSeconds);

  registry.addValuesBy('homeward_orders', 'status', () => (store.facts.orders ?? []).map(({ status, count }) => [status, count]));
  registry.addValue('homeward_outbox_events', () => {
    const { outbox, strays } = store.facts;
    return outbox && outbox.count + (strays?.count ?? 0);
  });
  registry.addValue('homeward_outbox_oldest_age_seconds', () => {
    const { outbox, strays } = store.facts;
    return outbox && Math.max(outbox.oldestAgeSeconds, strays?.oldestAgeSeconds ?? 0);
  });
  registry.addValue('homeward_on_another_server', () => store.facts.server && Number(store.facts.server.isAnother));
  registry.addValue('homeward_feed_position', () => store.facts.feed?.position);
  registry.addValue('homeward_feed_newest_age_seconds', () => store.facts.feed?.newestAgeSeconds);
  registry.addValue('homeward_webhook_endpoints_failing', () => store.facts.endpoints?.failing);
  registry.addValuesBy('homeward_webhook_endpoints', 'status', () => {
    const { failing: _, ...endpoints } = store.facts.endpoints ?? {};
    return Object.entries(endpoints);
  });
}

/** Counts attempts to send mail. */
export class MailTally {
  readonly outcomes: Record<MailOutcome, number> = { sent: 0, deferred: 0, failed: 0, dropped: 0, limited: 0 };

  readonly onOutcome = (outcome: MailOutcome): void => {
    this.outcomes[outcome] += 1;
  };
}
