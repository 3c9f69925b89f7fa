// A partner's server: stores what it receives, and responds as the test says.
import { createServer, type IncomingHttpHeaders, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Webhook } from 'standardwebhooks';

export interface Received {
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
  readonly json: { readonly id: string; readonly type: string; readonly data: { pet?: { id: number; name: string } } };
}

export interface Reply {
  readonly status: number;
  readonly body?: string;
  readonly headers?: Record<string, string>;
}

export class WebhookReceiver implements AsyncDisposable {
  readonly received: Received[] = [];
  /** The response to the next requests; 'reset' closes the connection. With a promise the sender waits. */
  respond: (request: Received) => Reply | 'reset' | Promise<Reply | 'reset'> = () => ({ status: 204 });
  readonly #server: Server;
  #onReceived: () => void = () => {};

  private constructor() {
    this.#server = createServer((request, response) => {
      let text = '';
      request.setEncoding('utf8').on('data', (chunk) => (text += chunk));
      request.on('end', () => {
        const received = { path: request.url ?? '', headers: request.headers, text, json: JSON.parse(text) };
        this.received.push(received);
        this.#onReceived();
        void Promise.resolve(this.respond(received)).then((reply) => {
          if (reply === 'reset') request.socket.destroy();
          else response.writeHead(reply.status, reply.headers).end(reply.body);
        });
      });
    });
  }

  static async open(): Promise<WebhookReceiver> {
    const receiver = new WebhookReceiver();
    await new Promise<void>((resolve) => receiver.#server.listen(0, '127.0.0.1', resolve));
    return receiver;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}/hooks`;
  }

  /** Resolves once `count` requests have arrived. */
  async has(count: number): Promise<readonly Received[]> {
    while (this.received.length < count) await new Promise<void>((resolve) => (this.#onReceived = resolve));
    return this.received;
  }

  /** Responds to nothing until the returned function is called. */
  hang(): (reply?: Reply) => void {
    const { promise, resolve } = Promise.withResolvers<Reply>();
    this.respond = () => promise;
    return (reply = { status: 204 }) => {
      this.respond = () => ({ status: 204 });
      resolve(reply);
    };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }
}

/** Verifies with the Standard Webhooks library, like a receiver. Throws if the signature is wrong. */
export function verifySignature({ headers, text }: Received, secret: string): unknown {
  return new Webhook(secret).verify(text, headers as Record<string, string>);
}
