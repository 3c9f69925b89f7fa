import type { Command } from 'commander';
import { openDependencies } from '../dependencies.ts';
import type { Client } from '../partners/clients/client-queries.ts';
import { boundsOf, quotaOf } from '../partners/rate-limit/plans.ts';
import { readBusiest, readHours, retentionDays } from '../partners/usage/usage.ts';
import type { ReadConfig } from '../platform/config.ts';
import type { Db } from '../platform/db/handles.ts';
import { readPhotoStorage } from '../store/photos/upload-allowance.ts';
import { chart, sparkline } from './chart.ts';
import { clientNamesOf, getClientByName } from './clients-by-name.ts';
import { named } from './names.ts';
import { parseDuration } from './option-values.ts';
import { printDrawing, printJson, printLines, printTable, timeText, UsageError } from './output.ts';
import { cut } from './table.ts';
import { minutesOfColumn, type Peak, type Period, summarize, type UsageSummary } from './usage-summary.ts';

const clientsMax = 20;
const keysMax = 50;
const chartColumnsMax = 96;
const chartHeight = 6;
const sparklineColumns = 16;
const minuteMs = 60_000;

interface UsageOptions {
  readonly since?: string;
  readonly json?: boolean;
}

export function addUsageCommand(program: Command, config: ReadConfig): void {
  program
    .command('usage')
    .description('show how many requests a client and its keys have sent, or which clients are the busiest')
    .argument('[client]', 'the name of the client; without it, the busiest clients')
    .option('--since <duration>', `how far back: 1h, 24h, up to ${retentionDays}d (default: 24h for a client, 1h for the busiest)`)
    .option('--json', 'print JSON: one object for a client, an array for the busiest')
    .action(async (name: string | undefined, options: UsageOptions) => {
      const duration = options.since ?? (name === undefined ? '1h' : '24h');
      const nowMs = Date.now();
      const sinceMs = sinceOf(duration, nowMs);
      await using dependencies = await openDependencies(config());
      const { db } = dependencies;
      // Awaited: at the end of this function the connections are closed.
      if (name === undefined) await showBusiest(db, { sinceMs, nowMs, duration }, options);
      else await showClient(db, await getClientByName(db, name), { sinceMs, nowMs, duration }, options);
    });
}

interface Since {
  readonly sinceMs: number;
  readonly nowMs: number;
  /** As it was given. */
  readonly duration: string;
}

/** The start of a minute. */
function sinceOf(duration: string, nowMs: number): number {
  const seconds = parseDuration(duration);
  if (seconds < 60 || seconds > retentionDays * 86_400)
    throw new UsageError(`--since must be from 1m to ${retentionDays}d, since usage is kept for ${retentionDays} days; got "${duration}".`);
  return (Math.floor(nowMs / minuteMs) + 1) * minuteMs - seconds * 1_000;
}

async function showBusiest(db: Db, { sinceMs, nowMs, duration }: Since, { json }: UsageOptions): Promise<void> {
  const all = await readBusiest(db, sinceMs, nowMs);
  const shown = all.slice(0, clientsMax);
  const names = await clientNamesOf(db, shown);
  if (json) return printJson(shown.map(({ clientId, ...counts }) => ({ clientId, client: names.get(clientId), ...counts })));
  printTable(
    shown.map(({ clientId, requests, errors, limited, deprecated }) => ({
      client: named(names.get(clientId), clientId),
      requests,
      errors,
      'got 429': share(Number(limited), Number(requests)),
      deprecated,
    })),
    `No client has sent a request in the last ${duration}.`,
    { leastImportant: ['deprecated', 'errors'] },
  );
  if (all.length > shown.length) printLines('', `${all.length - shown.length} other clients have sent requests in the last ${duration}.`);
}

