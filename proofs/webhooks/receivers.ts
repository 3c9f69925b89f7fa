// HTTP servers of partners: quick, slow, failing, and some that reset connections.
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';

export type Behaviour = 'quick' | 'slow' | 'failing' | 'resetting' | { readonly respondsAfterMs: number };

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

export class Receiver implements AsyncDisposable {
  readonly behaviour: Behaviour;
  readonly arrivals: Arrival[] = [];
  readonly #server: Server;

  private constructor(manner: Behaviour) {
    this.behaviour = manner;
    this.#server = createServer((request, response) => {
      let text = '';
      request.setEncoding('utf8').on('data', (chunk) => (text += chunk));
      request.on('end', () => {
        const { pet } = (JSON.parse(text) as { data: { pet: { id: number; name: string } } }).data;
        const isFaulty = (manner === 'failing' || manner === 'resetting') && Math.random() < faultRate;
        const eventId = String(request.headers['webhook-id']);
        this.arrivals.push({ eventId, petId: pet.id, note: pet.name, atMs: Date.now(), isAccepted: !isFaulty });
        const respond = () => response.writeHead(isFaulty ? 500 : 204).end();
        if (isFaulty && manner === 'resetting') request.socket.resetAndDestroy();
        else if (typeof manner === 'object') setTimeout(respond, manner.respondsAfterMs).unref();
        else if (manner === 'slow') setTimeout(respond, slowMs);
        else respond();
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
