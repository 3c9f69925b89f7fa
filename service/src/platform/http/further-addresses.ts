import { createServer, type Server } from 'node:net';
import type { FastifyInstance } from 'fastify';

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
