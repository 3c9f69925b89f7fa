import type { IncomingMessage } from 'node:http';

/** What the peer gets to read the answer, before the connection is cut. */
export const lingerMs = 1_000;

/**
 * For a refusal that comes while its request is still being sent. A connection that is cut at once is reset, and the peer,
 * still sending, may never read why. So it is told that nothing more comes, and what it sends is dropped for a while.
 */
export function lingerOnClose({ socket }: IncomingMessage): void {
  socket.destroySoon = () => {
    socket.end();
    setTimeout(() => socket.destroy(), lingerMs).unref();
  };
}
