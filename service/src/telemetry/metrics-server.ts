import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { MetricRegistry } from './metric-registry.ts';

const serverOptions = {
  headersTimeout: 5_000,
  requestTimeout: 5_000,
  // Short, so that idle connections of others don't keep Prometheus out.
  keepAliveTimeout: 5_000,
  connectionsCheckingInterval: 1_000,
  maxHeaderSize: 8_192,
};
/** Prometheus needs one. */
const connectionsMax = 20;

interface MetricsServer extends AsyncDisposable {
  readonly address: AddressInfo;
}

/** Serves GET /metrics, on a port that callers of the API don't reach. Requests at the same time share one rendering. */
export async function serveMetrics(registry: MetricRegistry, { host, port }: { host: string; port: number }): Promise<MetricsServer> {
  let rendering: Promise<string> | undefined;
  const render = () => {
    rendering ??= registry.render().finally(() => {
      rendering = undefined;
    });
    return rendering;
  };
  const server = createServer(serverOptions, ({ method, url }, response) => {
    if (method !== 'GET' || url?.split('?', 1)[0] !== '/metrics') send(response, 404, 'Only GET /metrics is served here.\n');
    else
      render().then(
        (text) => send(response, 200, text, registry.contentType),
        (error: unknown) => send(response, 500, `The metrics could not be read: ${error}\n`),
      );
  });
  server.maxConnections = connectionsMax;
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

function send(response: ServerResponse, status: number, text: string, type = 'text/plain; charset=utf-8'): void {
  response.writeHead(status, { 'content-type': type, 'content-length': Buffer.byteLength(text), 'x-content-type-options': 'nosniff' });
  response.end(text);
}

function explain(error: unknown, host: string, port: number): string {
  const { code = '' } = error as NodeJS.ErrnoException;
  if (code === 'EADDRINUSE') return `Port ${port} on ${host} is already in use. Set HOMEWARD_METRICS_PORT to another port.`;
  return `The metrics can't be served on port ${port} of ${host} (${code}). Correct HOMEWARD_METRICS_PORT or HOMEWARD_METRICS_HOST.`;
}
