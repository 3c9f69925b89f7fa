// Sends requests at a fixed rate on a few connections, several at once on each, and counts the responses. A plain HTTP client would take
// more CPU than the store that it loads.
import { connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

export interface Line {
  readonly port: number;
  readonly key: string;
  /** Sent in turn. */
  readonly paths: readonly string[];
}

/** The responses on a line. */
export interface Received {
  responses: number;
  /** By error code. */
  readonly errors: Map<string, number>;
}

const tickMs = 10;
/** Requests without a response, on one connection. Beyond that it waits, so that the load is less than asked for. */
const pendingMax = 20;
const drainTimeoutMs = 15_000;

/** Sends for `ms`, and waits for the last response. Every response on a connection that was not closed is counted. */
export async function sendPipelined(lines: readonly Line[], perSecond: number, ms: number): Promise<Received[]> {
  const connections = await Promise.all(lines.map((line) => Connection.open(line)));
  const startMs = performance.now();
  let sent = 0;
  for (let nowMs = startMs; nowMs < startMs + ms; nowMs = performance.now()) {
    const due = Math.floor(((nowMs - startMs) / 1_000) * perSecond);
    for (; sent < due; sent += 1) connections[sent % connections.length]?.send();
    for (const connection of connections) connection.flush();
    await sleep(tickMs);
  }
  const deadlineMs = performance.now() + drainTimeoutMs;
  while (connections.some(({ isPending }) => isPending) && performance.now() < deadlineMs) await sleep(tickMs);
  return connections.map((connection) => connection.end());
}

class Connection {
  readonly #socket: Socket;
  readonly #requests: readonly string[];
  readonly #received: Received = { responses: 0, errors: new Map() };
  #sent = 0;
  #unsent = '';
  #text = '';
  #isClosed = false;

  private constructor(socket: Socket, { key, paths }: Line) {
    this.#socket = socket;
    this.#requests = paths.map((path) => `GET ${path} HTTP/1.1\r\nHost: store\r\nAuthorization: Bearer ${key}\r\n\r\n`);
    socket.setEncoding('latin1').setNoDelay(true);
    socket.on('data', (text: string) => this.#read(text));
    socket.on('error', () => {});
    socket.on('close', () => (this.#isClosed = true));
  }

  static async open(line: Line): Promise<Connection> {
    const socket = connect(line.port, '127.0.0.1');
    await new Promise((resolve, reject) => socket.once('connect', resolve).once('error', reject));
    return new Connection(socket, line);
  }

  get isPending(): boolean {
    return !this.#isClosed && this.#received.responses < this.#sent;
  }

  send(): void {
    if (this.#isClosed || this.#sent - this.#received.responses >= pendingMax) return;
    this.#unsent += this.#requests[this.#sent % this.#requests.length];
    this.#sent += 1;
  }

  flush(): void {
    if (this.#unsent && !this.#isClosed) this.#socket.write(this.#unsent);
    this.#unsent = '';
  }

  end(): Received {
    this.#socket.destroy();
    return this.#received;
  }

  /** An animal's name can't contain a line break, so this is never a part of a body. */
  #read(text: string): void {
    this.#text += text;
    const pattern = /HTTP\/1\.1 \d{3} [A-Z][^\r]*\r\n|^\{"code":"(\w+)"/gm;
    let end = 0;
    for (let found = pattern.exec(this.#text); found; found = pattern.exec(this.#text)) {
      const [, code] = found;
      if (code === undefined) this.#received.responses += 1;
      else this.#received.errors.set(code, (this.#received.errors.get(code) ?? 0) + 1);
      end = pattern.lastIndex;
    }
    // A match may have begun in the last bytes.
    this.#text = this.#text.slice(Math.max(end, this.#text.length - 200));
  }
}
