import assert from 'node:assert/strict';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Endpoint } from '../../../src/changes/delivery/endpoint.ts';
import { bounds, Shares, type Ticket } from '../../../src/changes/delivery/shares.ts';
import { endpointOf } from './delivery-parts.ts';

interface Place {
  readonly client?: number;
  readonly host?: string;
}

const endpointAt = ({ client = 1, host = 'example.org' }: Place = {}) =>
  endpointOf({ clientId: BigInt(client), url: `https://${host}/hooks` });
const endpointsAt = (count: number, place: (i: number) => Place) => Array.from({ length: count }, (_, i) => endpointAt(place(i)));

function slowEndpoint(place?: Place): Endpoint {
  const endpoint = endpointAt(place);
  endpoint.noteSlow();
  return endpoint;
}

/** Starts a request for every endpoint whose turn it is, once each. */
function startAll(shares: Shares): Ticket[] {
  const tickets: Ticket[] = [];
  for (let endpoint = shares.next(); endpoint; endpoint = shares.next()) tickets.push(shares.start(endpoint));
  return tickets;
}

const idsOf = (tickets: readonly Ticket[]) => tickets.map(({ endpoint }) => endpoint.id);
const clientsOf = (tickets: readonly Ticket[]) => tickets.map(({ endpoint }) => Number(endpoint.clientId));

function sharesOf(endpoints: readonly Endpoint[]): Shares {
  const shares = new Shares();
  for (const endpoint of endpoints) shares.add(endpoint);
  return shares;
}

