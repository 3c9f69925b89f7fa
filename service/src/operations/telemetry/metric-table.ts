/** Upper bounds in seconds. A cached list takes less than the first, and no statement or request takes longer than the last. */
const durations = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5];

/** Rows of metrics that these processes have. No label contains a client, a key or an address, and the values of each are bounded. */
const metricsIn = <const In extends 'serve' | 'console' | 'worker' | 'http' | 'all'>(where: In) => ({
  counter: <const Names extends readonly string[]>(help: string, ...labels: Names) =>
    ({ type: 'counter', in: where, labels, help }) as const,
  gauge: <const Names extends readonly string[]>(help: string, ...labels: Names) => ({ type: 'gauge', in: where, labels, help }) as const,
  histogram: <const Names extends readonly string[]>(help: string, buckets: readonly number[], ...labels: Names) =>
    ({ type: 'histogram', in: where, labels, buckets, help }) as const,
});
const [serve, worker, all] = [metricsIn('serve'), metricsIn('worker'), metricsIn('all')];
/** Of `serve` and `console`. */
const http = metricsIn('http');
const consoleOnly = metricsIn('console');

/** What every worker reads from PostgreSQL. */
const shared = <const Names extends readonly string[]>(help: string, ...labels: Names) =>
  worker.gauge(`${help} Each worker has the same figure: use max().`, ...labels);

