// How well a store could be used during a history.
import type { Attempt, History } from '../history.ts';

export interface Availability {
  readonly writes: Use;
  readonly reads: Use;
}

export interface Use {
  /** Requests, not operations: a retry is one more. */
  readonly requests: number;
  readonly succeeded: number;
  /** The longest time without a request that succeeded, and when it began. */
  readonly longestGapMs: number;
  readonly gapBeganAtMs: number;
  /** Of requests that did not succeed: "503 unavailable", "0 ECONNREFUSED". */
  readonly failures: Readonly<Record<string, number>>;
}

/** Of the requests that began in the interval, which is that of the load unless told: a 404 of a read and a rejected If-Match are successes, since the store has replied. */
export function measureAvailability(
  { operations, load }: History,
  fromMs = load?.beginMs ?? -Infinity,
  toMs = load?.endMs ?? Infinity,
): Availability {
  const isWithin = ({ beginMs }: Attempt) => beginMs >= fromMs && beginMs <= toMs;
  const attemptsOf = (isRead: boolean) =>
    operations.flatMap(({ kind, attempts }) => ((kind === 'read' || kind === 'list') === isRead ? attempts.filter(isWithin) : []));
  return { writes: useOf(attemptsOf(false)), reads: useOf(attemptsOf(true)) };
}

function useOf(attempts: readonly Attempt[]): Use {
  const begins = attempts.map(({ beginMs }) => beginMs).sort((a, b) => a - b);
  const succeeded = attempts.filter(isSuccess);
  const instants = succeeded.map(({ endMs }) => endMs).sort((a, b) => a - b);
  let [longestGapMs, gapBeganAtMs] = [0, begins[0] ?? 0];
  let last = begins[0] ?? 0;
  // The requests that were sent last count too, if nothing succeeded after them.
  for (const atMs of [...instants, Math.max(begins.at(-1) ?? 0, instants.at(-1) ?? 0)]) {
    if (atMs - last > longestGapMs) [longestGapMs, gapBeganAtMs] = [atMs - last, last];
    last = atMs;
  }
  const failures: Record<string, number> = {};
  for (const attempt of attempts) {
    if (isSuccess(attempt)) continue;
    const name = `${attempt.status} ${attempt.code ?? ''}`.trim();
    failures[name] = (failures[name] ?? 0) + 1;
  }
  return { requests: attempts.length, succeeded: succeeded.length, longestGapMs, gapBeganAtMs, failures };
}

const isSuccess = ({ status, code }: Attempt) => status >= 200 && status < 500 && status !== 429 && code !== 'idempotency_in_progress';