async function showClient(db: Db, client: Client, { sinceMs, nowMs, duration }: Since, { json }: UsageOptions): Promise<void> {
  const hours = await readHours(db, client.id, sinceMs, nowMs);
  const { perMinute, perDay } = quotaOf(client);
  const photoStorage = await readPhotoStorage(db, client.id, boundsOf(client));
  const summaryOf = (of: typeof hours, columnsMax: number) => summarize(of, { sinceMs, nowMs, columnsMax });
  const keys = [...Map.groupBy(hours, ({ keyId }) => keyId)]
    .map(([keyId, ofKey]) => ({ keyId, ...summaryOf(ofKey, sparklineColumns) }))
    .filter(({ requests }) => requests > 0)
    .sort((a, b) => b.requests - a.requests);
  if (json)
    return printJson(
      jsonOf(
        { ...client, photoStorage },
        { perMinute, perDay },
        { sinceMs, nowMs, columnsMax: chartColumnsMax },
        summaryOf(hours, chartColumnsMax),
        keys,
      ),
    );
  const total = summaryOf(hours, sparklineColumns);
  printLines(`${named(client.name, client.id)}, ${client.plan}: ${grouped(perMinute)} requests a minute, ${grouped(perDay ?? 0)} a day`);
  if (photoStorage.usedBytes > 0)
    printLines(`Its photos take ${megabytes(photoStorage.usedBytes)} of ${megabytes(photoStorage.limitBytes)} MB.`);
  if (!total.peak) return printLines(`It has sent no request in the last ${duration}.`);
  printLines(
    `${plural(total.requests, 'request')} in the last ${duration}; ${share(total.limited, total.requests)} of them got a 429.`,
    `The busiest minute was ${timeText(total.peak.at)}, with ${grouped(total.peak.requests)} (${share(total.peak.requests, perMinute)} of the limit).`,
    '',
  );
  printDrawing((screen) => {
    const gutter = grouped(Math.max(perMinute, total.peak?.requests ?? 0)).length + 1;
    const columnsMax = Math.max(Math.min(screen.widthMax - gutter - ' limit'.length, chartColumnsMax), 10);
    const { columns } = summaryOf(hours, columnsMax);
    const length = minutesOfColumn({ sinceMs, nowMs, columnsMax });
    const ends = [`${duration} ago`, 'now'] as const;
    return [
      screen.paint('dim', cut(`requests a minute${length === 1 ? '' : `, the busiest of each ${length} min`}`, screen.widthMax)),
      ...chart(columns, { limit: perMinute, height: chartHeight, ends }, screen),
      '',
    ];
  });
  printTable(
    keys.slice(0, keysMax).map(({ keyId, requests, limited, peak, columns }) => ({
      key: keyId,
      requests,
      'got 429': share(limited, requests),
      busiest: peak?.requests ?? 0,
      at: peak?.at,
      [`last ${duration}`]: sparkline(columns),
    })),
    '',
    { leastImportant: ['at', 'got 429'] },
  );
  if (keys.length > keysMax) printLines(`${keys.length - keysMax} other keys have sent requests too: see --json.`);
  if (total.errors.length > 0) {
    printLines('');
    printTable(
      total.errors.map(([code, count]) => ({ error: code, requests: count, share: share(count, total.requests) })),
      '',
    );
  }
  if (total.deprecated.length > 0) {
    printLines('');
    printTable(
      total.deprecated.map(([operation, count]) => ({ deprecated: operation, requests: count })),
      '',
    );
  }
}

function jsonOf(
  { id, name, plan, photoStorage }: Client & { readonly photoStorage: object },
  limits: { perMinute: number; perDay: number | undefined },
  period: Period,
  total: UsageSummary,
  keys: ReadonlyArray<UsageSummary & { readonly keyId: bigint }>,
): object {
  const minutes = minutesOfColumn(period);
  return {
    clientId: id,
    client: name,
    plan,
    since: new Date(period.sinceMs),
    limits,
    photoStorage,
    ...countsOf(total),
    columnMinutes: minutes,
    busiestMinutes: total.columns,
    keys: keys.map((key) => ({ keyId: key.keyId, ...countsOf(key) })),
  };
}

const countsOf = ({ requests, limited, peak, errors, deprecated }: UsageSummary) => ({
  requests,
  limited,
  peak: peak as Peak | null,
  errors: errors.map(([code, count]) => ({ code, count })),
  deprecated: deprecated.map(([operation, count]) => ({ operation, count })),
});

const grouped = (count: number) => count.toLocaleString('en');
const megabytes = (bytes: number) => grouped(Math.ceil(bytes / 1e6));
const plural = (count: number, what: string) => `${grouped(count)} ${what}${count === 1 ? '' : 's'}`;

/** `0.3%`; a share that is not 0 is never shown as 0. */
function share(part: number, whole: number): string {
  const percent = whole === 0 ? 0 : (part / whole) * 100;
  if (percent > 0 && percent < 0.1) return '<0.1%';
  return `${percent >= 10 ? Math.round(percent) : Math.round(percent * 10) / 10}%`;
}
