// A store that keeps its promises, simulated on a virtual clock, and the history that its clients record. For tests of the checker.
import {
  type AnimalValue,
  type Arrival,
  type Attempt,
  type Channel,
  type ConnectionSample,
  digestOfEvent,
  type EventFact,
  type Facts,
  type History,
  type Operation,
  type OrderFact,
  type Outcome,
} from '../history.ts';

export interface SimulatedSize {
  readonly seed: number;
  readonly operations: number;
  readonly perSecond: number;
  readonly animals: number;
  /** The share of writes whose response is lost. Half of these are applied, some of them long after. */
  readonly lostShare: number;
  readonly endpoints: number;
}

export interface Simulated {
  readonly history: History;
  readonly facts: Facts;
  readonly connections: { readonly samples: readonly ConnectionSample[]; readonly countMax: number; readonly probesMax: number };
}

interface SimulatedAnimal {
  readonly id: number;
  readonly token: string;
  value: AnimalValue;
  isRemoved: boolean;
  changes: number;
  order: (OrderFact & { readonly token: string }) | undefined;
}

interface Asked {
  /** As it is recorded, without its attempt. */
  readonly operation: { readonly kind: Operation['kind']; readonly [field: string]: unknown };
  /** What happens when the store gets to the request. `seen` is what only a response tells. */
  apply(): { readonly status: number; readonly code?: string; readonly seen?: object };
}

const latencyMsMax = 60;
const lateMsMax = 2_000;
const petClientId = null;
const clientId = 7;
const limits = { perMinute: 240, perDay: 10_000 };

export function simulate(size: SimulatedSize): Simulated {
  return new Simulation(size).run();
}

class Simulation {
  readonly #size: SimulatedSize;
  readonly #animals: SimulatedAnimal[] = [];
  readonly #orders: OrderFact[] = [];
  readonly #events: EventFact[] = [];
  readonly #operations: Operation[] = [];
  /** What is due, the latest first. */
  readonly #due: { readonly atMs: number; readonly run: () => void }[] = [];
  #random: number;

  constructor(size: SimulatedSize) {
    this.#size = size;
    this.#random = size.seed | 0 || 1;
  }

  run(): Simulated {
    const { operations, perSecond, animals } = this.#size;
    for (let i = 0; i < animals; i += 1) this.#begin(i, i, this.#create(i));
    this.#runUntil(animals + 2 * latencyMsMax);
    for (let i = animals; i < operations; i += 1) {
      const atMs = animals + 2 * latencyMsMax + ((i - animals) * 1_000) / perSecond;
      this.#runUntil(atMs);
      this.#begin(i, atMs, this.#choose(i));
    }
    this.#runUntil(Infinity);
    const endMs = Math.max(...this.#operations.map(({ attempts }) => attempts.at(-1)?.endMs ?? 0)) + 2 * lateMsMax;
    return {
      history: { load: undefined, ...this.#clients(endMs), operations: this.#operations, ...this.#channels() },
      facts: {
        readAtMs: endMs,
        animals: this.#animals.map(({ id, value, isRemoved }) => ({ id, ...value, isRemoved })),
        orders: this.#orders,
        events: this.#events,
        unpublished: [],
      },
      connections: { samples: [40, 44, 43].map((count, i) => ({ atMs: 1_000 * i, count, probes: 4 })), countMax: 44, probesMax: 8 },
    };
  }

  #begin(id: number, beginMs: number, { operation, apply }: Asked): void {
    const isRead = operation.kind === 'read' || operation.kind === 'list';
    const endMs = beginMs + 1 + this.#below(latencyMsMax);
    const isLost = !isRead && this.#chance(this.#size.lostShare);
    const isApplied = !isLost || this.#chance(0.5);
    const isLate = isLost && this.#chance(0.3);
    const atMs = beginMs + (isLate ? this.#below(lateMsMax) : (this.#below(1_000) / 1_000) * (endMs - beginMs));
    const record = (status: number, code: string | undefined, seen: object | undefined) => {
      const outcome: Outcome = isLost ? 'unknown' : isRead || status < 300 ? 'ok' : 'failed';
      const attempt: Attempt = { process: id % 2, beginMs, endMs, status, ...(code !== undefined && { code }), outcome };
      this.#operations.push({ id, ...operation, ...seen, attempts: [attempt], outcome } as unknown as Operation);
    };
    this.#at(atMs, () => {
      const result = isApplied ? apply() : undefined;
      if (isLost) record(503, 'unavailable', undefined);
      else if (result) record(result.status, result.code, result.seen);
    });
  }

