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

/** Endpoints of one client that have something to send, in two queues: `quick` and `slow`. */
interface Client {
  readonly id: bigint;
  readonly queues: { readonly quick: Endpoint[]; readonly slow: Endpoint[] };
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
 * Invariants: an endpoint is queued at most once. `#queued` says in which queue; one that has become slow, or quick, may be in the other
 * one too, where it is ignored. A client whose queue of a kind has an endpoint is in the ring of that kind, or in `full`.
 */
export class Shares {
  readonly #clients = new Map<bigint, Client>();
  readonly #rings: Record<Kind, Set<Client>> = { quick: new Set(), slow: new Set() };
  /** Clients that are at their bound. They are in no ring until one of their requests ends. */
  readonly #full: Record<Kind, Set<Client>> = { quick: new Set(), slow: new Set() };
  readonly #queued = new Map<Endpoint, Kind>();
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
    if (this.#queued.get(endpoint) === kind) return;
    const client = this.#clientOf(endpoint.clientId);
    client.queues[kind].push(endpoint);
    this.#queued.set(endpoint, kind);
    this.#rings[kind].add(client);
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
    this.#forget(client);
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
    const ring = this.#rings[kind];
    // A client that is added again while this runs is looked at again, with its next endpoint.
    for (const client of ring) {
      if (this.#inFlight[kind] >= (kind === 'quick' ? bounds.quickMax : bounds.slowMax)) return undefined;
      ring.delete(client);
      if (client.inFlight >= bounds.ofClientMax || (kind === 'slow' && client.slowInFlight >= bounds.slowOfClientMax)) {
        this.#full[kind].add(client);
        continue;
      }
      const queue = client.queues[kind];
      const endpoint = queue.shift();
      if (queue.length > 0) ring.add(client);
      else this.#forget(client);
      if (!endpoint || this.#queued.get(endpoint) !== kind) continue;
      this.#queued.delete(endpoint);
      const origin = client.origins.get(endpoint.origin);
      // It may have become slow, or quick, since it was queued.
      if (kindOf(endpoint) !== kind) this.add(endpoint);
      else if (origin && origin.inFlight >= bounds.ofClientAtOriginMax) origin.waiting.add(endpoint);
      else return endpoint;
    }
    return undefined;
  }

  /** Forgets a client that has nothing in flight or queued. */
  #forget(client: Client): void {
    const { inFlight, queues } = client;
    if (inFlight === 0 && queues.quick.length === 0 && queues.slow.length === 0) this.#clients.delete(client.id);
  }

  #count({ client, isSlow }: Ticket, by: 1 | -1): void {
    this.#inFlight[isSlow ? 'slow' : 'quick'] += by;
    client.inFlight += by;
    if (isSlow) client.slowInFlight += by;
    if (by > 0) return;
    for (const kind of ['quick', 'slow'] as const) if (this.#full[kind].delete(client)) this.#rings[kind].add(client);
  }

  #clientOf(id: bigint): Client {
    const known = this.#clients.get(id);
    if (known) return known;
    const client = { id, queues: { quick: [], slow: [] }, origins: new Map(), inFlight: 0, slowInFlight: 0 };
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
