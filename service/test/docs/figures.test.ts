// Every figure in README.md, ARCHITECTURE.md, docs/flows.md and docs/operations comes from the source: a changed bound fails here, and so does a
// figure that has no source yet.
import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { devAnimals } from '../../../tools/dev-animals.ts';
import { addressQuotas, banLengthsMinutes, personQuotas, quotaOf } from '../../src/access/rate-limit/plans.ts';
import { settledMs } from '../../src/platform/db/change-watch.ts';
import { operations } from './operations-pages.ts';
import { fillFigures } from './source-figures.ts';

const read = (file: string) => readFileSync(new URL(`../../../${file}`, import.meta.url), 'utf8');
const free = quotaOf({ plan: 'free', perMinute: null, perDay: null });
const manifest = (file: string) => JSON.parse(read(file)) as { engines: { node: string } };

/** Sentences with figures, and the files that they come from. */
const sentences: Readonly<Record<string, ReadonlyArray<readonly [phrase: string, ...files: string[]]>>> = {
  'README.md': [
    ['You need Node.js 20 or newer'],
    [`with ${devAnimals().length} animals`],
    // `npm run bench -- size` measures it.
    ['the same with 100 million animals as with 10 thousand'],
  ],
  'ARCHITECTURE.md': [],
  'docs/flows.md': [
    ['claims the row for {claimSeconds} s', 'animals/photos/photo-processing.ts'],
    ['for {pageAgeMaxMs s} at most', 'animals/list-cache/page-cache.ts'],
    [`its response waits ${settledMs} ms`],
    ['Every {expiryIntervalMs ms} the worker looks for such orders', 'worker.ts'],
    ['Every {expiryIntervalMs ms} the worker ends those whose time has come', 'worker.ts'],
    ['Every {publishIntervalMs ms} the worker moves committed rows', 'worker.ts'],
    ["drops a day's partition {eventRetentionDays} days later", 'changes/events/events.ts'],
    ['divided by client into {/client_id % (\\d+)/} shards', '../migrations/0012_endpoints.sql'],
    ['Every {idleIntervalMs ms} the `Deliverer`', 'changes/delivery/deliverer.ts'],
    ['{failingDaysMax} days without success', 'changes/delivery/results.ts'],
    ['when its lease expires, after {leaseSeconds} s', 'changes/delivery/shard-lease.ts'],
    ["younger than {/interval '(\\d+) hours'/} hours", 'access/idempotency/idempotency-queries.ts'],
    [`The command also waits for ${settledMs} ms`],
    ['look in PostgreSQL for changes within the last {trustMs ms}', 'platform/db/change-watch.ts'],
    [`Free plan may send ${free.perMinute} requests in a UTC minute`],
    [`Request ${free.perMinute + 1} is 429`],
    ['Enough strikes within {/EPOCH_TTL = (\\d+)/ min} minutes ban the key', 'access/rate-limit/consume.lua'],
    ['waits for Redis for {redisDeadlineMs ms} at most', 'platform/redis/redis-link.ts'],
    ['lost after {silenceMaxMs ms} without any reply', 'platform/redis/redis-link.ts'],
    ['A probe runs every {probeIntervalMs ms}', 'platform/redis/redis-link.ts'],
    ['on a connection of its own, every {intervalMs ms}', 'platform/db/probes.ts'],
  ],
  'docs/operations': [
    [
      `${personQuotas.requests.perMinute} requests a minute, of which ${personQuotas.acts.perMinute} may be acts, and ${personQuotas.acts.perDay.toLocaleString('en')} acts a day`,
    ],
    ['Every {waitIntervalMs s} a line', 'cli/processes/migrate.ts'],
    ['PostgreSQL ends it, after {idleInTransactionMs s}', 'platform/db/pool.ts'],
    ['the last {linesMax} warnings and errors', 'operations/doctor/support-bundle.ts'],
    ['other texts of an animal, the newest {textsMax}', 'animals/history/texts.ts'],
    ["all go {/interval '(\\d+) days'/} days after it has left", 'animals/history/text-queries.ts'],
    ["said before, {/interval '(\\d+) days'/} days after an animal has left", 'animals/history/text-queries.ts'],
    ['for 24 hours, after {pauseSecondsMin} s, a minute', 'changes/mail/mail-sender.ts'],
    ['kind and state for {sent} days', 'changes/mail/mail-queue.ts'],
    ["a failure's SMTP code for {failed} days", 'changes/mail/mail-queue.ts'],
    ['an address gets {confirmations} confirmations and {messages} messages, over all clients', 'changes/mail/mail-queue.ts'],
    ['one that nobody has confirmed {confirmations}', 'changes/mail/mail-queue.ts'],
    ['at most {/askerBounds: .* confirmations: (\\d)/} for one client', 'changes/mail/mail-queue.ts'],
    ['until the person follows a link, for {raiseHours} hours', 'access/people/raises.ts'],
    ['by hour, way and network, for {failedSignInDays} days', 'access/people/sessions.ts'],
    ['moves events from `outbox` to the feed, every {publishIntervalMs ms}', 'worker.ts'],
    [`a change of an animal takes ${settledMs} ms longer`],
    ['the log {announcedMs min} minutes after the last change', 'animals/list-cache/catalogue.ts'],
    ['then rejects writes after 2 s'],
    ['Less than {journalFreeBytesMin MB} are free for', 'platform/journal-place.ts'],
    ['expires in less than {/- time\\(\\) < (1209600)/ days}.', '../../deploy/prometheus/alerts.yml'],
    ['more if it failed, for {retentionDays} days', 'changes/webhooks/deliveries.ts'],
    [
      "`HOMEWARD_AUDIT_RETENTION` days ({/AUDIT_RETENTION: \\{\\s+fallback: '(\\d+)'/}; {/'HOMEWARD_AUDIT_RETENTION', (\\d+)/} at least)",
      'platform/config.ts',
    ],
    ['five files of {/max-size: (\\d+)m/} MB', '../../compose.yaml'],
    ['nobody has answered for {unansweredDays} days', 'adoption/applications/application-mail.ts'],
    ["smtp://USER:PASSWORD@HOST:{/'smtp:': (\\d+)/ plain}", 'platform/server-urls.ts'],
    ["smtps://USER:PASSWORD@HOST:{/'smtps:': (\\d+)/ plain}", 'platform/server-urls.ts'],
    ['after {pauseSecondsMin} s, a minute, and so on up to an hour', 'changes/mail/mail-sender.ts'],
    ['rejects for good (5xx)'],
    ['Nothing is lost for 24 hours'],
    ['after 24 of them, messages are given up'],
    ['some requests fail with a 5xx'],
    ['has less than {/homeward_disk_size_bytes\\) < 0\\.(\\d+)/}% left', '../../deploy/prometheus/alerts.yml'],
    ['Less than {/size_bytes < 0\\.(05)\\n/}% is left on a disk', '../../deploy/prometheus/alerts.yml'],
    ['Less than {/size_bytes < 0\\.(15)\\n/}% is left on a disk', '../../deploy/prometheus/alerts.yml'],
    ['older than {/backup_timestamp_seconds\\) > (\\d+)/ hours}:', '../../deploy/prometheus/alerts.yml'],
    ['once it has not failed for {quietMs s}', 'operations/telemetry/job-tally.ts'],
    ['HOMEWARD_PHOTOS_S3_'],
    ['S3-compatible'],
    ['`s3://BUCKET`'],
    ['SHA-256 of their content'],
    ['some 300 kB in three pictures, and up to {photoBytesMax MB}', 'images/image-types.ts'],
    ['leave {reserveBytes GB} of its disk free, or {/reserveShare = 0\\.0(\\d)/}% if that is more', 'images/photo-store.ts'],
    ['{uploadsOfAllMax} for each process, of {photoBytesMax MB} each', 'animals/photos/upload-allowance.ts', 'images/image-types.ts'],
    ['less than {reserveBytes GB}, or less than {/reserveShare = 0\\.0(\\d)/}%, is free', 'images/photo-store.ts'],
    ['spare file of {spareBytes MB}', 'platform/journal-place.ts'],
    ['made again when {journalFreeBytesMin MB} are free', 'platform/journal-place.ts'],
    ['Linux on x64 or arm64'],
    // Measured, and the bound of an image's process.
    ['some 130 MB, and {memoryMax MB} for each image', 'images/image-child.ts'],
    ['tried again, {attemptsMax} times at most', 'animals/photos/photo-processing.ts'],
    ['bodies of {photoBytesMax MB}', 'images/image-types.ts'],
    ['no limit of {requestTimeout s} for the request', 'app.ts'],
    ['a minimum rate of {bytesPerSecondMin kB} a second', 'animals/photos/upload-listener.ts'],
    ['gets {burst} photos at once and {perSecond} a second', 'animals/photos/upload-allowance.ts'],
    ['{photoBytesMax MB} for each of {uploadsOfAllMax} uploads', 'images/image-types.ts', 'animals/photos/upload-allowance.ts'],
    ['uploads are 503, pictures are 503'],
    ['Node.js 20 or newer'],
    ['PostgreSQL 15 or newer with its extensions'],
    ['and Redis 7 or newer'],
    ['the second waits for the first, for {totalTimeoutMs min} minutes at most', 'platform/db/migrate.ts'],
    ['waits for a lock for {lockTimeoutMs ms}', 'platform/db/migrate.ts'],
    ['After {totalTimeoutMs min} minutes', 'platform/db/migrate.ts'],
    ['after {queryTimeoutMs s}. The message says', 'platform/db/pool.ts'],
    ['says of the last {lagDaysMax} days', 'operations/recovery/failovers.ts'],
    ['fails after {connectTimeoutMs ms}, and the process does not start', 'platform/db/pool.ts'],
    ["the default of {/POOL_SIZE: \\{ fallback: '(\\d+)'/} for `HOMEWARD_POOL_SIZE`", 'platform/config.ts'],
    [
      '{/EPOCH_TTL = (\\d+)/ min} minutes after a strike, {/MINUTE, DAY = \\d+, (\\d+)/ h} hours after a ban',
      'access/rate-limit/consume.lua',
    ],
    ['| {ttlSeconds hours} |', 'access/clients/client-changes.ts'],
    [`the one on the path is ${manifest('service/package.json').engines.node.slice(2)} or newer`],
    ['asks all Sentinels before it connects, for {askTimeoutMs ms} at most', 'platform/redis/sentinels.ts'],
    ['limits are exact again some 2.5 s after the primary was killed'],
    ['waits {redisDeadlineMs ms} at most; after {silenceMaxMs ms} without any reply', 'platform/redis/redis-link.ts'],
    ['Closing takes {closeTimeoutMs s} at most', 'cli/processes/serve.ts'],
    [`share its ${addressQuotas.api.perMinute} a minute`],
    [`\`/a/…\`: ${addressQuotas.adopterPages.perMinute} requests a minute`],
    ['A person or a key makes {auditRowsPerDay} changes in a UTC day', 'access/audit/audit.ts'],
    [`charged to the address, ${addressQuotas.endings.perMinute} a minute`],
    ['one of the {invitesMax} invitations a day', 'access/people/people.ts'],
    [
      '{gapMs s} from one to the next, {linksToAddressMax} a day (UTC) to an address, {linksFromNetworkMax} of them',
      'access/people/link-budget.ts',
    ],
    ['has {linksOfDeviceMax} of its own', 'access/people/link-budget.ts'],
    ['stays open for {keepAliveTimeout s}', 'app.ts'],
    ['takes nothing for {stalledMs s}', 'platform/http/response-progress.ts'],
    ['{responseMs s} plus 1 s for each {bytesPerSecondMin kB}', 'platform/http/response-progress.ts'],
    ['more than {clientBytesMax MB} are unsent, or {processBytesMax MB} in the process', 'platform/http/response-progress.ts'],
    ['more than {pipelinedMax} of which wait', 'platform/http/response-progress.ts'],
    ['{headersTimeout s} for the headers and {requestTimeout s} for the whole request', 'app.ts'],
    ['deleted after {unconfirmedHours} hours', 'adoption/applications/settling.ts'],
    ['looks again every {intervalMs s}', 'cli/repair/doctor.ts'],
    ['every {intervalSeconds days}', 'animals/photos/photo-scan.ts'],
    ['exits, within {delay s}', 'worker.ts'],
    ['an even part of {/client_id % (\\d+)/} shards', '../migrations/0012_endpoints.sql'],
    ['a lease of {leaseSeconds} s', 'changes/delivery/shard-lease.ts'],
    ['one event at least every {probeIntervalMs min} minutes', 'changes/delivery/endpoint.ts'],
    ['over about {/over about (\\d+) hours/} hours', 'changes/delivery/results.ts'],
    ['More than {heldMax} events wait', 'changes/delivery/due-rows.ts'],
    ['waited for more than {behindDaysMax} days', 'changes/delivery/page-reader.ts'],
    ['retains {eventRetentionDays} days of them', 'changes/events/events.ts'],
    ['with {heartbeatMs s} between bytes at most', 'platform/http/protocol/event-stream.ts'],
    ["cancelled or expired {/ADOPTER_RETENTION: \\{\\s*fallback: '(\\d+)'/} days ago", 'platform/config.ts'],
    ['at most {askedPerSecondMax} times a second in each process', 'platform/tracing/tracing.ts'],
    ['truncated at {/slice\\(0, (\\d+)\\)/} characters', 'platform/http/finished-requests.ts'],
    [`after ${settledMs} ms, or after up to {totalTimeoutMs s} if Redis does not reply`, 'access/clients/client-changes.ts'],
    ['It lists {limitMax} keys at once', 'cli/terminal/store-command.ts'],
    ['by key and minute, for {retentionDays} days', 'access/usage/usage.ts'],
    ['about every {intervalMs s}, and on SIGTERM', 'access/usage/usage-tally.ts'],
    ['keeps {talliesMax} counts', 'access/usage/usage-tally.ts'],
    [`banned for ${banLengthsMinutes[0]} minute, then ${banLengthsMinutes[1]}, ${banLengthsMinutes[2]} and ${banLengthsMinutes[3]}`],
  ],
};

