// HTTP servers of partners: quick, slow, failing, some that reset connections, and some that never finish a response.
import type { Socket } from 'node:net';
import { serveLocally } from '../../testkit/local-server.ts';

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

export interface Receiver extends AsyncDisposable {
  readonly behaviour: Behaviour;
  readonly url: string;
  /** Of events. A test is accepted at once, and not recorded. */
  readonly arrivals: readonly Arrival[];
  /** The ids of the events that were accepted. */
  readonly accepted: ReadonlySet<string>;
}

export async function openReceiver(behaviour: Behaviour): Promise<Receiver> {
  const arrivals: Arrival[] = [];
  const accepted = new Set<string>();
  const server = await serveLocally(({ headers, socket }, response, text) => {
    const { pet } = (JSON.parse(text) as { data: { pet?: { id: number; name: string } } }).data;
    const respond = (status = 204) => response.writeHead(status).end();
    if (!pet) {
      respond();
      return;
    }
    const mayFail = behaviour === 'failing' || behaviour === 'resetting';
    const isFaulty = behaviour === 'always resetting' || (mayFail && Math.random() < faultRate);
    const eventId = String(headers['webhook-id']);
    arrivals.push({ eventId, petId: pet.id, note: pet.name, atMs: Date.now(), isAccepted: !isFaulty });
    if (!isFaulty) accepted.add(eventId);
    if (isFaulty && behaviour !== 'failing') socket.resetAndDestroy();
    else if (behaviour === 'trickling') trickle(socket, arrivals.length % 2 === 0);
    else if (typeof behaviour === 'object') setTimeout(respond, behaviour.respondsAfterMs).unref();
    else if (behaviour === 'slow') setTimeout(respond, slowMs);
    else respond(isFaulty ? 500 : 204);
  });
  return { ...server, url: `${server.origin}/hooks`, behaviour, arrivals, accepted };
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
