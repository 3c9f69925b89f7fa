import type { IncomingMessage } from 'node:http';
import { createServer, type Server } from 'node:net';
import type { Duplex } from 'node:stream';
import type { FastifyInstance } from 'fastify';
import { AppError } from '../../errors.ts';

/** How long the peer can read the response before the connection is destroyed. */
export const lingerMs = 1_000;

/**
 * A lingering close, for an error response that is sent while the request is still arriving. Closing at once would reset
 * the connection, and a peer that is still sending might never read the response. So this side ends the connection and
 * discards what arrives, and destroys it later.
 */
export function lingerOnClose({ socket }: IncomingMessage): void {
  socket.destroySoon = () => {
    socket.end();
    setTimeout(() => socket.destroy(), lingerMs).unref();
  };
}

/** The connections on which a request has another limit than the time for a whole request. */
const lifted = new WeakSet<Duplex>();

/**
 * Lifts the time limit for a whole request, for one whose time the caller limits by other means, until it is disposed of. Node.js has
 * no option for that, but only reports that the time is over, once for each request: client-errors.ts ignores the report then.
 */
export function liftRequestTimeout({ socket }: IncomingMessage): Disposable {
  lifted.add(socket);
  return { [Symbol.dispose]: () => void lifted.delete(socket) };
}

/** Whether this is the report that a request takes longer than Node.js allows, and that is allowed. */
export const isLiftedTimeout = ({ code }: NodeJS.ErrnoException, socket: Duplex): boolean =>
  code === 'ERR_HTTP_REQUEST_TIMEOUT' && lifted.has(socket);

/**
 * Listens on the addresses of a host besides the one that the app's server listens on, at the same port, and hands connections to
 * that server. Fastify does this by itself only without a `serverFactory`. An address that this machine lacks, such as ::1
 * without IPv6, is logged and skipped.
 */
export function listenOnOthers(app: FastifyInstance, addresses: readonly string[]): Server[] {
  const main = app.server.address();
  if (main === null || typeof main === 'string') return [];
  return addresses
    .filter((address) => address !== main.address)
    .map((address) => {
      // The options with which Node's HTTP server accepts connections itself.
      const server = createServer({ allowHalfOpen: true, noDelay: true }, (socket) => app.server.emit('connection', socket));
      server.on('error', (error) => app.log.warn({ err: error, address }, 'not listening on a further address of the host'));
      return server.listen({ host: address, port: main.port });
    });
}

/**
 * Counts how often a header was sent. `request.headers` doesn't show it: Node drops duplicates of some headers, such as
 * Authorization. `name` must be in lower case.
 */
export function countOfHeader({ rawHeaders }: IncomingMessage, name: string): number {
  let count = 0;
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const header = rawHeaders[i] ?? '';
    if (header.length === name.length && header.toLowerCase() === name) count += 1;
  }
  return count;
}

/** HTTP/1.1 requires exactly one Host header (RFC 9112, section 3.2). Earlier versions don't. */
export function requireOneHost(request: IncomingMessage): void {
  const hosts = countOfHeader(request, 'host');
  if (hosts === 1 || (hosts === 0 && request.httpVersion !== '1.1')) return;
  throw new AppError('malformed_request', `The Host header was sent ${hosts} times; send it once.`);
}
