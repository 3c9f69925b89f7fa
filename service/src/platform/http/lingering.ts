import type { IncomingMessage } from 'node:http';

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
