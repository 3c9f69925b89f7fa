import { AsyncLocalStorage } from 'node:async_hooks';
import type { IncomingMessage, ServerResponse } from 'node:http';
import {
  type Attributes,
  type Context,
  defaultTextMapGetter,
  defaultTextMapSetter,
  ROOT_CONTEXT,
  type Span,
  SpanKind,
  SpanStatusCode,
  type TextMapPropagator,
  type Tracer,
  trace,
} from '@opentelemetry/api';
import release from '../../../package.json' with { type: 'json' };

interface TracingOptions extends SamplingOptions {
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

/** Work that is traced. What is done meanwhile gets a span below its own. */
export interface TraceScope {
  readonly context: Context;
  readonly span: Span;
  /** Of the whole request. */
  readonly budget: { spans: number };
}

interface SamplingOptions {
  /** The part of requests that is traced, from 0 to 1, if the caller has not decided. */
  readonly ratio: number;
  /** Whether the caller's decision in `traceparent` counts. */
  readonly isParentBased: boolean;
}

/** A stream reads the feed for minutes, and its trace would grow as long. */
const spansOfRequestMax = 128;
/** Requests traced because their callers asked for it. Anyone can ask, and a trace costs several times what a cached list does. */
const askedPerSecondMax = 100;

/**
 * Spans, written by hand. This object exists only if tracing is on; the rest of the program checks for that, and for nothing else.
 *
 * Only a request or a webhook that is sampled begins a trace. The scope follows asynchronous work by itself, except where one piece of
 * work continues another's: the limiter decides requests in batches, and calls back. There the scope is passed on by `run`.
 */
export class Tracing {
  readonly #tracer: Tracer;
  readonly #propagator: TextMapPropagator;
  readonly #sampling: SamplingOptions;
  readonly #scopes = new AsyncLocalStorage<TraceScope | undefined>();
  readonly #requests = new WeakMap<IncomingMessage, TraceScope>();
  #asked = { second: 0, count: 0 };

  constructor(tracer: Tracer, propagator: TextMapPropagator, sampling: SamplingOptions) {
    this.#tracer = tracer;
    this.#propagator = propagator;
    this.#sampling = sampling;
  }

  /** Undefined: what runs now is not traced. Also undefined after the request's end, for work that it has left behind. */
  get current(): TraceScope | undefined {
    const scope = this.#scopes.getStore();
    return scope?.span.isRecording() ? scope : undefined;
  }

  run<T>(scope: TraceScope | undefined, work: () => T): T {
    return this.#scopes.run(scope, work);
  }

  /** Handles a request, with a span if it is sampled. The span ends with the response, also with one that nobody reads. */
  handle(request: IncomingMessage, response: ServerResponse, next: () => void): void {
    const parent = this.#parentOf(request);
    if (!this.#isSampled(parent)) {
      next();
      return;
    }
    const attributes = { 'http.request.method': request.method ?? '', 'network.protocol.version': request.httpVersion };
    const span = this.#tracer.startSpan(request.method ?? '', { kind: SpanKind.SERVER, attributes }, parent ?? ROOT_CONTEXT);
    const scope = { context: trace.setSpan(parent ?? ROOT_CONTEXT, span), span, budget: { spans: spansOfRequestMax } };
    this.#requests.set(request, scope);
    response.once('close', () => {
      if (!response.writableFinished) span.setStatus({ code: SpanStatusCode.ERROR, message: 'the caller closed the connection' });
      span.end();
    });
    this.run(scope, next);
  }

  scopeOf(request: IncomingMessage): TraceScope | undefined {
    return this.#requests.get(request);
  }

  /** Call it before the response ends. */
  describe(request: IncomingMessage, described: { id: string; route: string | undefined; status: number; code: string | null }): void {
    const span = this.#requests.get(request)?.span;
    if (!span) return;
    const { id, route, status, code } = described;
    if (route !== undefined) span.updateName(`${request.method} ${route}`).setAttribute('http.route', route);
    span.setAttributes({ 'homeward.request_id': id, 'http.response.status_code': status });
    if (code !== null) span.setAttribute('error.type', code);
    if (status >= 500) span.setStatus({ code: SpanStatusCode.ERROR });
  }

