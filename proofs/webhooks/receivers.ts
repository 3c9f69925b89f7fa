// Partners' servers, real ones: quick, slow, failing, and some that hang up.
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';

export type Manner = 'quick' | 'slow' | 'failing' | 'resetting' | { readonly answersAfterMs: number };

export interface Arrival {
  readonly eventId: string;
  readonly petId: number;
  /** What the proof put into the animal's name. */
  readonly note: string;
  readonly atMs: number;
  /** Answered with 2xx. */
  readonly isAccepted: boolean;
}

const slowMs = 25;
/** Of the requests at one that fails or resets. */
const faultRate = 0.2;

export class Receiver implements AsyncDisposable {
  readonly manner: Manner;
  readonly arrivals: Arrival[] = [];
  readonly #server: Server;

  private constructor(manner: Manner) {
    this.manner = manner;
    this.#server = createServer((request, response) => {
      let text = '';
      request.setEncoding('utf8').on('data', (chunk) => (text += chunk));
      request.on('end', () => {
        const { pet } = (JSON.parse(text) as { data: { pet: { id: number; name: string } } }).data;
        const isFaulty = (manner === 'failing' || manner === 'resetting') && Math.random() < faultRate;
        const eventId = String(request.headers['webhook-id']);
        this.arrivals.push({ eventId, petId: pet.id, note: pet.name, atMs: Date.now(), isAccepted: !isFaulty });
        const answer = () => response.writeHead(isFaulty ? 500 : 204).end();
        if (isFaulty && manner === 'resetting') request.socket.resetAndDestroy();
        else if (typeof manner === 'object') setTimeout(answer, manner.answersAfterMs).unref();
        else if (manner === 'slow') setTimeout(answer, slowMs);
        else answer();
      });
      request.on('error', () => {});
    });
  }

  static async open(manner: Manner): Promise<Receiver> {
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