/** What is no figure of the program: numbers in names, of steps, statuses and versions, and examples. */
const names = [
  /^( *)```[\s\S]*?^\1```/gm,
  // The table of metrics, which another test compares.
  /^\| `(homeward|process)_.*$/gm,
  /`[^`\n]+`/g,
  /\]\([^)]*\)/g,
  /<[^>\n]+>/g,
  // Releases; document-tables.test.ts compares those of the table.
  /\b1\.\d+\.0\b/g,
  /^\s*\d+\. /gm,
  /^\| \d+\.? /gm,
  /\b(ADR|RFC|ISO) \d+/g,
  /\bint64\b|HTTP\/1\.1|IPv[46]|SHA-256|https?:\/\/[\d.:]+|127\.0\.0\.1/g,
  /Exit statuses: 0 success, 1 failure, 2 |is wrong, 3 only warnings|exit status is then 1|exits with [12]/g,
  /\b(status(es)?|[Ss]teps?|port|client|key|keys|animal|order|mode) \d+( to \d+)?/g,
  // HTTP statuses.
  /\b(200|201|204|303|304|400|401|403|404|405|408|409|410|412|413|415|422|429|431|500|503)\b(?! (ms|s|kB|bytes|characters|in)\b)/g,
  // Levels of the log, prefixes of networks, and PgBouncer's own settings.
  /30 info, 40 warning, 50 error, 60 fatal|since 1970|by \/24|by \/48|one from 1024 on|1\.18, of Debian 12|before PgBouncer 1\.21|default of 100 connections/g,
  // Estimates that operators plan with.
  /some \d+ (bytes|GB)|wait for a response for 5 s or more|the lock for 500 ms/g,
  // The table of plans, which another test compares.
  /^\| (Free|Pro|Business|Enterprise) \|.*$/gm,
];

describe.each(Object.entries(sentences))('%s', (file, phrases) => {
  const text = file === 'docs/operations' ? operations : read(file);

  test.each(phrases)('says "%s"', (phrase, ...files) => {
    expect(text).toContain(fillFigures(phrase, files));
  });

  test('has no figure without a source', () => {
    let rest = text;
    for (const [phrase, ...files] of phrases) rest = rest.replaceAll(fillFigures(phrase, files), '');
    for (const name of names) rest = rest.replace(name, '');
    expect(rest.split('\n').filter((line) => /\d/.test(line))).toEqual([]);
  });
});

test('The engines of the packages are those that the documents state', () => {
  expect(manifest('package.json').engines.node).toBe('>=20');
});