describe('Shares', () => {
  test('that are empty have no next endpoint', () => {
    expect(new Shares().next()).toBeUndefined();
  });

  test('give an endpoint one turn, however often it is added', () => {
    const endpoint = endpointAt();
    const shares = sharesOf([endpoint, endpoint, endpoint]);
    expect([shares.next(), shares.next()]).toEqual([endpoint, undefined]);
  });

  test('let clients take turns, whatever the number of their endpoints', () => {
    const many = endpointsAt(6, (i) => ({ client: 1, host: `h${i}.example` }));
    const few = [endpointAt({ client: 2 }), endpointAt({ client: 3 })];
    expect(clientsOf(startAll(sharesOf([...many, ...few])))).toEqual([1, 2, 3, 1, 1, 1, 1, 1]);
  });

  test('let the endpoints of a client take turns: one that is added again is the last', () => {
    const [first, second] = [endpointAt({ host: 'a.example' }), endpointAt({ host: 'b.example' })];
    const shares = sharesOf([first, second]);
    const turns: Array<Endpoint | undefined> = [];
    for (let i = 0; i < 4; i += 1) {
      const next = shares.next();
      turns.push(next);
      if (next) shares.add(next);
    }
    expect(turns).toEqual([first, second, first, second]);
  });

  test('start at most 32 requests of a client, and continue when one ends', () => {
    const own = endpointsAt(40, (i) => ({ host: `h${i}.example` }));
    const shares = sharesOf([...own, endpointAt({ client: 2 })]);
    const tickets = startAll(shares);
    expect(clientsOf(tickets).filter((client) => client === 1)).toHaveLength(bounds.ofClientMax);
    expect(clientsOf(tickets)).toContain(2);
    const [first] = tickets;
    if (first) shares.end(first);
    expect(idsOf(startAll(shares))).toEqual([own[32]?.id]);
  });

  test('start at most 8 requests of a client at one origin; other origins and other clients are not delayed', () => {
    const crowded = endpointsAt(12, () => ({ host: 'crowded.example' }));
    const others = [endpointAt({ host: 'quiet.example' }), endpointAt({ client: 2, host: 'crowded.example' })];
    const shares = sharesOf([...crowded, ...others]);
    const tickets = startAll(shares);
    expect(tickets).toHaveLength(bounds.ofClientAtOriginMax + 2);
    expect(idsOf(tickets)).toEqual(expect.arrayContaining(others.map(({ id }) => id)));
    for (const ticket of tickets) shares.end(ticket);
    expect(idsOf(startAll(shares))).toEqual(crowded.slice(8).map(({ id }) => id));
  });

  test('keep an endpoint that waits for its origin also if it is added again meanwhile', () => {
    const crowded = endpointsAt(9, () => ({}));
    const shares = sharesOf(crowded);
    const tickets = startAll(shares);
    const last = crowded[8];
    if (!last) throw new Error('no endpoint');
    shares.add(last);
    expect(startAll(shares)).toEqual([]);
    for (const ticket of tickets) shares.end(ticket);
    expect(idsOf(startAll(shares))).toEqual([last.id]);
  });

  test('start at most 256 requests to quick endpoints, and leave the slow ones their own 256', () => {
    const quick = endpointsAt(300, (i) => ({ client: i }));
    const shares = sharesOf(quick);
    for (let i = 0; i < 300; i += 1) shares.add(slowEndpoint({ client: 1_000 + i }));
    const tickets = startAll(shares);
    expect(tickets.filter(({ isSlow }) => !isSlow)).toHaveLength(bounds.quickMax);
    expect(tickets.filter(({ isSlow }) => isSlow)).toHaveLength(bounds.slowMax);
    expect(shares.inFlight).toBe(512);
    for (const ticket of tickets) shares.end(ticket);
    expect(startAll(shares)).toHaveLength(88);
  });

  test('start at most 4 requests to slow endpoints of a client; its quick ones are not delayed', () => {
    const quick = endpointAt({ host: 'quick.example' });
    const shares = sharesOf([...Array.from({ length: 6 }, (_, i) => slowEndpoint({ host: `s${i}.example` })), quick]);
    const tickets = startAll(shares);
    expect(tickets.filter(({ isSlow }) => isSlow)).toHaveLength(bounds.slowOfClientMax);
    expect(idsOf(tickets)).toContain(quick.id);
    for (const ticket of tickets) shares.end(ticket);
    expect(startAll(shares)).toHaveLength(2);
  });

  test('count a request that hangs as slow, so that others can start', () => {
    const shares = sharesOf(endpointsAt(256, (i) => ({ client: i })));
    const tickets = startAll(shares);
    const waiting = endpointAt({ client: 1_000 });
    shares.add(waiting);
    expect(shares.next()).toBeUndefined();
    shares.noteSlow(0);
    expect(tickets.every(({ isSlow, endpoint }) => isSlow && endpoint.isSlow)).toBe(true);
    expect(shares.next()).toBe(waiting);
    for (const ticket of tickets) shares.end(ticket);
    expect(shares.inFlight).toBe(0);
  });

  test('find an endpoint that has become quick since it was added, if there is no other', () => {
    const endpoint = slowEndpoint();
    const shares = sharesOf([endpoint]);
    for (let i = 0; i < 20; i += 1) endpoint.noteDuration(1);
    expect(shares.next()).toBe(endpoint);
  });

  test('move an endpoint that has become slow, or quick, since it was added', () => {
    const [becomesSlow, becomesQuick] = [endpointAt(), slowEndpoint({ client: 2 })];
    const shares = sharesOf([becomesSlow, becomesQuick]);
    becomesSlow.noteSlow();
    for (let i = 0; i < 20; i += 1) becomesQuick.noteDuration(1);
    const isSlow = new Map(startAll(shares).map((ticket) => [ticket.endpoint, ticket.isSlow]));
    expect([isSlow.get(becomesSlow), isSlow.get(becomesQuick)]).toEqual([true, false]);
  });

  test('count a request that ends twice once', () => {
    const shares = sharesOf([endpointAt()]);
    const [ticket] = startAll(shares);
    if (!ticket) throw new Error('nothing started');
    shares.end(ticket);
    shares.end(ticket);
    expect([shares.inFlight, ticket.endpoint.inFlight, ticket.client.inFlight]).toEqual([0, 0, 0]);
  });
});

interface Load {
  readonly clients: number;
  readonly endpoints: number;
  readonly hosts: number;
  readonly work: number;
}

// Endpoints with any amount of work, at any mixture of clients and hosts, quick or slow and changing.
test('Shares exceed no bound, forget no endpoint and leave nothing idle that could be sent', () => {
  const load: fc.Arbitrary<Load> = fc.record({
    clients: fc.integer({ min: 1, max: 60 }),
    endpoints: fc.integer({ min: 1, max: 250 }),
    hosts: fc.integer({ min: 1, max: 40 }),
    work: fc.integer({ min: 1, max: 8 }),
  });
  const steps = fc.array(fc.record({ kind: fc.constantFrom('end', 'hang', 'slow', 'quick', 'send'), n: fc.nat(1_000) }), { maxLength: 20 });
  const property = () =>
    fc.assert(
      fc.property(load, steps, fc.nat(), (shape, actions, seed) => new Model(shape, seed).run(actions)),
      { numRuns: 40 },
    );
  expect(property).not.toThrow();
});