/** All metrics. What is served and the table in docs/operations/metrics.md come from here. */
export const metricTable = {
  homeward_build_info: all.gauge('Always 1. The labels are the release and the version of Node.js.', 'version', 'node'),
  process_start_time_seconds: all.gauge('When the process started, as a Unix time.'),
  process_cpu_seconds_total: all.counter('CPU time that the process has used.'),
  process_resident_memory_bytes: all.gauge('Memory of the process, as the operating system sees it.'),
  homeward_heap_used_bytes: all.gauge('Memory that JavaScript objects take.'),
  homeward_heap_max_bytes: all.gauge('The largest heap that Node.js allows. Beyond it the process ends.'),
  homeward_event_loop_delay_seconds: all.histogram(
    'How late a timer ran. It delays every request.',
    [0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5],
  ),
  homeward_event_loop_active_seconds_total: all.counter(
    'Time in which the event loop was busy. Its rate is the utilisation: at 1 the process has no capacity left.',
  ),
  homeward_event_loop_idle_seconds_total: all.counter('Time in which the event loop waited for work.'),
  homeward_requests_total: http.counter(
    'Responses sent. The route is a template; "unmatched" is a path without a route, "unreadable" what is not HTTP. The code is that of the error, empty if there was none.',
    'method',
    'route',
    'status',
    'code',
  ),
  homeward_request_duration_seconds: http.histogram(
    'Time from the headers of a request to the end of its response. Streams of events are left out: they last as long as their readers like.',
    durations,
    'method',
    'route',
  ),
  homeward_slow_readers_closed_total: http.counter(
    'Connections that were closed because their reader was too slow: stalled (10 s without a byte), overdue (the whole response took too long), client_bytes or process_bytes (the slowest of a client, or of all, that had too many unsent bytes). Or because it sent too many requests at once: pipelined.',
    'reason',
  ),
  homeward_unsent_response_bytes: http.gauge(
    'Bytes of responses that are not sent yet, since their readers are slow, with 4 kB for each response. At most 64 MB.',
  ),
  homeward_failed_sign_ins_total: consoleOnly.counter(
    "Sign-ins to the console that failed, by the way in that was tried. 'homeward audit failed-sign-ins' has their networks.",
    'kind',
  ),
  homeward_streams: serve.gauge('Open streams of events.'),
  homeward_rate_limit_decisions_total: http.counter(
    'Decisions of the rate limit. Plan "none" is an address without a valid key or session, "person" somebody who works in the console. The outcome is admitted, limited (in the window minute or day) or banned. They are made by redis, or by the process while Redis does not reply.',
    'plan',
    'outcome',
    'window',
    'by',
  ),
  homeward_bans_started_total: serve.counter('Bans of keys that began.'),
  homeward_cache_lookups_total: serve.counter(
    'Look-ups in the caches of keys, of pages of animals and of pages of listings: hit or miss. A miss costs a read of PostgreSQL, unless another request already waits for the same.',
    'cache',
    'outcome',
  ),
  homeward_cache_entries: serve.gauge('Keys or pages in the cache.', 'cache'),
  homeward_cache_bytes: serve.gauge('Memory that the entries of the cache take, estimated.', 'cache'),
  homeward_cache_max_bytes: serve.gauge('The bound of that. Beyond it the oldest entries are evicted.', 'cache'),
  homeward_change_look_age_seconds: serve.gauge(
    'Time since the last check for changes in PostgreSQL. A process without requests does not check.',
  ),
  homeward_postgres_confirms_writes: all.gauge(
    '0 while this process rejects writes because a commit was not confirmed: a synchronous standby is away. Else 1.',
  ),
  homeward_postgres_up: all.gauge('1 while PostgreSQL replies to this process, else 0.'),
  homeward_postgres_timeline: shared('The timeline of PostgreSQL, which changes with each failover and each restore.'),
  homeward_postgres_connections: all.gauge(
    'Connections to PostgreSQL, busy or idle: for transactions, for searches, for single statements, and for looks for changes.',
    'use',
    'state',
  ),
  homeward_postgres_max_connections: all.gauge('The bound of that, in this process.', 'use'),
  homeward_postgres_waiting: all.gauge('Transactions or searches that wait for a connection.', 'use'),
  homeward_postgres_statements_in_flight: all.gauge(
    'Single statements that were sent and have no reply yet. Several share a connection.',
    'use',
  ),
  homeward_postgres_statement_duration_seconds: all.histogram('Time from sending a statement to its result.', durations),
  homeward_redis_up: all.gauge('1 while Redis replies to this process, else 0.'),
  homeward_redis_late_total: all.counter('Calls that Redis did not reply to in time.'),
  homeward_redis_lost_total: all.counter('How often Redis was lost.'),
  homeward_redis_call_duration_seconds: all.histogram(
    'Time from a call to the reply of Redis, also of late ones. One call decides several requests.',
    [0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05],
  ),
  homeward_jobs_failed_total: worker.counter('Runs of a job of the worker that failed.', 'task'),
  homeward_job_items_total: worker.counter(
    'What a job has done: orders expired, events published, adopters erased, rows or partitions deleted.',
    'task',
  ),
  homeward_job_last_success_timestamp_seconds: worker.gauge(
    'When the job last succeeded in this worker, or else when the worker started, as a Unix time.',
    'task',
  ),
  homeward_disk_free_bytes: worker.gauge(
    'Free space on the disk of the journal, and on that of photos if they are in a directory.',
    'disk',
  ),
  homeward_disk_size_bytes: worker.gauge('The size of that disk.', 'disk'),
  homeward_disk_full: worker.gauge(
    '1 if that is too little, else 0: below 10 MB for the journal; below 1 GB or 5% of the disk for photos, so that uploads are rejected.',
    'disk',
  ),
  homeward_archive_failing: shared(
    'Whether PostgreSQL failed to archive its log the last time that it tried: 1, else 0. Missing if archive_mode is off.',
  ),
  homeward_archive_age_seconds: shared(
    'Time since PostgreSQL last archived a segment of its log, while a finished one waits; 0 if none waits. Missing if archive_mode is off, or if nothing was ever archived.',
  ),
  homeward_backup_timestamp_seconds: worker.gauge(
    'When the last backup was made, as a Unix time, by the file HOMEWARD_BACKUP_STAMP; 0 if there is no such file.',
  ),
  homeward_certificate_expiry_timestamp_seconds: worker.gauge(
    'When the certificate at HOMEWARD_PUBLIC_URL expires, as a Unix time, as it was last seen.',
  ),
  homeward_photos_here: worker.gauge('1 if the photos of the store are where HOMEWARD_PHOTOS says, else 0.'),
  homeward_photo_originals_missing: shared('Photos whose original has been missing for more than a day, counted up to a bound.'),
  homeward_photos_waiting: shared('Photos that are not processed yet and whose originals are there, counted up to a bound.'),
  homeward_photos_oldest_waiting_seconds: shared('How long the oldest of them has waited, 0 if there is none.'),
  homeward_removed_photos_overdue_seconds: shared(
    'How long the files of removed photos have been due to be deleted, of the photo that waits the longest; 0 if none is due.',
  ),
  homeward_webhook_deliveries_total: worker.counter(
    'Deliveries by outcome. Of these, only delivered and failed were sent; held waits for an earlier event of the animal.',
    'outcome',
  ),
  homeward_webhook_duration_seconds: worker.histogram(
    'Time that endpoints took to respond, or to fail.',
    [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10],
  ),
  homeward_webhook_requests_in_flight: worker.gauge('Requests to endpoints that were sent and have no response yet.'),
  homeward_webhook_endpoints_due: worker.gauge('Endpoints of this worker that wait for their turn to be sent to.'),
  homeward_webhook_endpoints_behind: worker.gauge('Endpoints of this worker that have not got every event yet.'),
  homeward_webhook_shards: worker.gauge(
    'Shards of endpoints that this worker serves. The sum over all workers must be that of all shards.',
  ),
  homeward_webhooks_disabled_total: worker.counter('Endpoints that this worker has disabled.'),
  homeward_webhook_endpoints: shared('Endpoints of all clients.', 'status'),
  homeward_webhook_endpoints_failing: shared('Enabled endpoints whose last delivery failed.'),
  homeward_mail_total: worker.counter(
    'Messages by outcome. sent: the SMTP server has taken it. deferred: an attempt failed, and there is another within a day. failed: the server rejected it for good, or none was there for a day. dropped: there was nothing to say any more. limited: the address, or what it is about, had its messages of the day.',
    'outcome',
  ),
  homeward_mail_oldest_waiting_seconds: shared(
    'How long the message that waits the longest has been due; 0 if none is. One that the server has put off by itself waits from its next attempt on.',
  ),
  homeward_orders: shared('Orders by state, counted up to a bound.', 'status'),
  homeward_outbox_events: shared('Events that are not published yet, counted up to a bound.'),
  homeward_outbox_oldest_age_seconds: shared('Age of the oldest event that is not published, 0 if there is none.'),
  homeward_on_another_server: shared(
    '1: the store was restored, or a standby has taken over, and nothing says which: homeward restore-check is needed.',
  ),
  homeward_feed_position: shared('The last position of the feed.'),
  homeward_feed_newest_age_seconds: worker.gauge('Time since the last event was published. Each worker has the same figure: use min().'),
};

