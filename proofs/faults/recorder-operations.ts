// The operations of a recorded history. Each is sent, retried if it has an Idempotency-Key, and written to the file.
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { AnimalValue, Attempt, Operation, OrderAction, Outcome } from './history.ts';
import type { ClientKey } from './recorder.ts';
import type { Animals, KnownAnimal, KnownOrder } from './recorder-animals.ts';
import type { HistoryFile } from './recorder-file.ts';
import type { Asked, Reply, Requests } from './recorder-requests.ts';

export interface OperationsParts {
  readonly requests: Requests;
  readonly file: HistoryFile;
  readonly animals: Animals;
  readonly manager: ClientKey;
  readonly partners: readonly ClientKey[];
  /** After it, nothing is sent again. */
  readonly isOver: () => boolean;
}

const retryMs = { min: 100, max: 400 };
const categories = 10;
const statusAfter = { approve: 'approved', complete: 'completed', cancel: undefined, return: undefined } as const;

export class Operations {
  readonly #parts: OperationsParts;
  /** In all tokens, so that histories on one database don't meet. */
  readonly #run = randomUUID().slice(0, 6);
  #count = 0;

  constructor(parts: OperationsParts) {
    this.#parts = parts;
  }

  async create(): Promise<number | undefined> {
    const { manager, animals } = this.#parts;
    const id = this.#nextId();
    const token = `${this.#run}-${id}`;
    const asked: AnimalValue = { name: `${token}.0`, categoryId: this.#category(), status: 'available' };
    const { attempts, outcome, last } = await this.#sendKeyed({ method: 'POST', path: '/pets', key: manager.key, body: asked });
    const petId = outcome === 'ok' ? Number((last.json as { id: number }).id) : undefined;
    this.#add({ kind: 'create', id, token, asked, attempts, outcome, ...(petId !== undefined && { petId }) });
    if (petId === undefined) return undefined;
    const seen = { value: asked, etag: String(last.headers.etag) };
    animals.add({ petId, token, seen, order: undefined, changes: 0, writesInFlight: 0 });
    return petId;
  }

  /** Sometimes twice with the same ETag, to two processes: one of them must fail. */
  async change(animal: KnownAnimal): Promise<void> {
    const seen = animal.seen ?? (await this.#refresh(animal));
    if (!seen) return;
    const isTwice = Math.random() < 0.1;
    await Promise.all(Array.from({ length: isTwice ? 2 : 1 }, () => this.#changeOnce(animal, seen)));
  }

  async remove(animal: KnownAnimal): Promise<void> {
    const { manager, requests, animals } = this.#parts;
    const seen = animal.seen ?? (await this.#refresh(animal));
    if (seen?.value.status !== 'available' || animal.order) return;
    const id = this.#nextId();
    const asked = { method: 'DELETE', path: `/pets/${animal.petId}`, key: manager.key, headers: { 'if-match': seen.etag } };
    const { attempt } = await requests.send(asked);
    this.#add({ kind: 'remove', id, petId: animal.petId, expected: seen.value, attempts: [attempt], outcome: attempt.outcome });
    animal.seen = undefined;
    if (attempt.outcome !== 'failed') animals.drop(animal);
  }

  async place(animal: KnownAnimal): Promise<void> {
    const { partners, animals } = this.#parts;
    const id = this.#nextId();
    const orderToken = `${this.#run}-${id}`;
    const partner = Math.floor(Math.random() * partners.length);
    const { clientId = 0, key = '' } = partners[partner] ?? {};
    const body = { petId: animal.petId, adopter: { name: 'Ada Lovelace', email: `${orderToken}@example.org` } };
    animal.seen = undefined;
    const { attempts, outcome, last } = await this.#sendKeyed({ method: 'POST', path: '/store/orders', key, body });
    const orderId = outcome === 'ok' ? Number((last.json as { id: number }).id) : undefined;
    this.#add({
      kind: 'place',
      id,
      petId: animal.petId,
      orderToken,
      clientId,
      attempts,
      outcome,
      ...(orderId !== undefined && { orderId }),
    });
    animal.seen = undefined;
    if (orderId !== undefined) animal.order = { token: orderToken, orderId, partner, status: 'placed' };
    else if (outcome === 'unknown') animals.drop(animal);
  }

  async act(animal: KnownAnimal, order: KnownOrder): Promise<void> {
    const { manager, partners, animals } = this.#parts;
    const id = this.#nextId();
    const action = this.#actionFor(order);
    const key = action === 'cancel' ? (partners[order.partner]?.key ?? '') : manager.key;
    const { attempts, outcome } = await this.#sendKeyed({ method: 'POST', path: `/store/orders/${order.orderId}/${action}`, key });
    this.#add({ kind: 'act', id, action, petId: animal.petId, orderToken: order.token, orderId: order.orderId, attempts, outcome });
    animal.seen = undefined;
    const status = statusAfter[action];
    if (outcome === 'unknown') animals.drop(animal);
    else if (outcome === 'ok' && status === undefined) animal.order = undefined;
    else if (outcome === 'ok' && status !== undefined && animal.order === order) order.status = status;
  }

  async read(petId: number): Promise<Reply> {
    const { partners, requests } = this.#parts;
    const id = this.#nextId();
    const reply = await requests.send({ method: 'GET', path: `/pets/${petId}`, key: partners[0]?.key ?? '' });
    const { attempt, json } = reply;
    const isReplied = attempt.status === 200 || attempt.status === 404;
    const value = attempt.status === 200 ? animalIn(json) : null;
    this.#add({
      kind: 'read',
      id,
      petId,
      attempts: [attempt],
      outcome: isReplied ? 'ok' : 'failed',
      ...(isReplied && { value }),
    });
    return reply;
  }

  async list(petIds: readonly number[], status: string | undefined): Promise<void> {
    const { partners, requests } = this.#parts;
    const id = this.#nextId();
    const query = [...petIds.map((petId) => `id=${petId}`), ...(status === undefined ? [] : [`status=${status}`])].join('&');
    const { attempt, json } = await requests.send({ method: 'GET', path: `/pets?${query}`, key: partners[1]?.key ?? '' });
    const isRead = attempt.status === 200;
    this.#add({
      kind: 'list',
      id,
      petIds,
      ...(status !== undefined && { status }),
      attempts: [attempt],
      outcome: isRead ? 'ok' : 'failed',
      ...(isRead && { values: (json as { id: number }[]).map((pet) => ({ id: pet.id, ...animalIn(pet) })) }),
    });
  }

  async #changeOnce(animal: KnownAnimal, { value, etag }: NonNullable<KnownAnimal['seen']>): Promise<void> {
    const { manager, requests } = this.#parts;
    const id = this.#nextId();
    animal.changes += 1;
    const asked: AnimalValue = { ...value, ...this.#newStatus(animal, value), name: `${animal.token}.${animal.changes}` };
    const path = `/pets/${animal.petId}`;
    const { attempt, json, headers } = await requests.send({
      method: 'PATCH',
      path,
      key: manager.key,
      body: asked,
      headers: { 'if-match': etag },
    });
    this.#add({ kind: 'change', id, petId: animal.petId, expected: value, asked, attempts: [attempt], outcome: attempt.outcome });
    animal.seen = attempt.outcome === 'ok' ? { value: animalIn(json), etag: String(headers.etag) } : undefined;
  }

  /** A category or a status in some of the changes. The status of an animal with an order is the order's. */
  #newStatus(animal: KnownAnimal, { status }: AnimalValue): Partial<AnimalValue> {
    if (Math.random() < 0.2) return { categoryId: this.#category() };
    if (animal.order || status === 'pending' || animal.writesInFlight > 1) return {};
    if (status === 'sold') return { status: 'available' };
    return Math.random() < 0.05 ? { status: 'sold' } : {};
  }

  async #refresh(animal: KnownAnimal): Promise<KnownAnimal['seen']> {
    const { attempt, json, headers } = await this.read(animal.petId);
    // After a failover that has lost it, its id may be another animal's.
    const isThere = attempt.status === 200 && animalIn(json).name.startsWith(`${animal.token}.`);
    if (attempt.status === 404 || (attempt.status === 200 && !isThere)) this.#parts.animals.drop(animal);
    animal.seen = isThere ? { value: animalIn(json), etag: String(headers.etag) } : undefined;
    return animal.seen;
  }

  #actionFor({ status }: KnownOrder): OrderAction {
    const isFirst = Math.random() < 0.5;
    if (status === 'completed') return 'return';
    if (status === 'approved') return isFirst ? 'complete' : 'cancel';
    return isFirst ? 'approve' : 'cancel';
  }

  /** Until the outcome is certain, or the history is over. Processes take turns. */
  async #sendKeyed(asked: Asked): Promise<{ attempts: Attempt[]; outcome: Outcome; last: Reply }> {
    const { requests, isOver } = this.#parts;
    const attempts: Attempt[] = [];
    const keyed = { ...asked, headers: { 'idempotency-key': randomUUID() } };
    for (;;) {
      const last = await requests.send(keyed);
      attempts.push(last.attempt);
      const { outcome, status } = last.attempt;
      // An earlier attempt may still be applied after a later one has failed.
      const isRejected = outcome === 'failed' && status !== 0 && status !== 429;
      const overall = outcome === 'ok' ? 'ok' : attempts.some((one) => one.outcome === 'unknown') ? 'unknown' : 'failed';
      if (outcome === 'ok' || isRejected || isOver()) return { attempts, outcome: overall, last };
      await sleep(retryMs.min + Math.random() * (retryMs.max - retryMs.min));
    }
  }

  #category(): number {
    return 1 + Math.floor(Math.random() * categories);
  }

  #nextId(): number {
    this.#count += 1;
    return this.#count;
  }

  #add(operation: Operation): void {
    this.#parts.file.add(operation);
  }
}

function animalIn(json: unknown): AnimalValue {
  const { name, categoryId, status } = json as AnimalValue;
  return { name, categoryId, status };
}