class Model {
  readonly #shares = new Shares();
  readonly #tickets: Ticket[] = [];
  readonly #work = new Map<Endpoint, number>();

  constructor({ clients, endpoints, hosts, work }: Load, seed: number) {
    for (let i = 0; i < endpoints; i += 1) {
      const place = { client: ((i + 1) * (seed % 97) + i) % clients, host: `h${(i * 7 + seed) % hosts}.example` };
      const endpoint = i % 5 === seed % 5 ? slowEndpoint(place) : endpointAt(place);
      this.#work.set(endpoint, work);
      this.#shares.add(endpoint);
    }
  }

  run(actions: ReadonlyArray<{ kind: string; n: number }>): void {
    this.#send();
    for (const { kind, n } of actions) this.#do(kind, n);
    // Everything in flight ends again and again, until nothing is left.
    for (let rounds = 0; this.#tickets.length > 0; rounds += 1) {
      assert(rounds < 5_000, 'it does not end');
      for (const ticket of this.#tickets.splice(0)) this.#end(ticket);
      this.#send();
    }
    assert([...this.#work.values()].every((left) => left === 0));
    assert.equal(this.#shares.inFlight, 0);
  }

  #do(kind: string, n: number): void {
    const endpoints = [...this.#work.keys()];
    const endpoint = endpoints[n % endpoints.length];
    if (kind === 'end') for (const ticket of this.#tickets.splice(0, n % 40)) this.#end(ticket);
    else if (kind === 'hang') this.#shares.noteSlow(0);
    else if (kind === 'slow') endpoint?.noteSlow();
    else if (kind === 'quick' && endpoint) {
      for (let i = 0; i < 20; i += 1) endpoint.noteDuration(1);
      this.#shares.add(endpoint);
    }
    this.#send();
  }

  #end(ticket: Ticket): void {
    this.#shares.end(ticket);
    this.#shares.add(ticket.endpoint);
  }

  /** As the deliverer does it. */
  #send(): void {
    for (let endpoint = this.#shares.next(); endpoint; endpoint = this.#shares.next()) {
      const left = this.#work.get(endpoint) ?? 0;
      if (!endpoint.mayTake || left === 0) continue;
      this.#work.set(endpoint, left - 1);
      const isSlow = endpoint.isSlow;
      const { slow, slowOfClient } = this.#countsOf(endpoint);
      if (isSlow) assert(slow < bounds.slowMax && slowOfClient < bounds.slowOfClientMax);
      this.#tickets.push(this.#shares.start(endpoint));
      this.#shares.add(endpoint);
      const { quick, ofClient, atOrigin } = this.#countsOf(endpoint);
      assert(quick <= bounds.quickMax && ofClient <= bounds.ofClientMax && atOrigin <= bounds.ofClientAtOriginMax);
    }
    for (const [endpoint, left] of this.#work) if (left > 0) assert(!endpoint.mayTake || this.#isBounded(endpoint), 'an endpoint is idle');
  }

  #isBounded(endpoint: Endpoint): boolean {
    const { quick, slow, ofClient, slowOfClient, atOrigin } = this.#countsOf(endpoint);
    if (ofClient >= bounds.ofClientMax || atOrigin >= bounds.ofClientAtOriginMax) return true;
    return endpoint.isSlow ? slow >= bounds.slowMax || slowOfClient >= bounds.slowOfClientMax : quick >= bounds.quickMax;
  }

  #countsOf({ clientId, origin }: Endpoint) {
    const counts = { quick: 0, slow: 0, ofClient: 0, slowOfClient: 0, atOrigin: 0 };
    for (const { isSlow, endpoint } of this.#tickets) {
      counts[isSlow ? 'slow' : 'quick'] += 1;
      if (endpoint.clientId !== clientId) continue;
      counts.ofClient += 1;
      if (isSlow) counts.slowOfClient += 1;
      if (endpoint.origin === origin) counts.atOrigin += 1;
    }
    return counts;
  }
}
