import type { FastifyInstance } from 'fastify';
import type { DecisionTally } from '../../access/rate-limit/limiter.ts';
import type { CacheState } from '../../domain/caches.ts';
import { type ErrorCode, errorCodes } from '../../platform/errors.ts';
import type { FinishedRequest } from '../../platform/http/finished-requests.ts';
import type { MetricRegistry, Value } from './metric-registry.ts';
import { Histogram } from './metric-table.ts';

interface Operation {
  readonly method: string;
  readonly route: string;
  /** By error code, or by status if there was no error. */
  readonly counts: Map<ErrorCode | number, { status: number; count: number }>;
  /** Undefined: no request yet. */
  durations: Histogram | undefined;
}

const methods = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']);
/** For the other methods, of which Node.js knows some thirty: each would be a series for each route. */
const otherMethod = 'other';
const unmatched = 'unmatched';
const unreadable = 'unreadable';

const serverErrors = (Object.keys(errorCodes) as ErrorCode[]).filter((code) => errorCodes[code].status >= 500);

/**
 * Counts requests by operation. A request costs three look-ups in maps and one search in an array.
 *
 * Every operation that is added has its successes and server errors at 0 from the start: otherwise a ratio of errors is no number
 * until the first one, and the first one is not seen by rate().
 */
export class RequestTally {
  /** By route, then by method. */
  readonly #operations = new Map<string, Map<string, Operation>>();

  constructor() {
    const { counts } = this.#operation(unreadable, otherMethod);
    for (const code of ['malformed_request', 'request_timeout', 'headers_too_large'] as const)
      countIn(counts, code, errorCodes[code].status);
  }

  addOperation(method: string, route: string, successes: readonly number[]): void {
    const { counts } = this.#operation(route, method);
    for (const status of successes) countIn(counts, status, status);
    for (const code of serverErrors) countIn(counts, code, errorCodes[code].status);
  }

  observe({ method, route = unmatched, status, code, ms, isStream }: FinishedRequest): void {
    const operation = this.#operation(route, methods.has(method) ? method : otherMethod);
    countIn(operation.counts, code ?? status, status).count += 1;
    if (isStream) return;
    operation.durations ??= new Histogram('homeward_request_duration_seconds');
    operation.durations.observe(ms / 1_000);
  }

  /** Counts a request that Node's parser has rejected. */
  observeUnreadable(code: ErrorCode): void {
    countIn(this.#operation(unreadable, otherMethod).counts, code, errorCodes[code].status).count += 1;
  }

  register(registry: MetricRegistry): void {
    registry.addValues('homeward_requests_total', () => this.#requests());
    registry.addHistograms('homeward_request_duration_seconds', () => this.#durations());
  }

  *#requests(): Iterable<Value<'homeward_requests_total'>> {
    for (const { method, route, counts } of this.#all()) {
      for (const [key, { status, count }] of counts) {
        yield { labels: { method, route, status: String(status), code: typeof key === 'string' ? key : '' }, value: count };
      }
    }
  }

  *#durations() {
    for (const { method, route, durations } of this.#all()) if (durations) yield { labels: { method, route }, histogram: durations };
  }

  *#all(): Iterable<Operation> {
    for (const byMethod of this.#operations.values()) yield* byMethod.values();
  }

  #operation(route: string, method: string): Operation {
    const known = this.#operations.get(route)?.get(method);
    if (known) return known;
    const operation: Operation = { method, route, counts: new Map(), durations: undefined };
    const byMethod = this.#operations.get(route) ?? new Map<string, Operation>();
    this.#operations.set(route, byMethod.set(method, operation));
    return operation;
  }
}

function countIn(counts: Operation['counts'], key: ErrorCode | number, status: number): { status: number; count: number } {
  const known = counts.get(key);
  if (known) return known;
  const entry = { status, count: 0 };
  counts.set(key, entry);
  return entry;
}

/** Adds each operation of the API to the tally. Call it before the routes are added. */
export function tallyRoutes(app: FastifyInstance, requests: RequestTally): void {
  app.addHook('onRoute', ({ method, url, schema }) => {
    const { hide, response } = (schema ?? {}) as { hide?: boolean; response?: Readonly<Record<string, unknown>> };
    if (hide || method === 'HEAD') return;
    const successes = Object.keys(response ?? {})
      .map(Number)
      .filter((status) => status < 400);
    for (const one of [method].flat()) requests.addOperation(one, url, successes);
  });
}

interface Parts {
  readonly requests: RequestTally;
  readonly decisions: DecisionTally;
  readonly caches: Readonly<Record<'keys' | 'pages' | 'listings', { readonly state: CacheState }>>;
  readonly changes: { readonly lookAgeMs: number | undefined };
  readonly streams: { readonly size: number };
  readonly progress: { readonly closed: Readonly<Record<string, number>>; readonly unsentBytes: number };
}

/** Metrics of `serve`. */
export function addServiceMetrics(registry: MetricRegistry, { requests, decisions, caches, changes, streams, progress }: Parts): void {
  addConsoleMetrics(registry, { requests, decisions, progress });
  registry.addValue('homeward_streams', () => streams.size);
  registry.addValue('homeward_bans_started_total', () => decisions.bansStarted);

  const states = () => Object.entries(caches).map(([cache, { state }]) => ({ cache, ...state }));
  registry.addValues('homeward_cache_lookups_total', () =>
    states().flatMap(({ cache, hits, misses }) => [
      { labels: { cache, outcome: 'hit' }, value: hits },
      { labels: { cache, outcome: 'miss' }, value: misses },
    ]),
  );
  registry.addValuesBy('homeward_cache_entries', 'cache', () => states().map(({ cache, size }) => [cache, size]));
  registry.addValuesBy('homeward_cache_bytes', 'cache', () => states().map(({ cache, bytes }) => [cache, bytes]));
  registry.addValuesBy('homeward_cache_max_bytes', 'cache', () => states().map(({ cache, bytesMax }) => [cache, bytesMax]));
  registry.addValue('homeward_change_look_age_seconds', () => changes.lookAgeMs && changes.lookAgeMs / 1_000);
}

/** Metrics of `console`, which `serve` has too. */
export function addConsoleMetrics(
  registry: MetricRegistry,
  { requests, decisions, progress }: Pick<Parts, 'requests' | 'decisions' | 'progress'>,
): void {
  requests.register(registry);
  registry.addValuesBy('homeward_slow_readers_closed_total', 'reason', () => Object.entries(progress.closed));
  registry.addValue('homeward_unsent_response_bytes', () => progress.unsentBytes);
  registry.addValues('homeward_rate_limit_decisions_total', () =>
    [...decisions].map(({ plan, outcome, by, count }) => ({ labels: { plan, ...labelsOf(outcome), by }, value: count })),
  );
}

const labelsOf = (outcome: 'admitted' | 'minute' | 'day' | 'banned') =>
  outcome === 'minute' || outcome === 'day' ? { outcome: 'limited', window: outcome } : { outcome, window: '' };
