// A proxy that resets some connections. If the store has already responded, the client doesn't learn the outcome.
import { once } from 'node:events';
import { createServer, type IncomingMessage, request, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface FlakyProxy extends AsyncDisposable {
  readonly url: string;
  readonly requests: number;
  /** Connections that were reset; `resetsAfterResponse` counts those of them to which the store had already responded. */
  readonly resets: number;
  readonly resetsAfterResponse: number;
}

const moments = ['before', 'while', 'after'] as const;

/**
 * Resets the given share of requests: one before the store gets it, the next while the store handles it, the next after
 * its response, and so on.
 */
export async function startFlakyProxy(target: string, share: number): Promise<FlakyProxy> {
  const counts = { requests: 0, resets: 0, resetsAfterResponse: 0 };
  const server = createServer((incoming, outgoing) => {
    counts.requests += 1;
    const reset = () => incoming.socket.resetAndDestroy();
    const moment = Math.random() < share ? moments[counts.resets++ % moments.length] : undefined;
    switch (moment) {
      case 'before':
        reset();
        break;
      case 'while':
        forward(target, incoming, () => undefined);
        incoming.once('end', reset);
        break;
      case 'after':
        counts.resetsAfterResponse += 1;
        forward(target, incoming, reset);
        break;
      case undefined:
        forward(target, incoming, ({ statusCode = 502, headers }, body) => outgoing.writeHead(statusCode, headers).end(body));
    }
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    get requests() {
      return counts.requests;
    },
    get resets() {
      return counts.resets;
    },
    get resetsAfterResponse() {
      return counts.resetsAfterResponse;
    },
    [Symbol.asyncDispose]: () => close(server),
  };
}

function forward(target: string, incoming: IncomingMessage, responded: (response: IncomingMessage, body: Buffer) => unknown): void {
  const onward = request(target + incoming.url, { method: incoming.method, headers: incoming.headers }, (response) => {
    const chunks: Buffer[] = [];
    response.on('data', (chunk: Buffer) => chunks.push(chunk));
    response.on('end', () => responded(response, Buffer.concat(chunks)));
  });
  onward.on('error', () => incoming.socket.destroy());
  incoming.pipe(onward);
}

async function close(server: Server): Promise<void> {
  const closed = once(server, 'close');
  server.close();
  server.closeAllConnections();
  await closed;
}
