// An open loop of requests: they are sent at a rate, whatever the responses take.
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';

const connectionsPerProcess = 32;
const tickMs = 2;

/** What finds no free connection waits. */
export class PacedLoad implements Disposable {
  readonly #processes: ReadonlyArray<{ readonly free: Socket[]; readonly waiting: string[] }>;
  readonly #sockets: readonly Socket[];
  #sent = 0;
  #received = 0;

  private constructor(byProcess: ReadonlyArray<readonly Socket[]>) {
    this.#processes = byProcess.map((sockets) => ({ free: [...sockets], waiting: [] }));
    this.#sockets = byProcess.flat();
    for (const [index, sockets] of byProcess.entries()) for (const socket of sockets) this.#read(socket, index);
  }

  static async open(origins: readonly string[]): Promise<PacedLoad> {
    const byProcess = origins.map((origin) => {
      const { hostname, port } = new URL(origin);
      return Array.from({ length: connectionsPerProcess }, () => connect(Number(port), hostname).setNoDelay(true));
    });
    await Promise.all(byProcess.flat().map((socket) => once(socket, 'connect')));
    return new PacedLoad(byProcess);
  }

  /** Returns how many requests were responded to. */
  async run({ seconds, perSecond }: { seconds: number; perSecond: number }, draw: () => string): Promise<number> {
    const startMs = performance.now();
    const elapsedMs = () => performance.now() - startMs;
    while (elapsedMs() < seconds * 1_000) {
      const due = Math.floor((elapsedMs() / 1_000) * perSecond);
      for (; this.#sent < due; this.#sent += 1) this.#send(Math.floor(Math.random() * this.#processes.length), draw());
      await new Promise((resolve) => setTimeout(resolve, tickMs));
    }
    return this.#received;
  }

  [Symbol.dispose](): void {
    for (const socket of this.#sockets) socket.destroy();
  }

  #send(index: number, request: string): void {
    const { free = [], waiting = [] } = this.#processes[index] ?? {};
    const socket = free.pop();
    if (socket) socket.write(request);
    else waiting.push(request);
  }

  #read(socket: Socket, index: number): void {
    const { free = [], waiting = [] } = this.#processes[index] ?? {};
    let rest = 0;
    socket.on('error', () => {});
    socket.on('data', (chunk: Buffer) => {
      if (rest === 0) {
        const head = chunk.toString('latin1', 0, 4_096);
        const headEnd = head.indexOf('\r\n\r\n');
        const length = /\r\ncontent-length: *(\d+)/i.exec(head)?.[1];
        if (!head.startsWith('HTTP/1.1 200') || headEnd < 0 || length === undefined)
          throw new Error(`a list was not 200: ${head.slice(0, 500)}`);
        rest = headEnd + 4 + Number(length);
      }
      rest -= chunk.length;
      if (rest > 0) return;
      this.#received += 1;
      const next = waiting.shift();
      if (next === undefined) free.push(socket);
      else socket.write(next);
    });
  }
}
