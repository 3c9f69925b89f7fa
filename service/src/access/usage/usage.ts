import { randomUUID } from 'node:crypto';
import { theService } from '../../domain/actor.ts';
import type { Db, ServiceDb, Transactor } from '../../platform/db/handles.ts';
import { AppError, errorCodes, show } from '../../platform/errors.ts';
import {
  addUsage,
  type ClientUsage,
  type DeprecatedCalls,
  deleteOldWriters,
  dropUsagePartitions,
  isKeyOf,
  makeUsagePartitions,
  selectHours,
  sumByClient,
  sumDeprecated,
  sumUsage,
  type UsageHour,
  type UsageInterval,
  type UsageSum,
} from './usage-queries.ts';
import { type UsageLog, type UsageTally, UsageWriter } from './usage-tally.ts';

export type { ClientUsage, DeprecatedCalls, UsageHour };

/** Keys in a response: the busiest ones. */
export const keysMax = 100;

export const retentionDays = 30;
/** A day of minutes. */
export const intervalsMax = 1_440;
/** Of all keys, so many hours are read by one statement. */
const hoursAtOnce = 4;

const intervalsMs: Record<UsageInterval, number> = { minute: 60_000, hour: 3_600_000, day: 86_400_000 };
/** How many intervals are read by default. */
const intervalsDefault: Record<UsageInterval, number> = { minute: 60, hour: 24, day: retentionDays };

/** Writes what this process counts. */
export function createUsageWriter(db: ServiceDb, tally: UsageTally, log: UsageLog): UsageWriter {
  const processId = randomUUID();
  return new UsageWriter({
    tally,
    log,
    // A transaction has its own connection: other statements don't wait behind a large batch.
    add: (batch, { minuteAt, rows }) => db.transaction((tx) => addUsage(tx, { processId, batch }, minuteAt, rows), theService),
    makePartitions: () => db.transaction((tx) => makeUsagePartitions(tx), theService),
  });
}

/** The requests of a period, those with an error by code, and those to a deprecated operation by operation. */
interface UsageCounts {
  requests: number;
  readonly errors: Array<{ readonly code: string; readonly count: number }>;
  readonly deprecated: Array<{ readonly operation: string; readonly count: number }>;
}

export interface Usage {
  readonly from: Date;
  readonly to: Date;
  readonly interval: UsageInterval;
  readonly total: UsageCounts;
  /** Those that were used, the busiest first. */
  readonly keys: ReadonlyArray<UsageCounts & { readonly keyId: bigint }>;
  /** Those with a request, the oldest first. */
  readonly intervals: ReadonlyArray<UsageCounts & { readonly start: Date }>;
}

export interface UsageQuery {
  readonly from?: string;
  readonly to?: string;
  readonly interval?: UsageInterval;
  readonly keyId?: bigint;
}

/** The usage of a client, or of one of its keys. */
export async function readUsage(db: Transactor, clientId: bigint, { keyId, ...query }: UsageQuery, nowMs: number): Promise<Usage> {
  const period = periodOf(query, nowMs);
  // On a connection of its own and in the client's turn: it may read thousands of rows, and nothing else must wait behind it.
  const sums = await db.transaction((tx) => sumUsage(tx, { clientId, keyId, ...period }), { clientId, authority: null });
  if (sums.length === 0 && keyId !== undefined && !(await isKeyOf(db, keyId, clientId))) {
    throw new AppError(
      'invalid_query',
      `keyId must be one of your keys; got ${show(keyId)}. Without keyId, the response lists those in use.`,
    );
  }
  const ofIntervals = sums.flatMap((sum) => (sum.start ? [{ ...sum, start: sum.start }] : []));
  const ofKeys = sums.flatMap((sum) => (sum.keyId === null ? [] : [{ ...sum, keyId: sum.keyId }]));
  const keys = [...Map.groupBy(ofKeys, (sum) => sum.keyId)].map(([id, parts]) => ({ keyId: id, ...countsOf(parts) }));
  return {
    ...period,
    total: countsOf(ofKeys),
    keys: keys.sort((a, b) => b.requests - a.requests).slice(0, keysMax),
    intervals: [...Map.groupBy(ofIntervals, ({ start }) => start.getTime())].map(([ms, parts]) => ({
      start: new Date(ms),
      ...countsOf(parts),
    })),
  };
}

/** Whole intervals that contain `from` and the time before `to`. */
function periodOf({ from: fromText, to: toText, interval = 'hour' }: Omit<UsageQuery, 'keyId'>, nowMs: number) {
  const lengthMs = intervalsMs[interval];
  const oldestMs = floorTo(nowMs - retentionDays * intervalsMs.day, intervalsMs.day);
  const toMs = Math.ceil((readTime('to', toText) ?? nowMs) / lengthMs) * lengthMs;
  const fromMs = floorTo(readTime('from', fromText) ?? Math.max(toMs - intervalsDefault[interval] * lengthMs, oldestMs), lengthMs);
  const [from, to] = [new Date(fromMs), new Date(toMs)];
  if (fromMs >= toMs) throw invalid(`from must be before to; got ${from.toISOString()} and ${to.toISOString()}.`);
  if (fromMs < oldestMs) {
    throw invalid(
      `from must be ${new Date(oldestMs).toISOString()} or later, since usage is kept for ${retentionDays} days; got ${show(fromText ?? from.toISOString())}.`,
    );
  }
  const count = (toMs - fromMs) / lengthMs;
  if (count > intervalsMax) {
    throw invalid(
      `from and to must be at most ${intervalsMax} intervals apart; got ${count} of a ${interval}. Shorten the period, or use interval=hour.`,
    );
  }
  return { from, to, interval };
}

