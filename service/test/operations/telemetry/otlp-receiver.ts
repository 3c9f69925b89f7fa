// Receives traces by OTLP over HTTP, as a collector does, and checks that they are well-formed.
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';

type Attributes = Readonly<Record<string, string | number | boolean>>;

export interface ReceivedSpan {
  readonly traceId: string;
  readonly spanId: string;
  /** Undefined: the span begins its trace. */
  readonly parentSpanId: string | undefined;
  readonly name: string;
  /** 1 internal, 2 server, 3 client. */
  readonly kind: number;
  readonly attributes: Attributes;
  /** 0 unset, 2 error. */
  readonly status: number;
  readonly links: readonly string[];
  readonly startMs: number;
  readonly endMs: number;
  readonly service: string;
}

interface KeyValue {
  readonly key: string;
  readonly value: { readonly stringValue?: string; readonly intValue?: number | string; readonly boolValue?: boolean };
}

interface OtlpSpan {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly name: string;
  readonly kind: number;
  readonly startTimeUnixNano: string;
  readonly endTimeUnixNano: string;
  readonly attributes: readonly KeyValue[];
  readonly links?: ReadonlyArray<{ readonly spanId: string }>;
  readonly status?: { readonly code?: number };
}

interface Export {
  readonly resourceSpans: ReadonlyArray<{
    readonly resource: { readonly attributes: readonly KeyValue[] };
    readonly scopeSpans: ReadonlyArray<{ readonly spans: readonly OtlpSpan[] }>;
  }>;
}

export class OtlpReceiver implements AsyncDisposable {
  readonly spans: ReceivedSpan[] = [];
  /** What was malformed. */
  readonly faults: string[] = [];
  /** The status of the next responses. */
  status = 200;
  /** Exports that arrived, also those that were rejected. */
  exports = 0;
  readonly #server: Server;

  private constructor() {
    this.#server = createServer((request, response) => {
      let text = '';
      request.setEncoding('utf8').on('data', (chunk) => (text += chunk));
      request.on('end', () => {
        this.exports += 1;
        if (request.method !== 'POST' || request.url !== '/v1/traces') this.faults.push(`${request.method} ${request.url}`);
        else if (this.status === 200) this.#take(JSON.parse(text) as Export);
        response.writeHead(this.status, { 'content-type': 'application/json' }).end('{}');
      });
    });
  }

  static async open(): Promise<OtlpReceiver> {
    const receiver = new OtlpReceiver();
    await new Promise<void>((resolve) => receiver.#server.listen(0, '127.0.0.1', resolve));
    return receiver;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  #take({ resourceSpans }: Export): void {
    for (const { resource, scopeSpans } of resourceSpans) {
      const service = String(readAttributes(resource.attributes)['service.name']);
      for (const span of scopeSpans.flatMap(({ spans }) => spans)) {
        const isWellFormed = /^[0-9a-f]{32}$/.test(span.traceId) && /^[0-9a-f]{16}$/.test(span.spanId) && span.name !== '';
        const isInOrder = BigInt(span.startTimeUnixNano) <= BigInt(span.endTimeUnixNano);
        if (!isWellFormed || !isInOrder) this.faults.push(JSON.stringify(span));
        this.spans.push({
          traceId: span.traceId,
          spanId: span.spanId,
          parentSpanId: span.parentSpanId || undefined,
          name: span.name,
          kind: span.kind,
          attributes: readAttributes(span.attributes),
          status: span.status?.code ?? 0,
          links: (span.links ?? []).map(({ spanId }) => spanId),
          startMs: Number(BigInt(span.startTimeUnixNano) / 1_000n) / 1_000,
          endMs: Number(BigInt(span.endTimeUnixNano) / 1_000n) / 1_000,
          service,
        });
      }
    }
  }
}

const readAttributes = (list: readonly KeyValue[]): Attributes =>
  Object.fromEntries(list.map(({ key, value }) => [key, value.stringValue ?? value.boolValue ?? Number(value.intValue)]));