export type MetricName = keyof typeof metricTable;
type NamesOf<Type> = { [Name in MetricName]: (typeof metricTable)[Name]['type'] extends Type ? Name : never }[MetricName];
export type HistogramName = NamesOf<'histogram'>;
export type ValueName = NamesOf<'counter' | 'gauge'>;
/** Those without labels. */
export type UnlabelledName = { [Name in MetricName]: (typeof metricTable)[Name]['labels'] extends readonly [] ? Name : never }[MetricName];
export type Labels<Name extends MetricName> = Readonly<Record<(typeof metricTable)[Name]['labels'][number], string>>;

/** Counts values by bucket. Plain numbers, since one is observed for each request. */
export class Histogram {
  readonly #bounds: readonly number[];
  /** By bucket; the last one is of values beyond all bounds. */
  readonly #counts: number[];
  #sum = 0;

  constructor(name: HistogramName) {
    this.#bounds = metricTable[name].buckets;
    this.#counts = Array.from({ length: this.#bounds.length + 1 }, () => 0);
  }

  observe(seconds: number): void {
    let bucket = 0;
    while (seconds > (this.#bounds[bucket] ?? Infinity)) bucket += 1;
    this.#counts[bucket] = (this.#counts[bucket] ?? 0) + 1;
    this.#sum += seconds;
  }

  /** As Prometheus wants them: each bucket includes those below it. */
  read(): { buckets: Array<{ le: string; count: number }>; sum: number; count: number } {
    let count = 0;
    const buckets = this.#counts.map((inBucket, i) => {
      count += inBucket;
      return { le: String(this.#bounds[i] ?? '+Inf'), count };
    });
    return { buckets, sum: this.#sum, count };
  }
}
