// A TCP proxy in front of a server. It can cut off or delay the process that uses it, while others still reach the server.
import { EventEmitter, once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

export interface CuttableProxy extends AsyncDisposable {
  readonly port: number;
  /**
   * `closed`: connections are closed, and new ones too. `silent`: bytes no longer arrive, as behind a broken network. `held`: they arrive
   * when it is restored.
   */
  cut(how: 'closed' | 'silent' | 'held'): void;
  restore(): void;
  /** Closes all connections; new ones lead to another server. */
  redirect(port: number): void;
  /** New connections lead to another server. Open ones stay. */
  redirectNew(port: number): void;
  /** Resolves once the process has sent something that is lost, since it is cut off `silent`. */
  lost(): Promise<unknown>;
}

export async function startCuttableProxy(targetPort: number): Promise<CuttableProxy> {
  const events = new EventEmitter();
  const pairs = new Set<readonly [Socket, Socket]>();
  let state: 'open' | 'closed' | 'silent' | 'held' = 'open';
  let held: Array<() => void> = [];
  let port = targetPort;
  const server = createServer((incoming) => {
    const outgoing = connect(port, '127.0.0.1');
    const pair = [incoming, outgoing] as const;
    pairs.add(pair);
    for (const [from, to] of [pair, [outgoing, incoming] as const]) {
      from.on('data', (bytes) => {
        if (state === 'open') to.write(bytes);
        else if (state === 'held') held.push(() => to.write(bytes));
        else events.emit('lost');
      });
      from.on('error', () => {});
      from.on('close', () => {
        to.destroy();
        pairs.delete(pair);
      });
    }
    if (state === 'closed') incoming.destroy();
  });
  const closeAll = () => {
    for (const [incoming] of pairs) incoming.destroy();
  };
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    cut(how) {
      state = how;
      if (how === 'closed') closeAll();
    },
    restore() {
      // What was sent meanwhile is lost, so the connections can't be used any more.
      if (state === 'silent') closeAll();
      state = 'open';
      for (const write of held) write();
      held = [];
    },
    redirect(to) {
      port = to;
      closeAll();
    },
    redirectNew(to) {
      port = to;
    },
    lost: () => once(events, 'lost'),
    async [Symbol.asyncDispose]() {
      const closed = once(server, 'close');
      server.close();
      closeAll();
      await closed;
    },
  };
}
