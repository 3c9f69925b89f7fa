// What a Sentinel may be after a failover that it has missed: it names a server that is no longer the primary, or says nothing.
import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';

export interface FalseSentinel extends AsyncDisposable {
  readonly port: number;
}

/** Without a `named` port it accepts connections and never replies. */
export async function startFalseSentinel(named?: { port: number; epoch: number }): Promise<FalseSentinel> {
  const sockets = new Set<Socket>();
  const bulk = (text: string) => `$${text.length}\r\n${text}\r\n`;
  const list = (...words: string[]) => `*${words.length}\r\n${words.map(bulk).join('')}`;
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => {});
    socket.on('close', () => sockets.delete(socket));
    if (!named) return;
    // Each command arrives whole, since it is short.
    socket.setEncoding('utf8').on('data', (text: string) => {
      for (const [, subcommand] of text.matchAll(/SENTINEL\r\n\$\d+\r\n([A-Z-]+)\r\n/gi)) {
        const isDetails = subcommand?.toUpperCase() === 'MASTER';
        socket.write(isDetails ? list('config-epoch', String(named.epoch)) : list('127.0.0.1', String(named.port)));
      }
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    async [Symbol.asyncDispose]() {
      const closed = once(server, 'close');
      server.close();
      for (const socket of sockets) socket.destroy();
      await closed;
    },
  };
}
