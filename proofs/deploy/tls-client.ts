// HTTP/2 over TLS from a chosen address of this machine, with the certificate checked.
import { type ClientHttp2Session, connect, type IncomingHttpHeaders } from 'node:http2';
import { connect as connectPlain } from 'node:net';
import { connect as connectTls, type TLSSocket } from 'node:tls';

const timeoutMs = 20_000;

export interface TlsResponse {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
}

export interface TlsStream {
  readonly status: number;
  readonly isOpen: boolean;
  text(): string;
}

export interface TlsOptions {
  readonly port: number;
  /** The certificate that signed the server's. */
  readonly ca: Buffer;
  /** Any address of 127.0.0.0/8, from which the server then sees the requests. */
  readonly from?: string;
  /** The host name that is asked for. */
  readonly name?: string;
}

export class TlsClient implements Disposable {
  readonly #session: ClientHttp2Session;

  constructor({ port, ca, from = '127.0.0.1', name = 'localhost' }: TlsOptions) {
    const plain = connectPlain({ host: '127.0.0.1', port, localAddress: from });
    const socket = () => connectTls({ socket: plain, ca, servername: name, ALPNProtocols: ['h2'] });
    this.#session = connect(`https://${name}:${port}`, { createConnection: socket });
    // Each request fails with it too.
    this.#session.on('error', () => {});
  }

  async send(path: string, options: { method?: string; headers?: Record<string, string>; body?: object } = {}): Promise<TlsResponse> {
    const { method = 'GET', headers = {}, body } = options;
    const type = body && { 'content-type': 'application/json' };
    return new Promise((resolve, reject) => {
      const stream = this.#session.request({ ':path': path, ':method': method, ...type, ...headers });
      let head: IncomingHttpHeaders & { ':status'?: number | undefined } = {};
      let text = '';
      stream.setTimeout(timeoutMs, () => stream.destroy(new Error(`no response in ${timeoutMs} ms`)));
      stream.on('response', (received) => (head = received));
      stream.setEncoding('utf8').on('data', (part: string) => (text += part));
      stream.on('end', () => resolve({ status: Number(head[':status']), headers: head, text }));
      stream.on('error', reject);
      stream.end(body ? JSON.stringify(body) : undefined);
    });
  }

  /** A response without end, such as a stream of events. */
  async open(path: string, headers: Record<string, string>): Promise<TlsStream> {
    return new Promise((resolve, reject) => {
      const stream = this.#session.request({ ':path': path, ...headers });
      let text = '';
      let isOpen = true;
      stream.on('close', () => (isOpen = false));
      stream.on('error', reject);
      stream.setEncoding('utf8').on('data', (part: string) => (text += part));
      stream.on('response', (head) =>
        resolve({
          status: Number(head[':status']),
          get isOpen() {
            return isOpen;
          },
          text: () => text,
        }),
      );
    });
  }

  [Symbol.dispose](): void {
    this.#session.destroy();
  }
}

interface Connections extends AsyncDisposable {
  /** With TLS, and still open. */
  readonly accepted: number;
  /** Closed by the server before it has sent a byte. */
  readonly closedUnread: number;
}

/** Opens connections one after the other, and leaves them open. */
export async function openConnections({ port, ca, from = '127.0.0.1' }: TlsOptions, count: number): Promise<Connections> {
  const open = new Set<TLSSocket>();
  let closedUnread = 0;
  for (let i = 0; i < count; i += 1) {
    const plain = connectPlain({ host: '127.0.0.1', port, localAddress: from });
    const socket = connectTls({ socket: plain, ca, servername: 'localhost', ALPNProtocols: ['http/1.1'] });
    socket.on('error', () => {}).on('close', () => open.delete(socket));
    const isOpen = await new Promise<boolean>((resolve) => {
      socket.once('secureConnect', () => resolve(true));
      plain.once('close', () => resolve(false));
      plain.once('error', () => resolve(false));
    });
    if (isOpen) open.add(socket);
    else if (plain.bytesRead === 0) closedUnread += 1;
  }
  return {
    accepted: open.size,
    closedUnread,
    async [Symbol.asyncDispose]() {
      for (const socket of open) socket.destroy();
    },
  };
}