  #choose(number: number): Asked {
    // Most requests are for the first ones, which meet many others.
    const isOfFirst = this.#chance(0.7);
    const animal = this.#animals[this.#below(isOfFirst ? this.#size.animals : this.#animals.length)];
    const dice = this.#below(100);
    if (!animal || dice < 7) return this.#create(number);
    const { id: petId } = animal;
    if (dice < 40) return this.#read(petId);
    if (dice < 75) return this.#list();
    if (dice < 88) return this.#change(petId, animal.value);
    if (dice < 89 && !isOfFirst) return this.#remove(petId, animal.value);
    return animal.order ? this.#cancel(petId, animal.order) : this.#place(petId, number);
  }

  #create(number: number): Asked {
    const token = `s-${number}`;
    const asked = { name: `${token}.0`, categoryId: 1, status: 'available' };
    const apply = () => {
      const id = this.#animals.length + 1;
      this.#animals.push({ id, token, value: asked, isRemoved: false, changes: 0, order: undefined });
      this.#emit('pet.created', id, { pet: { id, ...asked } });
      return { status: 201, seen: { petId: id } };
    };
    return { operation: { kind: 'create', token, asked } as const, apply };
  }

  #change(petId: number, expected: AnimalValue): Asked {
    const known = this.#animal(petId);
    known.changes += 1;
    const asked = { ...expected, name: `${known.token}.${known.changes}` };
    const apply = () => {
      const animal = this.#animal(petId);
      if (animal.isRemoved) return { status: 404, code: 'pet_not_found' };
      if (!isSame(animal.value, expected)) return { status: 412, code: 'precondition_failed' };
      animal.value = asked;
      this.#emit('pet.updated', petId, { pet: { id: petId, ...asked } });
      return { status: 200 };
    };
    return { operation: { kind: 'change', petId, expected, asked } as const, apply };
  }

  #read(petId: number): Asked {
    const apply = () => ({ status: this.#shown(petId) ? 200 : 404, seen: { value: this.#shown(petId) ?? null } });
    return { operation: { kind: 'read', petId } as const, apply };
  }

  #remove(petId: number, expected: AnimalValue): Asked {
    const apply = () => {
      const animal = this.#animal(petId);
      if (animal.isRemoved) return { status: 404, code: 'pet_not_found' };
      if (!isSame(animal.value, expected)) return { status: 412, code: 'precondition_failed' };
      if (animal.order) return { status: 409, code: 'pet_has_open_order' };
      animal.isRemoved = true;
      this.#emit('pet.removed', petId, { pet: { id: petId, ...animal.value } });
      return { status: 204 };
    };
    return { operation: { kind: 'remove', petId, expected } as const, apply };
  }

  #place(petId: number, number: number): Asked {
    const orderToken = `o-${number}`;
    const apply = () => {
      const animal = this.#animal(petId);
      if (animal.isRemoved) return { status: 404, code: 'pet_not_found' };
      if (animal.value.status !== 'available') return { status: 409, code: 'pet_not_available' };
      const order = { id: 1_000 + this.#orders.length, petId, clientId, status: 'placed', adopterEmail: `${orderToken}@example.org` };
      this.#orders.push(order);
      animal.order = { ...order, token: orderToken };
      this.#moveTo(animal, 'pending');
      this.#emit('order.placed', petId, { order: { id: order.id, petId } }, clientId);
      return { status: 201, seen: { orderId: order.id } };
    };
    return { operation: { kind: 'place', petId, orderToken, clientId } as const, apply };
  }

  #cancel(petId: number, order: NonNullable<SimulatedAnimal['order']>): Asked {
    const apply = () => {
      const index = this.#orders.findIndex(({ id }) => id === order.id);
      if (this.#orders[index]?.status !== 'placed') return { status: 409, code: 'order_state_conflict' };
      this.#orders[index] = { ...this.#orders[index], status: 'cancelled' };
      const animal = this.#animal(petId);
      animal.order = undefined;
      this.#moveTo(animal, 'available');
      this.#emit('order.cancelled', petId, { order: { id: order.id, petId } }, clientId);
      return { status: 200 };
    };
    return { operation: { kind: 'act', action: 'cancel', petId, orderToken: order.token, orderId: order.id } as const, apply };
  }

  #list(): Asked {
    const from = this.#below(Math.max(this.#size.animals - 5, 1));
    const petIds = this.#animals.slice(from, from + 5).map(({ id }) => id);
    const status = this.#chance(0.5) ? 'available' : undefined;
    const apply = () => {
      const values = petIds.flatMap((id) => {
        const value = this.#shown(id);
        return value && (status === undefined || value.status === status) ? [{ id, ...value }] : [];
      });
      return { status: 200, seen: { values } };
    };
    return { operation: { kind: 'list', petIds, ...(status !== undefined && { status }) } as const, apply };
  }

  #moveTo(animal: SimulatedAnimal, status: string): void {
    const previousStatus = animal.value.status;
    animal.value = { ...animal.value, status };
    this.#emit('pet.status_changed', animal.id, { pet: { id: animal.id, ...animal.value }, previousStatus });
  }

  #emit(type: string, petId: number, data: object, client: number | null = petClientId): void {
    this.#events.push({ position: this.#events.length + 1, type, petId, clientId: client, data: JSON.stringify(data) });
  }

  #animal(petId: number): SimulatedAnimal {
    const animal = this.#animals[petId - 1];
    if (!animal) throw new Error(`there is no animal ${petId}`);
    return animal;
  }

  #shown(petId: number): AnimalValue | undefined {
    const { value, isRemoved } = this.#animal(petId);
    return isRemoved ? undefined : value;
  }

  /** In order, and at endpoints some events twice. */
  #channels(): Pick<History, 'channels' | 'arrivals' | 'restarts'> {
    const streams = Array.from({ length: 4 }, (_, index): Channel => {
      return { kind: 'stream', index, clientId, isStaff: index % 2 === 0, types: [] };
    });
    const endpoints = Array.from({ length: this.#size.endpoints }, (_, index): Channel => {
      return { kind: 'endpoint', index, clientId: index % 2 ? clientId : 8, isStaff: false, types: index % 4 === 3 ? ['pet.created'] : [] };
    });
    const channels = [...streams, ...endpoints];
    const arrivals = channels.flatMap((channel) =>
      this.#events.flatMap((event): Arrival[] => {
        const isVisible = channel.isStaff || event.clientId === null || event.clientId === channel.clientId;
        if (!isVisible || (channel.types.length > 0 && !channel.types.includes(event.type))) return [];
        const digest = digestOfEvent(event.type, event.data);
        const { kind, index } = channel;
        const arrival: Arrival = { kind: 'arrival', channel: { kind, index }, atMs: event.position, position: event.position, digest };
        return kind === 'endpoint' && this.#chance(0.01) ? [arrival, arrival] : [arrival];
      }),
    );
    return { channels, arrivals, restarts: [] };
  }

  /** Two keys, one of which is revoked halfway, and a client that reaches its limit in each of two minutes. */
  #clients(endMs: number): Pick<History, 'revocations' | 'keyUses' | 'limitedUses' | 'limits'> {
    const revokedAtMs = endMs / 2;
    const attemptAt = (beginMs: number, status: number): Attempt => {
      return { process: 0, beginMs, endMs: beginMs + 5, status, outcome: status === 200 ? 'ok' : 'failed' };
    };
    const keyUses = [1, 2].flatMap((keyId) =>
      Array.from({ length: 20 }, (_, i) => {
        const beginMs = (endMs / 20) * i + 1;
        const isRevoked = keyId === 1 && beginMs > revokedAtMs;
        return { kind: 'key-use', keyId, attempt: attemptAt(beginMs, isRevoked ? 401 : 200) } as const;
      }),
    );
    const limitedUses = Array.from({ length: 600 }, (_, i) => {
      const number = i % 300;
      const admitted = Math.min(number + 1, limits.perMinute) + (i < 300 ? 0 : limits.perMinute);
      return {
        kind: 'limited-use',
        attempt: attemptAt(100 * i, number < limits.perMinute ? 200 : 429),
        resetSeconds: i < 300 ? 60 : 120,
        dayRemaining: limits.perDay - admitted,
      } as const;
    });
    const revocations = [{ kind: 'revocation', keyId: 1, beginMs: revokedAtMs - 10, endMs: revokedAtMs, outcome: 'ok' }] as const;
    return { revocations, keyUses, limitedUses, limits };
  }

  #at(atMs: number, run: () => void): void {
    let [low, high] = [0, this.#due.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((this.#due[middle]?.atMs ?? 0) > atMs) low = middle + 1;
      else high = middle;
    }
    this.#due.splice(low, 0, { atMs, run });
  }

  #runUntil(atMs: number): void {
    for (let next = this.#due.at(-1); next && next.atMs < atMs; next = this.#due.at(-1)) {
      this.#due.pop();
      next.run();
    }
  }

  #chance(share: number): boolean {
    return this.#below(1_000) < 1_000 * share;
  }

  /** xorshift32: the same seed makes the same history. */
  #below(bound: number): number {
    this.#random ^= this.#random << 13;
    this.#random ^= this.#random >>> 17;
    this.#random ^= this.#random << 5;
    return (this.#random >>> 0) % Math.max(bound, 1);
  }
}

const isSame = (a: AnimalValue, b: AnimalValue) => a.name === b.name && a.categoryId === b.categoryId && a.status === b.status;
