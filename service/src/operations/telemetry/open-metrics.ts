import type { FastifyBaseLogger } from 'fastify';
import { addDependencyMetrics } from './dependency-metrics.ts';
import { MetricRegistry } from './metric-registry.ts';
import { serveMetrics } from './metrics-server.ts';
import { addProcessMetrics } from './process-metrics.ts';

type Parts = Parameters<typeof addDependencyMetrics>[1] & { readonly log: FastifyBaseLogger };

/** Serves the metrics of every process, and those that `add` adds. */
export async function openMetrics(
  address: { readonly host: string; readonly port: number },
  { log, ...parts }: Parts,
  add: (registry: MetricRegistry) => void,
): Promise<AsyncDisposable> {
  await using opened = new AsyncDisposableStack();
  const registry = new MetricRegistry();
  opened.use(addProcessMetrics(registry));
  addDependencyMetrics(registry, parts);
  add(registry);
  const server = opened.use(await serveMetrics(registry, address));
  log.info({ host: server.address.address, port: server.address.port }, 'serving metrics');
  return opened.move();
}
