// Every figure in README.md, ARCHITECTURE.md and docs/operations.md comes from the source: a changed bound fails here, and so does a
// figure that has no source yet.
import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { devAnimals } from '../../../tools/dev-animals.ts';
import { attemptsMax } from '../../src/changes/delivery/retry-schedule.ts';
import { addressQuota, banLengthsMinutes, planBounds, planNames, quotaOf } from '../../src/partners/rate-limit/plans.ts';
import { settledMs } from '../../src/platform/db/change-watch.ts';
import { fillFigures } from './source-figures.ts';

const read = (file: string) => readFileSync(new URL(`../../../${file}`, import.meta.url), 'utf8');
const byPlan = (bound: 'openOrders' | 'newCategoriesPerDay' | 'photoMegabytesPerDay' | 'photoStorageGigabytes') =>
  planNames.filter((plan) => plan !== 'enterprise').map((plan) => planBounds[plan][bound].toLocaleString('en'));
const enterprise = planBounds.enterprise;
const free = quotaOf({ plan: 'free', perMinute: null, perDay: null });
const manifest = (file: string) => JSON.parse(read(file)) as { engines: { node: string } };

/** The bound of each row of the table, filled from the files that the row names. */
const bounds: Readonly<Record<string, string>> = {
  Body: '{bodyBytesMax MiB}',
  'Request line and headers': '{headerBytesMax KiB}',
  'Time for the headers': '{headersTimeout s}',
  'Time for the whole request': '{requestTimeout s}',
  'A photo': '{photoBytesMax MB}, {pixelsMax million} megapixels',
  'Time for a photo, in place of that for the whole request':
    '{bytesPerSecondMin kB} a second on average after {graceMs s}, {uploadMsMax min} minutes in total',
  'Photos that are being sent to a process': '{uploadsOfAllMax}; {uploadsMax} per client',
  'Photos of an animal': '{photosMax}',
  'Photos that a client sends in a UTC day': `${byPlan('photoMegabytesPerDay').join(', ')} MB by plan; Enterprise ${enterprise.photoMegabytesPerDay.toLocaleString('en')} MB`,
  'What the photos of a client take': `${byPlan('photoStorageGigabytes').join(', ')} GB by plan; Enterprise ${enterprise.photoStorageGigabytes.toLocaleString('en')} GB; of removed photos until a sweep after {agesMin h} hours`,
  'Free space that photos leave on the disk of their directory':
    '{reserveBytes GB}, or {/reserveShare = 0\\.0(\\d)/}% of it if that is more',
  'Photos from before that the worker counts at once': '{countedAtOnceMax}',
  'The process that makes the pictures of a photo':
    '{cpuMsMax s} of processor time, {deadlineMs s} in total, {memoryMax MB} of memory, {attemptsMax} attempts',
  'Images that `homeward images` decodes at once; connections to it; time to send it an image or to take its reply; time for images in progress at its end':
    '{decodesMax}; {connectionsMax}; {transferTimeoutMs s}; {drainTimeoutMs s}',
  'What it or a process for an image may reply; how long a worker waits for that': '{replyBytesMax MB}; {replyTimeoutMs s}',
  'Photos served to an address': '{burst} at once, {perSecond} a second, per process; buckets of {addressesMax} addresses',
  'Files of photos deleted at once by a sweep; its claim on them': '{deletesAtOnceMax}; {claimSeconds} s',
  'A response whose reader takes nothing of the bytes that wait': '{stalledMs s}',
  'Time to read a response that is no stream': '{responseMs s} plus 1 s for each {bytesPerSecondMin kB} of it',
  'Unsent bytes of responses; beyond that the slowest connections are closed':
    '{clientBytesMax MB} per client or address, {processBytesMax MB} per process',
  'Requests on a connection that wait for an earlier one; beyond that it is closed': '{pipelinedMax}',
  'Sweep over connections with unsent bytes': 'every {sweepMs ms}, {sweepSliceMax} responses at a time',
  'Time to read the response to an unreadable request or a body that is too large': '{lingerMs s}',
  'Nesting of a JSON body': '{depthMax} levels',
  Page: '{sizeDefault} by default, {sizeMax} at most',
  'A page of listings': '{pageBytesMax MB}; then it has fewer animals',
  'Faults described in a message': '{shownMax}; the others are counted',
  'Errors that are looked for in a body or query':
    'one for each field in the schema, and one for each unknown field, which is not validated',
  'Ids in one list request': '{idsMax}',
  'Name of an animal, a category, an adopter': '{maxLength} characters',
  'E-mail address': '{maxLength} characters',
  'Description, address, telephone number, website and time zone of a shelter':
    '{description}, {address}, {phone}, {website} and {timezone} characters',
  'Description of an animal; its breed or external id': '{descriptionLengthMax} characters; {lineLengthMax}',
  'Attributes of an animal': '{attributesMax}, with names of {lineLengthMax} and values of {valueLengthMax} characters',
  'Colors, tags and bonded animals of an animal': '{colorsMax}, {tagsMax} and {bondedMax}',
  "Time for an order's approval": "`HOMEWARD_ORDER_EXPIRY`, {/ORDER_EXPIRY: \\{ fallback: '(\\d+)'/ days} by default, a year at most",
  '`Idempotency-Key`': '{/\\{1,(\\d+)\\}/} characters',
  'Stored responses': "{/interval '(\\d+) hours'/} hours",
  'Orders in transactions at once, in a process': '{/turnsMax: (\\d)/} for an animal; {ordersOfClientMax} of a client',
  'Wait of an order for others of its client, and as long for others for its animal':
    '{gateWaitMsMax s}, then 503; {waitingOfClientMax} of a client',
  'Worker polls for expired orders': 'every {expiryIntervalMs ms}, {batchSizeMax} orders in a transaction',
  'Worker polls for events to publish': 'every {publishIntervalMs ms}, {publishSizeMax} events in a transaction',
  Events: '{retentionDays} days',
  'Events that a page without a type scans': '{span}',
  'Event streams per process': `{streamsMax}; ${enterprise.streams} per client`,
  'Streams of a client that catch up at once, per process': String(enterprise.catchUps),
  "Time from a key's end to the end of its streams": '{intervalMs ms} plus one query',
  'Open orders of a client': `${byPlan('openOrders').join(', ')} or ${enterprise.openOrders.toLocaleString('en')} by plan; ${enterprise.openOrdersOfAdopter} per adopter's address`,
  "Adopters' data after an order was cancelled or expired":
    "`HOMEWARD_ADOPTER_RETENTION`, {/ADOPTER_RETENTION: \\{ fallback: '(\\d+)'/} days by default",
  'Adopters erased, or orders cancelled by a command, in one transaction': '{batchSizeMax}',
  'Journal lines applied at once; files of a directory': '{linesMax}; {filesMax}',
  'The spare file of the journal; free space with which it is made again': '{spareBytes MB}; {journalFreeBytesMin MB}',
  'A stream': '{lifetimeMs min} minutes, a heartbeat every {heartbeatMs s}',
  "Data buffered for a stream's reader": '{bufferedBytesMax KiB} plus one batch of {batchSizeMax} events',
  'Endpoints of a client': String(enterprise.webhooks),
  'New categories of a client in a UTC day': `${byPlan('newCategoriesPerDay').join(', ')} by plan; Enterprise ${enterprise.newCategoriesPerDay.toLocaleString('en')}, or as set for the client`,
  'Unused categories removed at once by `categories prune`': '{pruneBatchSize}, {pruneAttemptsMax} attempts',
  "An endpoint's URL, its description": '{maxLength} and {/PlainText =[^]*?lengthMax = (\\d+)/} characters',
  'Lease of a worker that sends webhooks':
    '{leaseSeconds} s, extended every {extendIntervalMs s}; nothing is sent {startBeforeMs s} after it was last extended',
  'Shards that a worker takes at once': '{acquireMax}',
  'Requests to endpoints in flight, per worker': '{quickMax}, and {slowMax} that take {slowMs s} or more',
  'Requests to the endpoints of a client in flight':
    '{ofClientMax}, of which {slowOfClientMax} that take {slowMs s} or more; {ofClientAtOriginMax} to one host and port',
  'Requests to an endpoint in flight': `{/concurrency: (\\d+)/}; {/belowMs: 1_000, concurrency: (\\d+)/} if they take {/belowMs: (\\d+)/ ms} or more on average, 1 if they take {slowMs s} or more`,
  'Worker polls for events to send': 'every {idleIntervalMs ms}, {pageSize} events',
  'Newest events in the memory of a worker': '{eventsMax}, {bytesMax MiB} in all',
  'Events read at once for an endpoint that is behind those': '{pageSize}, for {readsMax} endpoints at a time',
  'Events of an endpoint that wait in memory for others of the same animal': '{deferredMax}',
  'Deliveries decided by one statement': '{decideSizeMax}',
  'Exceptions that are due, read at once': '{rowsOfEndpointMax} of each endpoint, of {readSize} endpoints',
  'Time between two writes of a cursor': '{moveIntervalMs s}, or {moveIdleIntervalMs s} if nothing was sent',
  'Timeout of a delivery': '{exchangeTimeoutMs s}; {connectTimeoutMs s} to connect',
  "An endpoint's response": '{responseBytesMax kB} are read, {keptBytesMax kB} is stored',
  'Attempts of a delivery': `${attemptsMax}, over {/over about (\\d+) hours/} hours`,
  'An endpoint that fails':
    '{failingAnimals} animals, then it is tried every {probeIntervalMs min} minutes; {failingDaysMax} days, then it is disabled',
  'An endpoint that is too far behind':
    '{heldMax} events behind failed ones of the same animals, or {behindDaysMax} days; then it is disabled',
  'Pauses of an endpoint while deliveries are queued': '{pausesMax}',
  'Deliveries replayed at once': '{replayMax}',
  'Attempts shown of a delivery': '{attemptsShownMax}',
  'Events read for a page of queued deliveries': '{queuedReadSize} at once, {queuedReadsMax} times',
  'Deliveries and their attempts': '{retentionDays} days',
  'Stored responses and deliveries deleted at once': '{sweepSizeMax}, every minute',
  Usage: '{retentionDays} days',
  'Time between two writes of usage by a process': '{intervalMs s}, {/jitter = 0\\.(\\d)/}0% more or less',
  'Usage in the memory of a process': '{talliesMax} counts, one for each key and minute',
  'Rows of usage written by one statement': '{batchRowsMax} and those of one key',
  'Last write of usage on shutdown': '{closeTimeoutMs s}',
  'Intervals and keys in a response with usage': '{intervalsMax} and {keysMax}',
  'Hours of usage of all keys read by one statement of a command': '{hoursAtOnce}',
  'Animals and rows of history read in one snapshot by `verify`': '{petsPerRange} and {rowsPerRange}',
  'A received value shown in a message': '{/slice\\(0, (60)\\)/} characters',
  'URL in a log line': '{/slice\\(0, (\\d+)\\)/} characters',
  'The log of a process that waits to be read': '{waitingBytesMax MB}; further lines are dropped',
  'Wait for Redis in a request': '{redisDeadlineMs ms}',
  'Time without a reply before Redis counts as lost': '{silenceMaxMs ms}',
  'Connecting to Redis': '{connectTimeout s}',
  'Probe without a reply before the connection to Redis is closed': '{probeTimeoutMs s}; {watchedProbeTimeoutMs s} with Sentinels',
  'Wait for the Sentinels, and for the role of a server that they name': '{askTimeoutMs ms} each',
  'Wait for Redis at startup': '{redisWaitMs s}',
  'Requests decided in one call to Redis': '{batchSizeMax}',
  'Requests of a client granted to a process in advance':
    '{/LEASE_MAX = \\d+, (\\d+)/}, and a {/LEASE_SHARE, LEASE_MAX = (\\d+)/}th of what remains, for {leaseMs ms}',
  'Clients and addresses counted by a process': '{subjectsMax}',
  'Bans listed at once': '{listedMax}',
  'Keys cached': '{bytesMax MiB} at {entryBytes} bytes each, for {ttlSeconds plain} s each',
  'Keys cached as unknown, as ended, as existing but not read yet': '{unknownMax} each',
  'Changed clients in memory; beyond that all cached keys are read again': '{evictedClientsMax}',
  'Hashes found by the text of the key': '{hashesMax}',
  'Use of caches after a look for changes': '{trustMs ms}',
  'Time between looks of a busy process': '{lookIntervalMs ms}',
  'Wait of a command after a change of a client': `${settledMs} ms`,
  'Pages and facets of listings cached': '{pagesMax}, {bytesMax MiB} in all with their compressed bytes, for {pageAgeMaxMs s} each',
  'Words of a search, a breed': '{wordsLengthMax} characters',
  'Misspelt words of a search that are corrected': '{correctedMax}',
  'Newest documents looked through for a word; words compared for each trigram of a misspelt one; of these those that are ranked':
    '{newestMax}; {wordsOfTrigramMax}; {candidatesMax}',
  'A word that is counted, or corrected': '{wordCharactersMax} characters',
  'New words of a client in a UTC day; further ones are found, but correct none': '{newPerDayMax}',
  'Words of all clients; the rarest of the client with the most go first': '{wordsMax}',
  'Animals whose words a worker counts in a transaction; words evicted by a statement': '{animalsAtOnceMax}; {evictedAtOnceMax}',
  'Distance of a search': '{withinKmDefault} km by default, {withinKmMax} km at most',
  'Animals ranked by relevance; counted for facets': '{rankedMax}; {countedMax}',
  'Animals looked through by one statement before a search is made in another way; if some of them match; those that tell whether words are frequent':
    '{walkedMax}; {walkedFurtherMax}; {probedMax}',
  'Matches that are sorted; shelters near a place whose animals are looked through first': '{sortedMax}; {sheltersMax}',
  'Pages of animals cached': '{pagesMax}, {bytesMax MiB} in all with their compressed bytes, for {pageAgeMaxMs s} each',
  'Changes of animals in the memory of a process; entries of the log in Redis': '{changesMax}; {logLength}',
  'Changes in one announcement; more are announced as a change of everything': '{changesMax}',
  'Transactions that Redis stores as announced': '{announcedMax}, for {announcedMs s}',
  'Transitions of an animal among which a write that changes nothing looks for recent transactions': '{recentMax}',
  'Wait for an announcement of another process before the publisher makes it': '{announcingMs ms}',
  'Wait of a change that Redis was not told of': `${settledMs} ms; {pageAgeMaxMs s} if PostgreSQL was not told either`,
  'Length of an address that is parsed': '{textLengthMax} characters',
  'Look-ups of uncached keys in flight': '{queriesMax} queries of {batchSizeMax} keys',
  'Look-ups pending, which also bounds the networks in the queue': '{pendingMax}; {pendingOfNetworkMax} per network',
  'Wait of a look-up': '{waitMsMax s}',
  'Epoch changes within one request': '{epochChangesMax}, then 503',
  'Notifying Redis of a changed client': '{totalTimeoutMs s}',
  'Connections to PostgreSQL':
    "`HOMEWARD_POOL_SIZE`, {/POOL_SIZE: \\{ fallback: '(\\d+)'/} by default, plus {searchConnections} for searches, one for the probe, one for looks for changes, and one that waits for a standby that is away",
  'Connections for transactions that a client has at once': 'all but one',
  'Searches of a client that run at once, in a process': '{searchesOfClientMax}',
  'Wait of a search for others of its client; for those of other clients':
    '{searchTurnTimeoutMs ms}, then 409; {searchWaitMsMax s}, then 503',
  'A statement of a search; a search that takes longer sends no other': '{searchTimeoutMs s}',
  "Rest of a client's turn after a search: three times as long as it took beyond 20 ms, at most": '{searchRestMsMax ms}',
  'Requests of a client waiting for a connection, and as many for one for searches; clients take turns': '{pendingMax}',
  'Single statements in flight, and as many that write': '{pendingMax}; from {busyMin} on, lists are rejected',
  'Wait for a connection': '{turnTimeoutMs ms}',
  'A statement, including its wait for a lock': '{statementTimeoutMs s} in PostgreSQL, {queryTimeoutMs s} in the process',
  'Reply to a probe of PostgreSQL': '{timeoutMs ms}',
  'Wait for PostgreSQL at startup': '{openTimeoutMs s} for each connection',
  'Wait of a migration for a lock, and in total, also for another `migrate`': '{lockTimeoutMs ms}, {totalTimeoutMs min} minutes',
  'Rows that a command lists at once': '{limitMax}',
  'Responses delayed by a rehearsal': '{delayedMax}, {delayMs s} each',
  'A simulated error': '{rate_limit sec}, {ban sec} or {unavailable s}; its end is stored for {endRetainedMs min} minutes',
  'SDK: requests in flight': '{inFlightMax}',
  'SDK: timeout of a call': '{timeoutMs s} per attempt, {totalTimeoutMs s} in total',
  'SDK: idle timeout of a stream': '{idleTimeoutMs s}',
  'Connections to the port of the metrics; beyond that the oldest without a request is closed': '{connectionsMax}, of one request each',
  'Time for a request to the port of the metrics': '{requestTimeout s}',
  'Rows that a worker counts for a metric': '{countMax}, every {factsIntervalMs s}',
  'Look at the certificate of the API': '{timeoutMs s}, every {certificateIntervalMs min} minutes',
  'Bytes read of the file with the time of the last backup': '{stampBytesMax}, every minute',
  'Spans below one request': '{spansOfRequestMax}',
  'Requests traced because their callers asked for it': '{askedPerSecondMax} per second and process',
  'Spans that wait to be exported': '{queuedMax}; an export takes {exportTimeoutMs s} at most, the last one {flushTimeoutMs s}',
  Shutdown: '`serve`: {closeTimeoutMs s} after `HOMEWARD_DRAIN_MS`; `worker`: {delay s}',
};

