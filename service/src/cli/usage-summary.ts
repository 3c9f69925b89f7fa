import { limitCodes, type UsageHour } from '../partners/usage/usage.ts';

export interface Peak {
  readonly requests: number;
  /** The minute. */
  readonly at: Date;
}

/** What a client or a key did in a period. */
export interface UsageSummary {
  readonly requests: number;
  /** Responses with 429. */
  readonly limited: number;
  /** Null: there were no requests. */
  readonly peak: Peak | null;
  /** The busiest minute of each column. */
  readonly columns: readonly number[];
  /** By code, the most frequent first. */
  readonly errors: ReadonlyArray<readonly [code: string, count: number]>;
  /** By operation, the most frequent first. */
  readonly deprecated: ReadonlyArray<readonly [operation: string, count: number]>;
}

export interface Period {
  readonly sinceMs: number;
  readonly nowMs: number;
  readonly columnsMax: number;
}

const minuteMs = 60_000;

/** How many minutes a column stands for, so that all fit. */
export function minutesOfColumn({ sinceMs, nowMs, columnsMax }: Period): number {
  return Math.max(Math.ceil(minutesIn(sinceMs, nowMs) / columnsMax), 1);
}

/** Sums up hours of one or more keys. Requests of several keys in one minute are added, since they share a limit. */
export function summarize(hours: readonly UsageHour[], period: Period): UsageSummary {
  const { sinceMs, nowMs } = period;
  const minutes = Array.from({ length: minutesIn(sinceMs, nowMs) }, () => 0);
  const errors = new Map<string, number>();
  const deprecated = new Map<string, number>();
  for (const { hour, kind, name, counts } of hours) {
    for (const [i, count] of counts.entries()) {
      const minute = Math.floor((hour.getTime() + i * minuteMs - sinceMs) / minuteMs);
      if (count === 0 || minute < 0 || minute >= minutes.length) continue;
      if (kind === 'request') minutes[minute] = (minutes[minute] ?? 0) + count;
      else add(kind === 'error' ? errors : deprecated, name, count);
    }
  }
  const busiest = Math.max(...minutes, 0);
  return {
    requests: minutes.reduce((sum, one) => sum + one, 0),
    limited: limitCodes.reduce((sum, code) => sum + (errors.get(code) ?? 0), 0),
    peak: busiest === 0 ? null : { requests: busiest, at: new Date(sinceMs + minutes.indexOf(busiest) * minuteMs) },
    columns: columnsOf(minutes, minutesOfColumn(period)),
    errors: mostFirst(errors),
    deprecated: mostFirst(deprecated),
  };
}

const minutesIn = (sinceMs: number, nowMs: number) => Math.floor((nowMs - sinceMs) / minuteMs) + 1;

const columnsOf = (minutes: readonly number[], size: number) =>
  Array.from({ length: Math.ceil(minutes.length / size) }, (_, i) => Math.max(...minutes.slice(i * size, (i + 1) * size)));

function add(counts: Map<string, number>, name: string, count: number): void {
  counts.set(name, (counts.get(name) ?? 0) + count);
}

const mostFirst = (counts: ReadonlyMap<string, number>) => [...counts].sort(([, a], [, b]) => b - a);
