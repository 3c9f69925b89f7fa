import type { CacheState } from '../../domain/cache-state.ts';
import type { DecisionTally } from '../../partners/rate-limit/decision-tally.ts';
import type { MetricRegistry } from './metric-registry.ts';
import type { RequestTally } from './request-tally.ts';

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
