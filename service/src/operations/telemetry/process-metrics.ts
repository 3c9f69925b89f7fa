import { getHeapStatistics } from 'node:v8';
import release from '../../../package.json' with { type: 'json' };
import { Histogram } from './histogram.ts';
import type { MetricRegistry } from './metric-registry.ts';

const sampleIntervalMs = 50;

/** Metrics that every process has. Samples the event loop until it is disposed. */
export function addProcessMetrics(registry: MetricRegistry): Disposable {
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