  /** Undefined if nothing is traced now. The caller ends the span. */
  startSpan(name: string, attributes: Attributes = {}, scope = this.current): Span | undefined {
    if (!scope || scope.budget.spans <= 0) return undefined;
    scope.budget.spans -= 1;
    return this.#tracer.startSpan(name, { attributes }, scope.context);
  }

  /** Runs `work` in a span, below which others are. */
  async within<T>(name: string, work: () => Promise<T>): Promise<T> {
    const scope = this.current;
    const span = scope && this.startSpan(name, {}, scope);
    if (!span) return work();
    try {
      return await this.run({ context: trace.setSpan(scope.context, span), span, budget: scope.budget }, work);
    } finally {
      span.end();
    }
  }

  /** One span for work that was done for several requests: it is below the first, and linked to the others. */
  startShared(name: string, attributes: Attributes, scopes: readonly TraceScope[]): Span | undefined {
    const [first, ...others] = scopes;
    const span = first && this.startSpan(name, attributes, first);
    for (const { span: other } of others) span?.addLink({ context: other.spanContext() });
    return span;
  }

  /** The statement's name, or how the first one of a text begins, and never its parameters. */
  readonly watchStatement = ({ name, text }: { name?: string | undefined; text: string }): ((error?: unknown) => void) | undefined => {
    const { current } = this;
    if (!current) return undefined;
    const [first = ''] = text.split(';', 1);
    const summary = name ?? first.trim().split(/\s+/, 4).join(' ').slice(0, 60);
    const span = this.startSpan(`postgres ${summary}`, { 'db.system.name': 'postgresql', 'db.query.summary': summary }, current);
    return span && ((error) => endSpan(span, error));
  };

  /** Sends a request with a span that begins a trace, if it is sampled. `send` gets the headers that tell the receiver of it. */
  async sending<T extends { readonly status: number | undefined; readonly error: string | undefined }>(
    name: string,
    attributes: Attributes,
    send: (headers: Readonly<Record<string, string>>) => Promise<T>,
  ): Promise<T> {
    if (Math.random() >= this.#sampling.ratio) return send({});
    const span = this.#tracer.startSpan(name, { kind: SpanKind.CLIENT, attributes });
    const headers: Record<string, string> = {};
    this.#propagator.inject(trace.setSpan(ROOT_CONTEXT, span), headers, defaultTextMapSetter);
    try {
      const sent = await send(headers);
      if (sent.status !== undefined) span.setAttribute('http.response.status_code', sent.status);
      if (sent.error !== undefined || (sent.status ?? 0) >= 300) span.setStatus({ code: SpanStatusCode.ERROR, message: sent.error ?? '' });
      return sent;
    } finally {
      span.end();
    }
  }

  #parentOf({ headers }: IncomingMessage): Context | undefined {
    if (headers['traceparent'] === undefined) return undefined;
    const context = this.#propagator.extract(ROOT_CONTEXT, headers, defaultTextMapGetter);
    return trace.getSpanContext(context) ? context : undefined;
  }

  #isSampled(parent: Context | undefined): boolean {
    if (!parent || !this.#sampling.isParentBased) return Math.random() < this.#sampling.ratio;
    const isAsked = ((trace.getSpanContext(parent)?.traceFlags ?? 0) & 1) === 1;
    return isAsked && this.#mayAsk();
  }

  #mayAsk(): boolean {
    const second = Math.floor(performance.now() / 1_000);
    if (second !== this.#asked.second) this.#asked = { second, count: 0 };
    this.#asked.count += 1;
    return this.#asked.count <= askedPerSecondMax;
  }
}

function endSpan(span: Span, error: unknown): void {
  // Only the kind of error: its message may contain values.
  if (error !== undefined) {
    const { code, name } = error as { code?: string; name?: string };
    span.setStatus({ code: SpanStatusCode.ERROR }).setAttribute('error.type', code ?? name ?? 'unknown');
  }
  span.end();
}
