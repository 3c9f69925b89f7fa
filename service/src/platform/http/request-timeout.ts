import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';

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