const floorTo = (ms: number, lengthMs: number) => Math.floor(ms / lengthMs) * lengthMs;

const invalid = (message: string) => new AppError('invalid_query', message);

function readTime(name: string, text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const ms = /^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:\d\d)$/.test(text) ? Date.parse(text) : Number.NaN;
  if (Number.isNaN(ms)) throw invalid(`${name} must be a time such as 2026-11-15T10:00:00Z; got ${show(text)}.`);
  return ms;
}

function countsOf(sums: ReadonlyArray<Pick<UsageSum, 'kind' | 'name' | 'count'>>): UsageCounts {
  const byName = (kind: UsageSum['kind']) => {
    const counts = new Map<string, number>();
    for (const sum of sums) if (sum.kind === kind) counts.set(sum.name, (counts.get(sum.name) ?? 0) + Number(sum.count));
    return [...counts].sort(([, a], [, b]) => b - a);
  };
  return {
    requests: byName('request').reduce((total, [, count]) => total + count, 0),
    errors: byName('error').map(([code, count]) => ({ code, count })),
    deprecated: byName('deprecated').map(([operation, count]) => ({ operation, count })),
  };
}

/** The codes of errors for too many requests. */
export const limitCodes: readonly string[] = Object.entries(errorCodes).flatMap(([code, { status }]) => (status === 429 ? [code] : []));

/** What each client did since a minute, the busiest first. */
export async function readBusiest(db: Db, sinceMs: number, nowMs: number): Promise<ClientUsage[]> {
  const byClient = new Map<bigint, ClientUsage>();
  for (const { from, to } of chunksOf(sinceMs, nowMs)) {
    for (const { clientId, requests, errors, limited, deprecated } of await sumByClient(db, from, to, limitCodes)) {
      const before = byClient.get(clientId) ?? { requests: 0n, errors: 0n, limited: 0n, deprecated: 0n };
      byClient.set(clientId, {
        clientId,
        requests: before.requests + requests,
        errors: before.errors + errors,
        limited: before.limited + limited,
        deprecated: before.deprecated + deprecated,
      });
    }
  }
  return [...byClient.values()].filter(({ requests }) => requests > 0n).sort((a, b) => Number(b.requests - a.requests));
}

/** The hours of a client's keys since a time; the first one as a whole. */
export async function readHours(db: Db, clientId: bigint, sinceMs: number, nowMs: number): Promise<UsageHour[]> {
  const hours: UsageHour[] = [];
  const firstMs = floorTo(sinceMs, intervalsMs.hour);
  for (const { from, to } of chunksOf(firstMs, nowMs, 24)) hours.push(...(await selectHours(db, clientId, from, to)));
  return hours;
}

/** Who has called deprecated operations within the retention period. */
export async function readDeprecatedCalls(db: Db, nowMs: number): Promise<DeprecatedCalls[]> {
  const all = new Map<string, DeprecatedCalls>();
  const oldestMs = floorTo(nowMs - retentionDays * intervalsMs.day, intervalsMs.hour);
  for (const { from, to } of chunksOf(oldestMs, nowMs)) {
    for (const one of await sumDeprecated(db, from, to)) {
      const id = `${one.keyId} ${one.operation}`;
      // The chunks are in order, so the last call is in the last one.
      all.set(id, { ...one, calls: one.calls + (all.get(id)?.calls ?? 0n) });
    }
  }
  return [...all.values()];
}

/** From a minute up to the end of the present hour, in parts that end with an hour: no statement reads more than it can in its time. */
function* chunksOf(fromMs: number, nowMs: number, hours = hoursAtOnce): Generator<{ from: Date; to: Date }> {
  const lengthMs = hours * intervalsMs.hour;
  // The clocks of processes may be a little ahead.
  const endMs = floorTo(nowMs, intervalsMs.hour) + 2 * intervalsMs.hour;
  for (let ms = fromMs; ms < endMs; ms = floorTo(ms, intervalsMs.hour) + lengthMs) {
    yield { from: new Date(ms), to: new Date(Math.min(floorTo(ms, intervalsMs.hour) + lengthMs, endMs)) };
  }
}

/** Creates the partitions of the coming days, and drops old ones. Returns how many it dropped. */
export async function rotateUsagePartitions(db: ServiceDb): Promise<number> {
  await makeUsagePartitions(db);
  await deleteOldWriters(db);
  return db.transaction((tx) => dropUsagePartitions(tx, retentionDays), theService);
}
