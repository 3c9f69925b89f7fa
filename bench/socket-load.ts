// A closed loop of requests with little overhead: it sends prepared bytes on plain connections and reads only the status of each response.
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';

/** A request as text to send. */
export function requestText(method: string, path: string, key: string, body?: unknown): string {
  const payload = body === undefined ? '' : JSON.stringify(body);
  const content = body === undefined ? '' : `Content-Type: application/json\r\nContent-Length: ${Buffer.byteLength(payload)}\r\n`;
  return `${method} ${path} HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer ${key}\r\n${content}\r\n${payload}`;
}

/** Persistent connections, each with one request in flight at a time. */
export class SocketLoad implements Disposable {
  readonly #sockets: readonly Socket[];

  private constructor(sockets: readonly Socket[]) {
    this.#sockets = sockets;
  }

  static async open(origin: string, connections: number): Promise<SocketLoad> {
    const { hostname, port } = new URL(origin);
    const sockets = Array.from({ length: connections }, () => connect(Number(port), hostname).setNoDelay(true));
    await Promise.all(sockets.map((socket) => once(socket, 'connect')));
    return new SocketLoad(sockets);
  }

  /** Sends each request once. Rejects at the first response with another status, and after `timeoutMs`. */
  async send(requests: readonly string[], { status, timeoutMs }: { status: number; timeoutMs: number }): Promise<void> {
    const rest = requests.values();
    const late = setTimeout(() => {
      for (const socket of this.#sockets) socket.destroy(new Error(`${requests.length} requests took longer than ${timeoutMs / 1_000} s`));
    }, timeoutMs);
    try {
      await Promise.all(this.#sockets.map((socket) => sendOn(socket, rest, status)));
    } finally {
      clearTimeout(late);
    }
  }

  [Symbol.dispose](): void {
    for (const socket of this.#sockets) socket.destroy();
  }
}

/** One after the other, until none is left. */
async function sendOn(socket: Socket, rest: Iterator<string>, expected: number): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  let received: Buffer = Buffer.alloc(0);
  const sendNext = () => {
    const { value, done } = rest.next();
    if (done) resolve();
    else socket.write(value);
  };
  const onData = (chunk: Buffer) => {
    received = received.length === 0 ? chunk : Buffer.concat([received, chunk]);
    const end = endOfResponse(received);
    if (end === undefined || received.length < end) return;
    if (Number(received.toString('latin1', 9, 12)) !== expected) {
      reject(new Error(`a response was not ${expected}: ${received.toString('utf8', 0, 1_000)}`));
    }
    received = received.subarray(end);
    sendNext();
  };
  const onClose = () => reject(new Error('the service closed a connection'));
  socket.on('data', onData).on('error', reject).on('close', onClose);
  sendNext();
  try {
    await promise;
  } finally {
    socket.off('data', onData).off('error', reject).off('close', onClose);
  }
}

/** Undefined if the head has not arrived completely yet. */
function endOfResponse(bytes: Buffer): number | undefined {
  const headEnd = bytes.indexOf('\r\n\r\n');
  if (headEnd < 0) return undefined;
  const length = /\r\ncontent-length: *(\d+)/i.exec(bytes.toString('latin1', 0, headEnd))?.[1];
  if (length === undefined) throw new Error('a response has no Content-Length');
  return headEnd + 4 + Number(length);
}
