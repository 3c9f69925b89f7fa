import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { getHeapStatistics } from 'node:v8';
import type { FastifyBaseLogger } from 'fastify';
import release from '../../../package.json' with { type: 'json' };
import type { Pool } from '../../platform/db/pool.ts';
import type { RedisLink } from '../../platform/redis/redis-link.ts';
import { MetricRegistry } from './metric-registry.ts';
import { Histogram } from './metric-table.ts';

/** Serves the metrics of every process, and those that `add` adds. */
export async function openMetrics(
  address: { readonly host: string; readonly port: number },
  { log, ...dependencies }: MeasuredDependencies & { readonly log: FastifyBaseLogger },
  add: (registry: MetricRegistry) => void,
): Promise<AsyncDisposable> {
  await using opened = new AsyncDisposableStack();
  const registry = new MetricRegistry();
  opened.use(addProcessMetrics(registry));
  addDependencyMetrics(registry, dependencies);
  add(registry);
  const server = opened.use(await serveMetrics(registry, address));
  log.info({ host: server.address.address, port: server.address.port }, 'serving metrics');
  return opened.move();
}

const serverOptions = {
  headersTimeout: 1_000,
  requestTimeout: 1_000,
  connectionsCheckingInterval: 250,
  maxHeaderSize: 8_192,
};
/** Prometheus needs one. */
const connectionsMax = 20;

interface MetricsServer extends AsyncDisposable {
  readonly address: AddressInfo;
}

/** Serves GET /metrics, on a port that callers of the API don't reach. */
export async function serveMetrics(registry: MetricRegistry, { host, port }: { host: string; port: number }): Promise<MetricsServer> {
  const server = createServer(serverOptions, ({ method, url }, response) => {
    if (method !== 'GET' || url?.split('?', 1)[0] !== '/metrics') send(response, 404, 'Only GET /metrics is served here.\n');
    else
      try {
        send(response, 200, registry.render(), 'text/plain; version=0.0.4; charset=utf-8');
      } catch (error) {
        send(response, 500, `The metrics could not be read: ${error}\n`);
      }
  });
  server.maxRequestsPerSocket = 1;
  boundConnections(server);
  try {
    await once(server.listen({ host, port }), 'listening');
  } catch (error) {
    throw new Error(explain(error, host, port), { cause: error });
  }
  return {
    address: server.address() as AddressInfo,
    [Symbol.asyncDispose]: async () => {
      const closed = once(server, 'close');
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
}

/**
 * Beyond the bound, the connection that has waited for a request for the longest time is closed, not the new one: half-sent
 * requests can't shut Prometheus out. If every connection has sent its request, the new one is closed.
 */
function boundConnections(server: Server): void {
  const open = new Set<Socket>();
  /** Those without a complete request, the oldest first. */
  const waiting = new Set<Socket>();
  server.on('connection', (socket: Socket) => {
    open.add(socket);
    waiting.add(socket);
    socket.once('close', () => {
      open.delete(socket);
      waiting.delete(socket);
    });
    const [oldest] = waiting;
    if (open.size > connectionsMax) oldest?.destroy();
  });
  server.on('request', ({ socket }: IncomingMessage) => void waiting.delete(socket));
}

function send(response: ServerResponse, status: number, text: string, type = 'text/plain; charset=utf-8'): void {
  response.writeHead(status, {
    'content-type': type,
    'content-length': Buffer.byteLength(text),
    'x-content-type-options': 'nosniff',
    // One request for each connection: none is idle, and no response waits behind others.
    connection: 'close',
  });
  response.end(text);
}

function explain(error: unknown, host: string, port: number): string {
  const { code = '' } = error as NodeJS.ErrnoException;
  if (code === 'EADDRINUSE') return `Port ${port} on ${host} is already in use. Set HOMEWARD_METRICS_PORT to another port.`;
  return `The metrics can't be served on port ${port} of ${host} (${code}). Correct HOMEWARD_METRICS_PORT or HOMEWARD_METRICS_HOST.`;
}

const sampleIntervalMs = 50;

/** Metrics that every process has. Samples the event loop until it is disposed. */
function addProcessMetrics(registry: MetricRegistry): Disposable {
  const startedAt = Date.now() / 1_000 - process.uptime();
  const delays = new Histogram('homeward_event_loop_delay_seconds');
  registry.addValues('homeward_build_info', () => [{ labels: { version: release.version, node: process.version }, value: 1 }]);
  registry.addValue('process_start_time_seconds', () => startedAt);
  registry.addValue('process_cpu_seconds_total', () => {
    const { user, system } = process.cpuUsage();
    return (user + system) / 1_000_000;
  });
  registry.addValue('process_resident_memory_bytes', () => process.memoryUsage.rss());
  registry.addValue('homeward_heap_used_bytes', () => getHeapStatistics().used_heap_size);
  registry.addValue('homeward_heap_max_bytes', () => getHeapStatistics().heap_size_limit);
  registry.addHistogram('homeward_event_loop_delay_seconds', delays);
  registry.addValue('homeward_event_loop_active_seconds_total', () => performance.eventLoopUtilization().active / 1_000);
  registry.addValue('homeward_event_loop_idle_seconds_total', () => performance.eventLoopUtilization().idle / 1_000);
  // A histogram of its own and not Node's: that one would have to be reset by each scrape, and there may be two Prometheus servers.
  let dueAtMs = performance.now() + sampleIntervalMs;
  const timer = setInterval(() => {
    const nowMs = performance.now();
    delays.observe(Math.max(nowMs - dueAtMs, 0) / 1_000);
    dueAtMs = nowMs + sampleIntervalMs;
  }, sampleIntervalMs).unref();
  return { [Symbol.dispose]: () => clearInterval(timer) };
}

interface MeasuredDependencies {
  readonly db: Pick<Pool, 'reachable' | 'confirmsWrites' | 'state' | 'watchStatements'>;
  readonly redis: Pick<RedisLink, 'up' | 'on'>;
}

/** Metrics of the connections to PostgreSQL and Redis. */
function addDependencyMetrics(registry: MetricRegistry, { db, redis }: MeasuredDependencies): void {
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
