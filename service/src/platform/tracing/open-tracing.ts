import release from '../../../package.json' with { type: 'json' };
import { type SamplingOptions, Tracing } from './tracing.ts';

export interface TracingOptions extends SamplingOptions {
  /** Of an OTLP receiver, without /v1/traces. */
  readonly endpoint: string;
  readonly serviceName: string;
  /** Called when spans could not be exported, once a minute at most. */
  onError(error: unknown): void;
}

export interface OpenTracing extends AsyncDisposable {
  readonly tracing: Tracing;
}

/** Spans that wait to be exported. Beyond that they are dropped. */
const queuedMax = 2_048;
const batchSizeMax = 512;
const exportIntervalMs = 5_000;
const exportTimeoutMs = 10_000;
/** For the last export, at shutdown. */
const flushTimeoutMs = 2_000;
const errorIntervalMs = 60_000;

/** Loads the SDK of OpenTelemetry, which a process without tracing never does. */
export async function openTracing({ endpoint, serviceName, onError, ...sampling }: TracingOptions): Promise<OpenTracing> {
  const { version } = release;
  const [{ AlwaysOnSampler, BatchSpanProcessor, TracerProvider }, { OTLPTraceExporter }, { resourceFromAttributes }, core] =
    await Promise.all([
      import('@opentelemetry/sdk-trace'),
      import('@opentelemetry/exporter-trace-otlp-http'),
      import('@opentelemetry/resources'),
      import('@opentelemetry/core'),
    ]);
  core.setGlobalErrorHandler(atMostEvery(errorIntervalMs, onError));
  const processor = new BatchSpanProcessor({
    exporter: new OTLPTraceExporter({ url: `${endpoint.replace(/\/+$/, '')}/v1/traces`, timeoutMillis: exportTimeoutMs }),
    maxQueueSize: queuedMax,
    maxExportBatchSize: batchSizeMax,
    scheduledDelayMillis: exportIntervalMs,
    exportTimeoutMillis: exportTimeoutMs,
  });
  const provider = new TracerProvider({
    resource: resourceFromAttributes({ 'service.name': serviceName, 'service.version': version }),
    // `Tracing` decides before it starts a span.
    sampler: new AlwaysOnSampler(),
    spanProcessors: [processor],
  });
  const tracing = new Tracing(provider.getTracer('homeward', version), new core.W3CTraceContextPropagator(), sampling);
  return { tracing, [Symbol.asyncDispose]: () => withinTime(provider.shutdown(), flushTimeoutMs) };
}

function atMostEvery(intervalMs: number, report: (error: unknown) => void): (error: unknown) => void {
  let reportedAtMs = Number.NEGATIVE_INFINITY;
  return (error) => {
    if (performance.now() - reportedAtMs < intervalMs) return;
    reportedAtMs = performance.now();
    report(error);
  };
}

/** Waits for `work`, but not longer than that. */
async function withinTime(work: Promise<unknown>, timeoutMs: number): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const timer = setTimeout(resolve, timeoutMs);
  // What could not be exported is lost: the process ends.
  await Promise.race([promise, work.catch(() => {})]);
  clearTimeout(timer);
}
