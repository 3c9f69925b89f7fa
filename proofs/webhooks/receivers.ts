// HTTP servers of partners: quick, slow, failing, some that reset connections, and some that never finish a response.
import { createServer, type Server } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';

export type Behaviour =
  | 'quick'
  | 'slow'
  /** Rejects some of the requests. */
  | 'failing'
  /** Resets the connection of some of the requests. */
  | 'resetting'
  | 'always resetting'
  /** Sends a byte a second: of the head, or of the body after a complete head. */
  | 'trickling'
  | { readonly respondsAfterMs: number };

export interface Arrival {
  readonly eventId: string;
  readonly petId: number;
  /** The number that the proof put into the animal's name. */
  readonly note: string;
  readonly atMs: number;
  /** The response was 2xx. */
  readonly isAccepted: boolean;
}

const slowMs = 25;
/** The share of requests that a failing or resetting receiver rejects. */
const faultRate = 0.2;
const trickleMs = 1_000;

export class Receiver implements AsyncDisposable {
  readonly behaviour: Behaviour;
  /** Of events. A test is accepted at once, and not recorded. */
  readonly arrivals: Arrival[] = [];
  /** The ids of the events that were accepted. */
  readonly accepted = new Set<string>();
  readonly #server: Server;

  private constructor(manner: Behaviour) {
    this.behaviour = manner;
    this.#server = createServer((request, response) => {
      let text = '';
      request.setEncoding('utf8').on('data', (chunk) => (text += chunk));
      request.on('end', () => {
        const { pet } = (JSON.parse(text) as { data: { pet?: { id: number; name: string } } }).data;
        const respond = (status = 204) => response.writeHead(status).end();
        if (!pet) {
          respond();
          return;
        }
        const isFaulty = manner === 'always resetting' || ((manner === 'failing' || manner === 'resetting') && Math.random() < faultRate);
        const eventId = String(request.headers['webhook-id']);
        this.arrivals.push({ eventId, petId: pet.id, note: pet.name, atMs: Date.now(), isAccepted: !isFaulty });
        if (!isFaulty) this.accepted.add(eventId);
        if (isFaulty && manner !== 'failing') request.socket.resetAndDestroy();
        else if (manner === 'trickling') trickle(request.socket, this.arrivals.length % 2 === 0);
        else if (typeof manner === 'object') setTimeout(respond, manner.respondsAfterMs).unref();
        else if (manner === 'slow') setTimeout(respond, slowMs);
        else respond(isFaulty ? 500 : 204);
      });
      request.on('error', () => {});
    });
  }

  static async open(manner: Behaviour): Promise<Receiver> {
    const receiver = new Receiver(manner);
    await new Promise<void>((resolve) => receiver.#server.listen(0, '127.0.0.1', resolve));
    return receiver;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}/hooks`;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }
}

/** Until the other side closes the connection. */
function trickle(socket: Socket, isHeadSentAtOnce: boolean): void {
  const head = 'HTTP/1.1 200 OK\r\ncontent-length: 1000\r\n\r\n';
  let left = isHeadSentAtOnce ? '' : head;
  if (isHeadSentAtOnce) socket.write(head);
  const timer = setInterval(() => {
    socket.write(left[0] ?? '.');
    left = left.slice(1);
  }, trickleMs).unref();
  socket.once('close', () => clearInterval(timer));
}
