/** Upper bounds in seconds. A cached list takes less than the first, and no statement or request takes longer than the last. */
const durations = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5];

interface MetricRow {
  readonly type: 'counter' | 'gauge' | 'histogram';
  /** Which processes have it. */
  readonly in: 'serve' | 'worker' | 'both';
  /** No label contains a client, a key or an address, and the values of each are bounded. */
  readonly labels: readonly string[];
  readonly buckets?: readonly number[];
  readonly help: string;
}

/** All metrics. What is served and the table in docs/operations.md come from here. */
export const metricTable = {
  homeward_build_info: {
    type: 'gauge',
    in: 'both',
    labels: ['version', 'node'],
    help: 'Always 1. The labels are the release and the version of Node.js.',
  },
  process_start_time_seconds: { type: 'gauge', in: 'both', labels: [], help: 'When the process started, as a Unix time.' },
  process_cpu_seconds_total: { type: 'counter', in: 'both', labels: [], help: 'CPU time that the process has used.' },
  process_resident_memory_bytes: { type: 'gauge', in: 'both', labels: [], help: 'Memory of the process, as the operating system sees it.' },
  homeward_heap_used_bytes: { type: 'gauge', in: 'both', labels: [], help: 'Memory that JavaScript objects take.' },
  homeward_heap_max_bytes: {
    type: 'gauge',
    in: 'both',
    labels: [],
    help: 'The largest heap that Node.js allows. Beyond it the process ends.',
  },
  homeward_event_loop_delay_seconds: {
    type: 'histogram',
    in: 'both',
    labels: [],
    buckets: [0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5],
    help: 'How late a timer ran. It delays every request.',
  },
  homeward_event_loop_active_seconds_total: {
    type: 'counter',
    in: 'both',
    labels: [],
    help: 'Time in which the event loop was busy. Its rate is the utilisation: at 1 the process has no capacity left.',
  },
  homeward_event_loop_idle_seconds_total: {
    type: 'counter',
    in: 'both',
    labels: [],
    help: 'Time in which the event loop waited for work.',
  },
  homeward_requests_total: {
    type: 'counter',
    in: 'serve',
    labels: ['method', 'route', 'status', 'code'],
    help: 'Responses sent. The route is a template; "unmatched" is a path without a route, "unreadable" what is not HTTP. The code is that of the error, empty if there was none.',
  },
  homeward_request_duration_seconds: {
    type: 'histogram',
    in: 'serve',
    labels: ['method', 'route'],
    buckets: durations,
    help: 'Time from the headers of a request to the end of its response. Streams of events are left out: they last as long as their readers like.',
  },
  homeward_slow_readers_closed_total: {
    type: 'counter',
    in: 'serve',
    labels: ['reason'],
    help: 'Connections that were closed because their reader was too slow: stalled (10 s without a byte), overdue (the whole response took too long), client_bytes or process_bytes (the slowest of a client, or of all, that had too many unsent bytes). Or because it sent too many requests at once: pipelined.',
  },
  homeward_unsent_response_bytes: {
    type: 'gauge',
    in: 'serve',
    labels: [],
    help: 'Bytes of responses that are not sent yet, since their readers are slow, with 4 kB for each response. At most 64 MB.',
  },
  homeward_streams: { type: 'gauge', in: 'serve', labels: [], help: 'Open streams of events.' },
  homeward_rate_limit_decisions_total: {
    type: 'counter',
    in: 'serve',
    labels: ['plan', 'outcome', 'window', 'by'],
    help: 'Decisions of the rate limit. Plan "none" is an address without a valid key. The outcome is admitted, limited (in the window minute or day) or banned. They are made by redis, or by the process while Redis does not reply.',
  },
  homeward_bans_started_total: { type: 'counter', in: 'serve', labels: [], help: 'Bans of keys that began.' },
  homeward_cache_lookups_total: {
    type: 'counter',
    in: 'serve',
    labels: ['cache', 'outcome'],
    help: 'Look-ups in the caches of keys, of pages of animals and of pages of listings: hit or miss. A miss costs a read of PostgreSQL, unless another request already waits for the same.',
  },
  homeward_cache_entries: { type: 'gauge', in: 'serve', labels: ['cache'], help: 'Keys or pages in the cache.' },
  homeward_cache_bytes: { type: 'gauge', in: 'serve', labels: ['cache'], help: 'Memory that the entries of the cache take, estimated.' },
  homeward_cache_max_bytes: {
    type: 'gauge',
    in: 'serve',
    labels: ['cache'],
    help: 'The bound of that. Beyond it the oldest entries are evicted.',
  },
  homeward_change_look_age_seconds: {
    type: 'gauge',
    in: 'serve',
    labels: [],
    help: 'Time since the last check for changes in PostgreSQL. A process without requests does not check.',
  },
  homeward_postgres_confirms_writes: {
    type: 'gauge',
    in: 'both',
    labels: [],
    help: '0 while this process rejects writes because a commit was not confirmed: a synchronous standby is away. Else 1.',
  },
  homeward_postgres_up: { type: 'gauge', in: 'both', labels: [], help: '1 while PostgreSQL replies to this process, else 0.' },
  homeward_postgres_timeline: {
    type: 'gauge',
    in: 'worker',
    labels: [],
    help: 'The timeline of PostgreSQL, which changes with each failover and each restore. Each worker has the same figure: use max().',
  },
  homeward_postgres_connections: {
    type: 'gauge',
    in: 'both',
    labels: ['use', 'state'],
    help: 'Connections to PostgreSQL, busy or idle: for transactions, for searches, for single statements, and for looks for changes.',
  },
  homeward_postgres_max_connections: { type: 'gauge', in: 'both', labels: ['use'], help: 'The bound of that, in this process.' },
  homeward_postgres_waiting: { type: 'gauge', in: 'both', labels: ['use'], help: 'Transactions or searches that wait for a connection.' },
  homeward_postgres_statements_in_flight: {
    type: 'gauge',
    in: 'both',
    labels: ['use'],
    help: 'Single statements that were sent and have no reply yet. Several share a connection.',
  },
  homeward_postgres_statement_duration_seconds: {
    type: 'histogram',
    in: 'both',
    labels: [],
    buckets: durations,
    help: 'Time from sending a statement to its result.',
  },
  homeward_redis_up: { type: 'gauge', in: 'both', labels: [], help: '1 while Redis replies to this process, else 0.' },
  homeward_redis_late_total: { type: 'counter', in: 'both', labels: [], help: 'Calls that Redis did not reply to in time.' },
  homeward_redis_lost_total: { type: 'counter', in: 'both', labels: [], help: 'How often Redis was lost.' },
  homeward_redis_call_duration_seconds: {
    type: 'histogram',
    in: 'both',
    labels: [],
    buckets: [0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05],
    help: 'Time from a call to the reply of Redis, also of late ones. One call decides several requests.',
  },
  homeward_jobs_failed_total: { type: 'counter', in: 'worker', labels: ['task'], help: 'Runs of a job of the worker that failed.' },
  homeward_job_items_total: {
    type: 'counter',
    in: 'worker',
    labels: ['task'],
    help: 'What a job has done: orders expired, events published, adopters erased, rows or partitions deleted.',
  },
  homeward_job_last_success_timestamp_seconds: {
    type: 'gauge',
    in: 'worker',
    labels: ['task'],
    help: 'When the job last succeeded in this worker, or else when the worker started, as a Unix time.',
  },
  homeward_disk_free_bytes: {
    type: 'gauge',
    in: 'worker',
    labels: ['disk'],
    help: 'Free space on the disk of the journal, and on that of photos if they are in a directory.',
  },
  homeward_disk_size_bytes: { type: 'gauge', in: 'worker', labels: ['disk'], help: 'The size of that disk.' },
  homeward_disk_full: {
    type: 'gauge',
    in: 'worker',
    labels: ['disk'],
    help: '1 if that is too little, else 0: below 10 MB for the journal; below 1 GB or 5% of the disk for photos, so that uploads are rejected.',
  },
  homeward_archive_failing: {
    type: 'gauge',
    in: 'worker',
    labels: [],
    help: 'Whether PostgreSQL failed to archive its log the last time that it tried: 1, else 0. Missing if archive_mode is off. Each worker has the same figure: use max().',
  },
  homeward_archive_age_seconds: {
    type: 'gauge',
    in: 'worker',
    labels: [],
    help: 'Time since PostgreSQL last archived a segment of its log, while a finished one waits; 0 if none waits. Missing if archive_mode is off, or if nothing was ever archived. Each worker has the same figure: use max().',
  },
  homeward_backup_timestamp_seconds: {
    type: 'gauge',
    in: 'worker',
    labels: [],
    help: 'When the last backup was made, as a Unix time, by the file HOMEWARD_BACKUP_STAMP; 0 if there is no such file.',
  },
  homeward_certificate_expiry_timestamp_seconds: {
    type: 'gauge',
    in: 'worker',
    labels: [],
    help: 'When the certificate at HOMEWARD_PUBLIC_URL expires, as a Unix time, as it was last seen.',
  },
  homeward_photos_here: {
    type: 'gauge',
    in: 'worker',
    labels: [],
    help: '1 if the photos of the store are where HOMEWARD_PHOTOS says, else 0.',
  },
  homeward_photo_originals_missing: {
    type: 'gauge',
    in: 'worker',
    labels: [],
    help: 'Photos whose original has been missing for more than a day, counted up to a bound. Each worker has the same figure: use max().',
  },
  homeward_photos_waiting: {
    type: 'gauge',
    in: 'worker',
    labels: [],
    help: 'Photos that are not processed yet and whose originals are there, counted up to a bound. Each worker has the same figure: use max().',
  },
  homeward_photos_oldest_waiting_seconds: {
    type: 'gauge',
    in: 'worker',
    labels: [],
    help: 'How long the oldest of them has waited, 0 if there is none. Each worker has the same figure: use max().',
  },
  homeward_webhook_deliveries_total: {
    type: 'counter',
    in: 'worker',
    labels: ['outcome'],
    help: 'Deliveries by outcome. Of these, only delivered and failed were sent; held waits for an earlier event of the animal.',
  },
  homeward_webhook_duration_seconds: {
    type: 'histogram',
    in: 'worker',
    labels: [],
    buckets: [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10],
    help: 'Time that endpoints took to respond, or to fail.',
  },
  homeward_webhook_requests_in_flight: {
    type: 'gauge',
    in: 'worker',
    labels: [],
    help: 'Requests to endpoints that were sent and have no response yet.',
  },
  homeward_webhook_endpoints_due: {
    type: 'gauge',
    in: 'worker',
    labels: [],
    help: 'Endpoints of this worker that wait for their turn to be sent to.',
  },
  homeward_webhook_endpoints_behind: {
    type: 'gauge',
    in: 'worker',
    labels: [],
    help: 'Endpoints of this worker that have not got every event yet.',
  },
  homeward_webhook_shards: {
    type: 'gauge',
    in: 'worker',
    labels: [],
    help: 'Shards of endpoints that this worker serves. The sum over all workers must be that of all shards.',
  },
  homeward_webhooks_disabled_total: { type: 'counter', in: 'worker', labels: [], help: 'Endpoints that this worker has disabled.' },
  homeward_webhook_endpoints: {
    type: 'gauge',
    in: 'worker',
    labels: ['status'],
    help: 'Endpoints of all clients. Each worker has the same figure: use max().',
  },
  homeward_webhook_endpoints_failing: {
    type: 'gauge',
    in: 'worker',
    labels: [],
    help: 'Enabled endpoints whose last delivery failed. Each worker has the same figure: use max().',
  },
  homeward_orders: {
    type: 'gauge',
    in: 'worker',
    labels: ['status'],
    help: 'Orders by state, counted up to a bound. Each worker has the same figure: use max().',
  },
  homeward_outbox_events: {
    type: 'gauge',
    in: 'worker',
    labels: [],
    help: 'Events that are not published yet, counted up to a bound. Each worker has the same figure: use max().',
  },
  homeward_outbox_oldest_age_seconds: {
    type: 'gauge',
    in: 'worker',
    labels: [],
    help: 'Age of the oldest event that is not published, 0 if there is none. Each worker has the same figure: use max().',
  },
  homeward_on_another_server: {
    type: 'gauge',
    in: 'worker',
    labels: [],
    help: '1: the store was restored, or a standby has taken over, and nothing says which: homeward restore-check is needed. Each worker has the same figure: use max().',
  },
  homeward_feed_position: {
    type: 'gauge',
    in: 'worker',
    labels: [],
    help: 'The last position of the feed. Each worker has the same figure: use max().',
  },
  homeward_feed_newest_age_seconds: {
    type: 'gauge',
    in: 'worker',
    labels: [],
    help: 'Time since the last event was published. Each worker has the same figure: use min().',
  },
  homeward_words_lag_seconds: {
    type: 'gauge',
    in: 'worker',
    labels: [],
    help: 'Age of the oldest event whose words are not counted for searches yet, 0 if there is none. Each worker has the same figure: use max().',
  },
} as const satisfies Record<string, MetricRow>;

export type MetricName = keyof typeof metricTable;
type NamesOf<Type> = { [Name in MetricName]: (typeof metricTable)[Name]['type'] extends Type ? Name : never }[MetricName];
export type HistogramName = NamesOf<'histogram'>;
export type ValueName = NamesOf<'counter' | 'gauge'>;
/** Those without labels. */
export type PlainName = { [Name in MetricName]: (typeof metricTable)[Name]['labels'] extends readonly [] ? Name : never }[MetricName];
export type Labels<Name extends MetricName> = Readonly<Record<(typeof metricTable)[Name]['labels'][number], string>>;
