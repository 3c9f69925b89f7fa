import type { Pool } from '../../platform/db/pool.ts';
import type { RedisLink } from '../../platform/redis/redis-link.ts';
import { Histogram } from './histogram.ts';
import type { MetricRegistry } from './metric-registry.ts';

interface Parts {
  readonly db: Pick<Pool, 'reachable' | 'confirmsWrites' | 'state' | 'watchStatements'>;
  readonly redis: Pick<RedisLink, 'up' | 'on'>;
}

/** Metrics of the connections to PostgreSQL and Redis. */
export function addDependencyMetrics(registry: MetricRegistry, { db, redis }: Parts): void {
  const statements = new Histogram('homeward_postgres_statement_duration_seconds');
  db.watchStatements(() => {
    const startedAtMs = performance.now();
    return () => statements.observe((performance.now() - startedAtMs) / 1_000);
  });
  registry.addValue('homeward_postgres_confirms_writes', () => Number(db.confirmsWrites));
  registry.addValue('homeward_postgres_up', () => Number(db.reachable));
  registry.addValues('homeward_postgres_connections', () =>
    Object.entries(db.state.connections).flatMap(([use, { busy, idle }]) => [
      { labels: { use, state: 'busy' }, value: busy },
      { labels: { use, state: 'idle' }, value: idle },
    ]),
  );
  registry.addValuesBy('homeward_postgres_max_connections', 'use', () =>
    Object.entries(db.state.connections).map(([use, { max }]) => [use, max]),
  );
  registry.addValuesBy('homeward_postgres_waiting', 'use', () => Object.entries(db.state.waiting));
  registry.addValuesBy('homeward_postgres_statements_in_flight', 'use', () => Object.entries(db.state.inFlight));
  registry.addHistogram('homeward_postgres_statement_duration_seconds', statements);

  const calls = new Histogram('homeward_redis_call_duration_seconds');
  let late = 0;
  let lost = 0;
  redis.on('reply', (ms) => calls.observe(ms / 1_000));
  redis.on('late', () => {
    late += 1;
  });
  redis.on('lost', () => {
    lost += 1;
  });
  registry.addValue('homeward_redis_up', () => Number(redis.up));
  registry.addValue('homeward_redis_late_total', () => late);
  registry.addValue('homeward_redis_lost_total', () => lost);
  registry.addHistogram('homeward_redis_call_duration_seconds', calls);
}
