import type { Command } from 'commander';
import type { Client } from '../../access/clients/client-queries.ts';
import { boundsOf, quotaOf } from '../../access/rate-limit/plans.ts';
import { readBusiest, readDeprecatedCalls, readHours, retentionDays } from '../../access/usage/usage.ts';
import { readPhotoStorage } from '../../animals/photos/upload-allowance.ts';
import type { Dependencies } from '../../dependencies.ts';
import { deprecationOf } from '../../domain/deprecations.ts';
import { counted } from '../../operations/doctor/finding.ts';
import type { ReadConfig } from '../../platform/config.ts';
import type { Db } from '../../platform/db/handles.ts';
import { named, printDrawing, printLines, printTable, timeText, UsageError } from '../terminal/output.ts';
import { type CommandResult, onStore, parseDuration, printsArray } from '../terminal/store-command.ts';
import { cut } from '../terminal/table.ts';
import { clientNamesOf, getClientByName } from './clients.ts';
import { chart, minutesOfColumn, sparkline, summarize, type UsageSummary } from './usage-chart.ts';

const clientsMax = 20;
const keysMax = 50;
const chartColumnsMax = 96;
const chartHeight = 6;
const sparklineColumns = 16;
const minuteMs = 60_000;

export function addUsageCommand(program: Command, config: ReadConfig): void {
  const usage = program
    .command('usage')
    .description('show how many requests a client and its keys have sent, or which clients are the busiest')
    .argument('[client]', 'the name of the client; without it, the busiest clients')
    .option('--since <duration>', `how far back: 1h, 24h, up to ${retentionDays}d (default: 24h for a client, 1h for the busiest)`);
  const read = (name: string | undefined, { since: duration = name === undefined ? '1h' : '24h' }: { since?: string }) => {
    const nowMs = Date.now();
    const since = { sinceMs: sinceOf(duration, nowMs), nowMs, duration };
    return async ({ db }: Dependencies) =>
      name === undefined ? describeBusiest(db, since) : describeClient(db, await getClientByName(db, name), since);
  };
  onStore(usage, config, read, 'print JSON: one object for a client, an array for the busiest');
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

async function describeBusiest(db: Db, { sinceMs, nowMs, duration }: Since): Promise<CommandResult> {
  const all = await readBusiest(db, sinceMs, nowMs);
  const shown = all.slice(0, clientsMax);
  const names = await clientNamesOf(db, shown);
  const json = shown.map(({ clientId, ...counts }) => ({ clientId, client: names.get(clientId), ...counts }));
  const text = () => {
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
  };
  return { json, text };
}

async function describeClient(db: Db, client: Client, { sinceMs, nowMs, duration }: Since): Promise<CommandResult> {
  const hours = await readHours(db, client.id, sinceMs, nowMs);
  const { perMinute, perDay } = quotaOf(client);
  const photoStorage = await readPhotoStorage(db, client.id, boundsOf(client));
  const summaryOf = (of: typeof hours, columnsMax: number) => summarize(of, { sinceMs, nowMs, columnsMax });
  const keys = [...Map.groupBy(hours, ({ keyId }) => keyId)]
    .map(([keyId, ofKey]) => ({ keyId, ...summaryOf(ofKey, sparklineColumns) }))
    .filter(({ requests }) => requests > 0)
    .sort((a, b) => b.requests - a.requests);
  const period = { sinceMs, nowMs, columnsMax: chartColumnsMax };
  const total = summarize(hours, period);
  const json = {
    clientId: client.id,
    client: client.name,
    plan: client.plan,
    since: new Date(sinceMs),
    limits: { perMinute, perDay },
    photoStorage,
    ...countsOf(total),
    columnMinutes: minutesOfColumn(period),
    busiestMinutes: total.columns,
    keys: keys.map((key) => ({ keyId: key.keyId, ...countsOf(key) })),
  };
  const text = () => {
    printLines(`${named(client.name, client.id)}, ${client.plan}: ${grouped(perMinute)} requests a minute, ${grouped(perDay ?? 0)} a day`);
    if (photoStorage.usedBytes > 0)
      printLines(`Its photos take ${megabytes(photoStorage.usedBytes)} of ${megabytes(photoStorage.limitBytes)} MB.`);
    if (!total.peak) return printLines(`It has sent no request in the last ${duration}.`);
    printLines(
      `${counted(total.requests, 'request')} in the last ${duration}; ${share(total.limited, total.requests)} of them got a 429.`,
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
  };
  return { json, text };
}

const countsOf = ({ requests, limited, peak, errors, deprecated }: UsageSummary) => ({
  requests,
  limited,
  peak,
  errors: errors.map(([code, count]) => ({ code, count })),
  deprecated: deprecated.map(([operation, count]) => ({ operation, count })),
});

const grouped = (count: number) => count.toLocaleString('en');
const megabytes = (bytes: number) => grouped(Math.ceil(bytes / 1e6));

/** `0.3%`; a share that is not 0 is never shown as 0. */
function share(part: number, whole: number): string {
  const percent = whole === 0 ? 0 : (part / whole) * 100;
  if (percent > 0 && percent < 0.1) return '<0.1%';
  return `${percent >= 10 ? Math.round(percent) : Math.round(percent * 10) / 10}%`;
}

export function addDeprecationsCommand(program: Command, config: ReadConfig): void {
  const command = program
    .command('deprecations')
    .description('list who still calls operations that will be removed, and when they last did; the most urgent first');
  onStore(command, config, () => listCalls, printsArray);
}

async function listCalls({ db }: Dependencies): Promise<CommandResult> {
  const calls = await readDeprecatedCalls(db, Date.now());
  const names = await clientNamesOf(db, calls);
  const rows = calls
    .map((one) => ({ ...one, client: names.get(one.clientId), sunset: deprecationOf(one.operation)?.sunset ?? null }))
    .sort((a, b) => timeOf(a.sunset) - timeOf(b.sunset) || b.lastAt.getTime() - a.lastAt.getTime());
  const shown = rows.map(({ client, clientId, keyId, operation, calls: count, lastAt, sunset }) => ({
    client: named(client, clientId),
    key: keyId,
    operation,
    calls: count,
    'last call': lastAt,
    removed: sunset?.toISOString().slice(0, 10),
  }));
  const ifNone = `Nobody has called a deprecated operation in the last ${retentionDays} days.`;
  return { json: rows, text: () => printTable(shown, ifNone, { leastImportant: ['key'] }) };
}

/** An operation of another release, whose date this one doesn't know, comes last. */
const timeOf = (sunset: Date | null) => sunset?.getTime() ?? Number.MAX_SAFE_INTEGER;