describe('The bounds in ARCHITECTURE.md', () => {
  const [, table = ''] = read('ARCHITECTURE.md').split('\n## Bounds\n');
  const rows = [...table.matchAll(/^\| (.+) \| (.+) \| (`.+`) \|$/gm)].map(([, what = '', bound = '', cell = '']) => ({
    what,
    bound,
    files: [...cell.matchAll(/`([^`]+)`/g)].map(([, file = '']) => file),
  }));

  test('are those that have a source', () => {
    expect(rows.map(({ what }) => what)).toEqual(Object.keys(bounds));
  });

  test.each(rows)('$what: $bound', ({ what, bound, files }) => {
    expect(bound).toBe(fillFigures(bounds[what] ?? '', files));
  });
});

/** Sentences with figures, and the files that they come from. */
const sentences: Readonly<Record<string, ReadonlyArray<readonly [phrase: string, ...files: string[]]>>> = {
  'README.md': [
    ['You need Node.js 20 or newer'],
    [`with ${devAnimals().length} animals`],
    // `npm run bench -- size` measures it.
    ['the same with 100 million animals as with 10 thousand'],
  ],
  'ARCHITECTURE.md': [
    ['claims the row for {claimSeconds} s', 'store/photos/photo-processing.ts'],
    ['A read of {bytesMin KiB} or more is compressed', 'platform/http/content-coding.ts'],
    ['for {pageAgeMaxMs s} at most', 'store/list-cache/page-cache.ts'],
    ['When {busyMin} single statements are in flight', 'platform/db/pool.ts'],
    [`its response waits ${settledMs} ms`],
    ['Every {expiryIntervalMs ms} the worker looks for such orders, up to {batchSizeMax} at a time', 'cli/worker.ts'],
    ['Every {publishIntervalMs ms} the worker polls', 'cli/worker.ts'],
    ['drops those that ended {retentionDays} days ago', 'changes/events/events.ts'],
    ['divided by client into {/client_id % (\\d+)/} shards', '../migrations/0006_feed_readers.sql'],
    ['a lease, extended every {extendIntervalMs s}', 'changes/delivery/shard-lease.ts'],
    ['Every {idleIntervalMs ms} the `Deliverer`', 'changes/delivery/deliverer.ts'],
    ['{failingDaysMax} days without success', 'changes/delivery/results.ts'],
    ['Every {moveIntervalMs s} the cursors', 'changes/delivery/cursors.ts'],
    ['when its lease expires, after {leaseSeconds} s', 'changes/delivery/shard-lease.ts'],
    ['the last attempts for {failingAnimals} animals failed', 'changes/delivery/endpoint.ts'],
    ['at least every {probeIntervalMs min} minutes', 'changes/delivery/endpoint.ts'],
    ["younger than {/interval '(\\d+) hours'/} hours", 'partners/idempotency/idempotency-queries.ts'],
    ['reads all animals, {petsPerRange} at a time', 'store/verify/verify.ts'],
    ['{secretLength} random characters, {checksumLength} characters of checksum', 'partners/clients/api-key.ts'],
    [`The command also waits for ${settledMs} ms`],
    ['look for changes in PostgreSQL within the last {trustMs ms}', 'platform/db/change-watch.ts'],
    ['A busy process looks every {lookIntervalMs ms}', 'platform/db/change-watch.ts'],
    ['An entry expires after 10 minutes'],
    ['at most {queriesMax} queries are in flight, of up to {batchSizeMax} keys each', 'partners/clients/lookup-queue.ts'],
    ['one that waits for {waitMsMax s}', 'partners/clients/lookup-queue.ts'],
    [`Free plan may send ${free.perMinute} requests in a UTC minute`],
    [`Request ${free.perMinute + 1} is rejected`],
    [
      "within {/EPOCH_TTL = (\\d+)/ min} minutes reach the plan's requests per minute, but at least {strikesMin}",
      'partners/rate-limit/consume.lua',
      'partners/rate-limit/plans.ts',
    ],
    [
      `for ${banLengthsMinutes[0]} minute, the next time for ${banLengthsMinutes[1]}, then ${banLengthsMinutes[2]}, then ${banLengthsMinutes[3]}`,
    ],
    ["The level is reset {/MINUTE, DAY = \\d+, (\\d+)/ h} hours after a ban's end", 'partners/rate-limit/consume.lua'],
    ['waits for Redis for {redisDeadlineMs ms} at most', 'platform/redis/redis-link.ts'],
    ['only the first requests wait for {redisDeadlineMs ms}', 'platform/redis/redis-link.ts'],
    ['lost after {silenceMaxMs ms} without any reply', 'platform/redis/redis-link.ts'],
    ['A probe runs every {probeIntervalMs ms}', 'platform/redis/redis-link.ts'],
    ['every {intervalMs ms}, with a timeout of {timeoutMs ms}', 'platform/db/primary-probe.ts'],
    ['waits up to {queryTimeoutMs s}', 'platform/db/pool.ts'],
    ['waits up to {turnTimeoutMs ms} for one', 'platform/db/pool.ts'],
    ['waits up to {searchWaitMsMax s} for those of others', 'platform/db/pool.ts'],
  ],
  'docs/operations.md': [
    ['every {certificateIntervalMs min} minutes, for {timeoutMs s} at most', 'cli/worker.ts', 'operations/telemetry/certificate-watch.ts'],
    ['five files of {/max-size: (\\d+)m/} MB', '../../compose.yaml'],
    ['some requests fail with a 5xx'],
    ['has less than {/homeward_disk_size_bytes\\) < 0\\.(\\d+)/}% left', '../../deploy/prometheus/alerts.yml'],
    ['Less than {/size_bytes < 0\\.(05)\\n/}% is left on a disk', '../../deploy/prometheus/alerts.yml'],
    ['Less than {/size_bytes < 0\\.(15)\\n/}% is left on a disk', '../../deploy/prometheus/alerts.yml'],
    ['older than {/backup_timestamp_seconds\\) > (\\d+)/ hours}:', '../../deploy/prometheus/alerts.yml'],
    ['expires in less than {/- time\\(\\) < (1209600)/ days}:', '../../deploy/prometheus/alerts.yml'],
    ['every {photoIntervalMs ms} | `process-photos`', 'cli/worker.ts'],
    ['once it has not failed for {quietMs s}', 'cli/job-failures.ts'],
    ['every {wordsIntervalMs ms}, {animalsAtOnceMax} animals in a transaction', 'cli/worker.ts', 'store/listings/words.ts'],
    ['up to {waitingBytesMax MB} wait for a reader that stalls', 'platform/log.ts'],
    ['`0019_photos`'],
    ['HOMEWARD_PHOTOS_S3_'],
    ['S3-compatible'],
    ['`us-east-1`'],
    ['`s3://BUCKET`'],
    ['S3 must know'],
    ['photos/3f/a9/3fa9….webp'],
    ['photos/3fa9….webp'],
    ['SHA-256 of their content'],
    ['some 300 kB in three pictures, and up to {photoBytesMax MB}', 'store/photos/image-types.ts'],
    ['such a picture is 404'],
    [
      `may send ${byPlan('photoMegabytesPerDay').slice(0, -1).join(', ')} or ${byPlan('photoMegabytesPerDay').at(-1)} MB per UTC day by plan, an Enterprise client ${enterprise.photoMegabytesPerDay.toLocaleString('en')}`,
    ],
    [
      `its files may take ${byPlan('photoStorageGigabytes').join(', ')} or ${enterprise.photoStorageGigabytes.toLocaleString('en')} GB in all`,
    ],
    // Measured.
    ['An image of 50 kB can become pictures of 8 MB'],
    ['leave {reserveBytes GB} of its disk free, or {/reserveShare = 0\\.0(\\d)/}% if that is more', 'store/photos/free-space.ts'],
    ['{uploadsOfAllMax} for each process, of {photoBytesMax MB} each', 'store/photos/upload-slots.ts', 'store/photos/image-types.ts'],
    ['less than {reserveBytes GB}, or less than {/reserveShare = 0\\.0(\\d)/}%, is free', 'store/photos/free-space.ts'],
    ['every minute, {countedAtOnceMax} at a time', 'store/photos/photo-processing.ts'],
    ['every {diskIntervalMs s} | `look-at-disks`', 'cli/worker.ts'],
    ['every {photoWatchIntervalMs s} | `look-for-photos`', 'cli/worker.ts'],
    ['spare file of {spareBytes MB}', 'platform/journal/spare-file.ts'],
    ['made again when {journalFreeBytesMin MB} are free', 'platform/journal/spare-file.ts'],
    ['less than {journalFreeBytesMin MB} are free for', 'platform/journal/spare-file.ts'],
    ['{spareBytes MB} for some five thousand of them', 'platform/journal/spare-file.ts'],
    ['the spare file again within {diskIntervalMs s}', 'cli/worker.ts'],
    ['Linux on x64 or arm64'],
    // Measured, and the bound of an image's process.
    ['some 130 MB, and {memoryMax MB} for each image', 'store/photos/image-child.ts'],
    ['With one worker that is 410 MB'],
    ['finishes what it decodes, for {drainTimeoutMs s} at most', 'store/photos/images-server.ts'],
    ['with {cpuMsMax s} of processor time, {deadlineMs s} in total and {memoryMax MB} at most', 'store/photos/image-child.ts'],
    ['tried again, {attemptsMax} times at most', 'store/photos/photo-processing.ts'],
    ['taken up by another one after {claimSeconds} s', 'store/photos/photo-processing.ts'],
    ['bodies of {photoBytesMax MB}', 'store/photos/image-types.ts'],
    ['no limit of {requestTimeout s} for the request', 'app.ts'],
    ['a minimum rate of {bytesPerSecondMin kB} a second', 'store/photos/upload-listener.ts'],
    ['max-age=31536000, immutable'],
    ['gets {burst} photos at once and {perSecond} a second', 'store/photos/address-budget.ts'],
    ['from one address gets 429'],
    ['{photoBytesMax MB} for each of {uploadsOfAllMax} uploads', 'store/photos/image-types.ts', 'store/photos/upload-slots.ts'],
    ['uploads are 503, pictures are 503'],
    ['tries again every {pauseSeconds} s', 'store/photos/photo-processing.ts'],
    ['Node.js 20 or newer'],
    ['PostgreSQL 15 or newer with its extensions'],
    ['and Redis 7 or newer'],
    ['the second waits for the first, for {totalTimeoutMs min} minutes at most', 'platform/db/migrate.ts'],
    ['waits for a lock for {lockTimeoutMs ms}', 'platform/db/migrate.ts'],
    ['After {totalTimeoutMs min} minutes', 'platform/db/migrate.ts'],
    ['line every {waitIntervalMs s}', 'cli/migrate.ts'],
    ['in short snapshots of {petsPerRange} animals or {rowsPerRange} rows', 'store/verify/verify.ts'],
    ['the {statementTimeoutMs s} statement timeout', 'platform/db/pool.ts'],
    ['after {queryTimeoutMs s}. The message says', 'platform/db/pool.ts'],
    ['says of the last {lagDaysMax} days', 'cli/failovers.ts'],
    ['end it after {idleInTransactionMs s}', 'platform/db/pool.ts'],
    ['fails after {connectTimeoutMs ms}, and the process does not start', 'platform/db/pool.ts'],
    ["the default of {/POOL_SIZE: \\{ fallback: '(\\d+)'/} for `HOMEWARD_POOL_SIZE`", 'platform/config.ts'],
    [
      '{/EPOCH_TTL = (\\d+)/ min} minutes after a strike, {/MINUTE, DAY = \\d+, (\\d+)/ h} hours after a ban',
      'partners/rate-limit/consume.lua',
    ],
    ['| {ttlSeconds hours} |', 'partners/clients/client-epochs.ts'],
    ['| {announcedMs min} minutes after the last change |', 'store/list-cache/catalogue.ts'],
    ['| {announcedMs min} minutes |', 'store/list-cache/catalogue.ts'],
    [`did not confirm in time takes ${settledMs} ms longer`],
    [`the one on the path is ${manifest('service/package.json').engines.node.slice(2)} or newer`],
    ['asks all Sentinels before it connects, for {askTimeoutMs ms} at most', 'platform/redis/sentinels.ts'],
    // `service/test/failover/redis-failover.test.ts` has the bound.
    ['and some 1.5 s. Meanwhile'],
    ['limits are exact again some 2.5 s after the primary was killed'],
    ['it rejects writes after 2 s'],
    ['waits {redisDeadlineMs ms} at most; after {silenceMaxMs ms} without any reply', 'platform/redis/redis-link.ts'],
    ['Closing takes {closeTimeoutMs s} at most', 'cli/serve.ts'],
    [`share its ${addressQuota.perMinute} a minute`],
    ['stays open for {keepAliveTimeout s}', 'app.ts'],
    ['takes nothing for {stalledMs s}', 'platform/http/response-progress.ts'],
    ['{responseMs s} plus 1 s for each {bytesPerSecondMin kB}', 'platform/http/response-progress.ts'],
    ['more than {clientBytesMax MB} are unsent, or {processBytesMax MB} in the process', 'platform/http/response-progress.ts'],
    ['one line every {logIntervalMs s} at most', 'platform/http/response-progress.ts'],
    ['more than {pipelinedMax} of which wait', 'platform/http/response-progress.ts'],
    ['{headersTimeout s} for the headers and {requestTimeout s} for the whole request', 'app.ts'],
    ['every {expiryIntervalMs ms}, {batchSizeMax} orders in a transaction', 'cli/worker.ts'],
    ['every {publishIntervalMs ms}, {publishSizeMax} in a transaction', 'cli/worker.ts'],
    ['drops those that ended {retentionDays} days ago', 'changes/events/events.ts'],
    // Measured.
    ['with 2 million deliveries, of which 20 thousand were queued, copying took 15 s and moving 5 s on two busy cores'],
    ['the attempts of the last {retentionDays} days', 'changes/webhooks/deliveries.ts'],
    ['| sends webhooks | every {idleIntervalMs ms} |', 'changes/delivery/deliverer.ts'],
    ['Up to {queuedMax} spans wait to be exported, every {exportIntervalMs s}', 'platform/tracing/open-tracing.ts'],
    ['every {endedKeysIntervalMs s}', 'cli/worker.ts'],
    ['every minute, {batchSizeMax} orders in a transaction', 'cli/worker.ts'],
    ['older than {retentionDays} days', 'changes/webhooks/deliveries.ts'],
    ['every minute, {sweepSizeMax} in a statement', 'cli/worker.ts'],
    ["older than {/interval '(\\d+) hours'/} hours", 'partners/idempotency/idempotency-queries.ts'],
    ['exits, within {delay s}', 'cli/worker.ts'],
    ["The default is {/ORDER_EXPIRY: \\{ fallback: '(\\d+)'/ plain}, two days", 'platform/config.ts'],
    ['an even part of {/client_id % (\\d+)/} shards', '../migrations/0006_feed_readers.sql'],
    ['a lease of {leaseSeconds} s', 'changes/delivery/shard-lease.ts'],
    ['when its lease expires, {leaseSeconds} s later', 'changes/delivery/shard-lease.ts'],
    ['waits up to {endingMs s} for requests in flight', 'changes/delivery/dispatcher.ts'],
    ['one event at least every {probeIntervalMs min} minutes', 'changes/delivery/endpoint.ts'],
    ['over about {/over about (\\d+) hours/} hours', 'changes/delivery/retry-schedule.ts'],
    ['More than {heldMax} events wait', 'changes/delivery/due-rows.ts'],
    ['waited for more than {behindDaysMax} days', 'changes/delivery/page-reader.ts'],
    ['not 2xx, for {retentionDays} days', 'changes/webhooks/deliveries.ts'],
    ['retains {retentionDays} days of them', 'changes/events/events.ts'],
    ['with {heartbeatMs s} between bytes at most', 'platform/http/event-stream.ts'],
    ["cancelled or expired {/ADOPTER_RETENTION: \\{ fallback: '(\\d+)'/} days ago", 'platform/config.ts'],
    [
      'every {factsIntervalMs s}, with statements that count up to {countMax} rows each',
      'cli/worker.ts',
      'operations/telemetry/store-facts-queries.ts',
    ],
    // Counted.
    ['some 200 series when it starts'],
    ['errors with status 5xx of every operation'],
    ['Counters start at 0'],
    ['at most {askedPerSecondMax} times a second in each process', 'platform/tracing/tracing.ts'],
    ['A trace has {spansOfRequestMax} spans below a request at most', 'platform/tracing/tracing.ts'],
    ['exported within {flushTimeoutMs s}', 'platform/tracing/open-tracing.ts'],
    ['truncated at {/slice\\(0, (\\d+)\\)/} characters', 'platform/http/request-log.ts'],
    [`after ${settledMs} ms, or after up to {totalTimeoutMs s} if Redis does not reply`, 'partners/clients/client-epochs.ts'],
    // Of a release that no longer changes.
    ['Only processes of release 1.0.0 that still run beside newer ones may take 10 s if Redis did not reply'],
    [
      `register ${byPlan('newCategoriesPerDay').slice(0, -1).join(', ')} or ${byPlan('newCategoriesPerDay').at(-1)} per UTC day by plan; an Enterprise client ${enterprise.newCategoriesPerDay.toLocaleString('en')}`,
    ],
    ['It lists {limitMax} keys at once', 'cli/list-command.ts'],
    ["You can't go back to 1.0.0: its workers send nothing from a migrated database"],
    // release-table.test.ts compares these with the migrations.
    ['| 1.0.0 | | |'],
    ['| 1.1.0 | 1.0.0 | no: `0008_queued_deliveries`, workers of 1.0.0 send no webhooks from it |'],
    ['one step back always works from 1.1.0 on'],
    ['drops those that ended {retentionDays} days ago', 'partners/usage/usage.ts'],
    ['by key and minute, for {retentionDays} days', 'partners/usage/usage.ts'],
    ['about every {intervalMs s}, and on SIGTERM', 'partners/usage/usage-writer.ts'],
    ['keeps {talliesMax} counts', 'partners/usage/usage-tally.ts'],
    ['tries for {closeTimeoutMs s} more', 'partners/usage/usage-writer.ts'],
    ['up to {batchRowsMax} rows', 'partners/usage/usage-writer.ts'],
    // Of the interval between two writes.
    ['More than 25 processes'],
    // Measured, for the retention period.
    ['for {retentionDays} days takes some 580 kB', 'partners/usage/usage.ts'],
    [
      'for {waitSecondsMin} s or longer, and tables that are locked, by a transaction of {holdSecondsMin} s or longer',
      'operations/doctor/postgres-activity.ts',
    ],
    ['a replication slot of 30 minutes or {snapshotTransactionsMax} transactions', 'operations/doctor/postgres-activity.ts'],
    ['standbys that are {lagSecondsMax} s or 1 GiB behind', 'operations/doctor/postgres-activity.ts'],
    ['connections; {pings} pings; room', 'operations/doctor/redis-checks.ts'],
    ['those of PostgreSQL and Redis, to {offMaxMs s}', 'operations/doctor/clock-check.ts'],
    ['published for {feedLateSecondsMax} s or longer; endpoints that have been failing for 10 minutes', 'operations/doctor/work-checks.ts'],
    ['disabled in the last {disabledDaysMax} days', 'operations/doctor/work-checks.ts'],
    ['the {daysMin} days before it expires', 'operations/doctor/url-check.ts'],
    ['updated every {intervalMs s}, until Ctrl-C', 'cli/doctor.ts'],
    ['whatever does not reply in {timeoutMs s} is reported', 'operations/doctor/postgres-checks.ts'],
    ['adds the last {linesMax} warnings and errors', 'operations/doctor/log-tail.ts'],
    ['works {pruneBatchSize} at a time', 'store/categories/categories.ts'],
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
  /^\s*\d+\. /gm,
  /^\| \d+\.? /gm,
  /\b(ADR|RFC|ISO) \d+/g,
  /\bint64\b|HTTP\/1\.1|IPv[46]|SHA-256|https?:\/\/[\d.:]+|127\.0\.0\.1/g,
  /Exit statuses: 0 success, 1 failure, 2 |is wrong, 3 only warnings|exit status is then 1|exits with 1/g,
  /\b(status(es)?|[Ss]teps?|port|client|key|keys|animal|order|mode) \d+( to \d+)?/g,
  // HTTP statuses.
  /\b(200|201|204|304|400|401|403|404|405|408|409|410|412|413|415|422|429|431|500|503)\b(?! (ms|s|kB|bytes|characters|in)\b)/g,
  // Levels of the log, prefixes of networks, and PgBouncer's own settings.
  /30 info, 40 warning, 50 error, 60 fatal|since 1970|by \/24|by \/48|one from 1024 on|1\.18, of Debian 12|before PgBouncer 1\.21|default of 100 connections/g,
  // Estimates that operators plan with.
  /some \d+ (bytes|GB)|wait for a response for 5 s or more|the lock for 500 ms/g,
  // The table of plans, which another test compares.
  /^\| (Free|Pro|Business|Enterprise) \|.*$/gm,
];

describe.each(Object.entries(sentences))('%s', (file, phrases) => {
  const text = read(file).split('\n## Bounds\n', 1)[0] ?? '';

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
