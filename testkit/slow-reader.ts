// A connection whose other end reads too slowly, or nothing at all.
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';

export interface Pace {
  /** Reads so many bytes at once, and stops. Without it, nothing is ever read. */
  readonly firstBytes?: number;
  /** Then reads `bytes` after each interval. */
  readonly drip?: { readonly bytes: number; readonly intervalMs: number };
  /** The address that it connects from. */
  readonly localAddress?: string;
}

/** How often it checks whether the connection is still open: by a line feed, which is ignored before a request. */
const checkIntervalMs = 250;
const bufferBytes = 16_384;

export class SlowReader implements Disposable {
  /** Resolves with the time from opening to closing. */
  readonly closed: Promise<number>;
  readonly #socket: Socket;
  readonly #timers: NodeJS.Timeout[] = [];
  /** Still to be read now. */
  #due: number;
  #readBytes = 0;

  /** Sends the requests at once, one behind the other. */
  static async open(port: number, requests: string, pace: Pace = {}): Promise<SlowReader> {
    const reader = new SlowReader(port, pace);
    await once(reader.#socket, 'connect');
    reader.send(requests);
    return reader;
  }

  private constructor(port: number, { firstBytes = 0, drip, localAddress = '127.0.0.1' }: Pace) {
    this.#due = firstBytes;
    const openedAtMs = performance.now();
    const onread = { buffer: Buffer.alloc(bufferBytes), callback: (bytes: number) => this.#take(bytes) };
    this.#socket = connect({ port, host: '127.0.0.1', localAddress, onread });
    this.#socket.on('error', () => {});
    this.closed = new Promise((resolve) => this.#socket.once('close', () => resolve(performance.now() - openedAtMs)));
    void this.closed.then(() => this[Symbol.dispose]());
    if (firstBytes === 0) this.#socket.pause();
    this.#every(checkIntervalMs, () => this.#socket.write('\n'));
    if (drip) this.#every(drip.intervalMs, () => this.#read(drip.bytes));
  }

  get readBytes(): number {
    return this.#readBytes;
  }

  get isOpen(): boolean {
    return !this.#socket.destroyed;
  }

  send(requests: string): void {
    this.#socket.write(requests);
  }

  #every(intervalMs: number, action: () => void): void {
    this.#timers.push(setInterval(action, intervalMs));
  }

  #read(bytes: number): void {
    this.#due += bytes;
    this.#socket.resume();
  }

  /** Returns false to pause. */
  #take(bytes: number): boolean {
    this.#readBytes += bytes;
    this.#due -= bytes;
    return this.#due > 0;
  }

  [Symbol.dispose](): void {
    for (const timer of this.#timers) clearInterval(timer);
    this.#socket.destroy();
  }
}
