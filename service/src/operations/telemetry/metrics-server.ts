import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import type { MetricRegistry } from './metric-registry.ts';

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
