import { FairQueue, type QueuePlace } from '../../platform/bounded/fair-turns.ts';
import type { Endpoint } from './endpoint.ts';

export const bounds = {
  /** In flight in one worker: requests to endpoints that respond quickly. */
  quickMax: 256,
  /** And to those that don't, or that have not responded for a second. They can't take the place of the others. */
  slowMax: 256,
  ofClientMax: 32,
  slowOfClientMax: 4,
  /** To one host and port. Per client: otherwise, on a shared host, one client would delay another. */
  ofClientAtOriginMax: 8,
} as const;

/** A request that is being prepared or in flight. */
export interface Ticket {
  readonly endpoint: Endpoint;
  readonly client: Client;
  readonly origin: Origin;
  readonly startedAtMs: number;
  isSlow: boolean;
}

/** A client with requests in flight. */
interface Client {
  readonly id: bigint;
  readonly origins: Map<string, Origin>;
  inFlight: number;
  slowInFlight: number;
}

interface Origin {
  readonly name: string;
  inFlight: number;
  /** Endpoints that wait for this origin. */
  readonly waiting: Set<Endpoint>;
}

type Kind = 'quick' | 'slow';

/**
 * Decides who sends next: clients take turns, and the endpoints of a client take turns.
 *
 * Requests to slow endpoints have their own budget, so that any number of endpoints that hang leave the quick ones' budget alone. A
 * request that was quick becomes slow when it has taken too long.
 *
 * Invariants: an endpoint is in one of the queues at most, and `#queued` says where. One that has become slow, or quick, moves to the
 * other queue when it is added again or when it is its turn. A client is in `#clients` exactly while a request of it is in flight.
 */
export class Shares {
  readonly #clients = new Map<bigint, Client>();
  /** By client. */
  readonly #queues: Record<Kind, FairQueue<bigint, Endpoint>> = { quick: new FairQueue(), slow: new FairQueue() };
  readonly #queued = new Map<Endpoint, { readonly kind: Kind; readonly place: QueuePlace<bigint, Endpoint> }>();
  readonly #tickets = new Set<Ticket>();
  readonly #inFlight: Record<Kind, number> = { quick: 0, slow: 0 };

  get inFlight(): number {
    return this.#tickets.size;
  }

  /** Endpoints that may have something to send. */
  get due(): number {
    return this.#queued.size;
  }

  /** Queues an endpoint that may have something to send. */
  add(endpoint: Endpoint): void {
    const kind = kindOf(endpoint);
    const queued = this.#queued.get(endpoint);
    if (queued?.kind === kind) return;
    if (queued) this.#queues[queued.kind].remove(queued.place);
    this.#queued.set(endpoint, { kind, place: this.#queues[kind].push(endpoint.clientId, endpoint) });
  }

  /** The endpoint whose turn it is; undefined if there is none, or no request may be started now. */
  next(): Endpoint | undefined {
    // Among the slow ones may be one that has become quick.
    return this.#nextOf('quick') ?? this.#nextOf('slow') ?? this.#nextOf('quick');
  }

  start(endpoint: Endpoint): Ticket {
    const client = this.#clientOf(endpoint.clientId);
    const origin = originOf(client, endpoint);
    const ticket = { endpoint, client, origin, startedAtMs: performance.now(), isSlow: endpoint.isSlow };
    this.#tickets.add(ticket);
    this.#count(ticket, 1);
    origin.inFlight += 1;
    endpoint.inFlight += 1;
    return ticket;
  }

  end(ticket: Ticket): void {
    if (!this.#tickets.delete(ticket)) return;
    this.#count(ticket, -1);
    ticket.endpoint.inFlight -= 1;
    ticket.origin.inFlight -= 1;
    const waiting = [...ticket.origin.waiting];
    ticket.origin.waiting.clear();
    for (const endpoint of waiting) this.add(endpoint);
    const { client, origin } = ticket;
    if (origin.inFlight === 0) client.origins.delete(origin.name);
    if (client.inFlight === 0) this.#clients.delete(client.id);
  }

  /** Moves the requests that have taken too long to the slow budget. */
  noteSlow(slowMs: number): void {
    const nowMs = performance.now();
    for (const ticket of this.#tickets) {
      if (ticket.isSlow || nowMs - ticket.startedAtMs < slowMs) continue;
      this.#count(ticket, -1);
      ticket.isSlow = true;
      this.#count(ticket, 1);
      ticket.endpoint.noteSlow();
    }
  }

  #nextOf(kind: Kind): Endpoint | undefined {
    while (this.#inFlight[kind] < (kind === 'quick' ? bounds.quickMax : bounds.slowMax)) {
      const endpoint = this.#queues[kind].shift((clientId) => !this.#isFull(clientId, kind));
      if (!endpoint) return undefined;
      this.#queued.delete(endpoint);
      const origin = this.#clients.get(endpoint.clientId)?.origins.get(endpoint.origin);
      // It may have become slow, or quick, since it was queued.
      if (kindOf(endpoint) !== kind) this.add(endpoint);
      else if (origin && origin.inFlight >= bounds.ofClientAtOriginMax) origin.waiting.add(endpoint);
      else return endpoint;
    }
    return undefined;
  }

  #isFull(clientId: bigint, kind: Kind): boolean {
    const { inFlight = 0, slowInFlight = 0 } = this.#clients.get(clientId) ?? {};
    return inFlight >= bounds.ofClientMax || (kind === 'slow' && slowInFlight >= bounds.slowOfClientMax);
  }

  #count({ client, isSlow }: Ticket, by: 1 | -1): void {
    this.#inFlight[isSlow ? 'slow' : 'quick'] += by;
    client.inFlight += by;
    if (isSlow) client.slowInFlight += by;
  }

  #clientOf(id: bigint): Client {
    const known = this.#clients.get(id);
    if (known) return known;
    const client = { id, origins: new Map(), inFlight: 0, slowInFlight: 0 };
    this.#clients.set(id, client);
    return client;
  }
}

const kindOf = (endpoint: Endpoint): Kind => (endpoint.isSlow ? 'slow' : 'quick');

function originOf(client: Client, endpoint: Endpoint): Origin {
  const name = endpoint.origin;
  const known = client.origins.get(name);
  if (known) return known;
  const origin = { name, inFlight: 0, waiting: new Set<Endpoint>() };
  client.origins.set(name, origin);
  return origin;
}
