// The endpoints of a store that is upgraded, and the events that are written meanwhile.
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { queryStore } from '../../testkit/adopters.ts';
import type { Key, Store } from '../../testkit/store.ts';

export interface WrittenEvent {
  readonly number: number;
  readonly petId: number;
  readonly type: string;
  /** Null: an event of an animal. */
  readonly clientId: number | null;
  readonly era: Era;
}

/**
 * - history: before some endpoints are added.
 * - gap: while the endpoint with the longest queue is disabled.
 * - meanwhile: while another endpoint is disabled and a client suspended, from before the migration to after it.
 */
export type Era = 'history' | 'before' | 'gap' | 'meanwhile' | 'after';

interface Arrival {
  readonly number: number;
  readonly petId: number;
  readonly isAccepted: boolean;
}

/** The server of a partner. Its behaviour may change. */
export class SwitchedReceiver implements AsyncDisposable {
  isUp = true;
  respondsAfterMs = 0;
  /** Rejects the first attempt of every nth event. */
  rejectsEvery = Infinity;
  readonly arrivals: Arrival[] = [];
  /** The ids of the tests. */
  readonly tests = new Set<string>();
  readonly #server: Server;
  readonly #rejected = new Set<number>();
  readonly #waiting = new Set<() => void>();

  private constructor() {
    this.#server = createServer((request, response) => {
      let text = '';
      request.setEncoding('utf8').on('data', (chunk) => (text += chunk));
      request.on('end', () => {
        const isAccepted = this.#receive(String(request.headers['webhook-id']), text);
        const respond = () => {
          this.#waiting.delete(respond);
          if (!response.headersSent) response.writeHead(isAccepted ? 204 : 500).end();
        };
        this.#waiting.add(respond);
        setTimeout(respond, this.respondsAfterMs).unref();
      });
      request.on('error', () => {});
    });
  }

  static async open(behaviour: Partial<Pick<SwitchedReceiver, 'isUp' | 'respondsAfterMs' | 'rejectsEvery'>>): Promise<SwitchedReceiver> {
    const receiver = Object.assign(new SwitchedReceiver(), behaviour);
    await new Promise<void>((resolve) => receiver.#server.listen(0, '127.0.0.1', resolve));
    return receiver;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}/hooks`;
  }

  /** Responds at once, also to the requests that wait for it. */
  hurry(): void {
    this.respondsAfterMs = 0;
    for (const respond of this.#waiting) respond();
  }

  #receive(id: string, text: string): boolean {
    const { pet } = (JSON.parse(text) as { data: { pet?: { id: number; name: string } } }).data;
    if (!pet) {
      this.tests.add(id);
      return this.isUp;
    }
    const number = Number(pet.name);
    const isFirstRejected = number % this.rejectsEvery === 0 && !this.#rejected.has(number);
    this.#rejected.add(number);
    const isAccepted = this.isUp && !isFirstRejected;
    this.arrivals.push({ number, petId: pet.id, isAccepted });
    return isAccepted;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }
}

export interface Endpoint {
  readonly name: string;
  readonly id: number;
  readonly key: Key;
  readonly receiver: SwitchedReceiver;
  wants(event: WrittenEvent): boolean;
}

const batch = 5;
const waitMs = 20;
const settleTriesMax = 1_500;

/** Writes events as every change does, the animals taking turns. The number of each event is its animal's name. */
export class EventWriter implements AsyncDisposable {
  readonly events: WrittenEvent[] = [];
  era: Era = 'history';
  /** Events that one endpoint only subscribes to. */
  readonly backlogType = 'pet.removed';
  readonly #store: Store;
  readonly #client: pg.Client;
  readonly #petIds: readonly number[];
  readonly #clientId: number;
  #isRunning = false;
  #running: Promise<void> | undefined;

  private constructor(store: Store, client: pg.Client, petIds: readonly number[], clientId: number) {
    this.#store = store;
    this.#client = client;
    this.#petIds = petIds;
    this.#clientId = clientId;
  }

  /** `clientId` is the client whose orders it writes events of. */
  static async open(store: Store, animals: number, clientId: number): Promise<EventWriter> {
    const client = new pg.Client({ connectionString: store.postgres.url });
    await client.connect();
    const pets = await client.query<{ id: number }>(
      `insert into pets (name, category_id, status) select 'Animal', 1, 'available' from generate_series(1, $1) returning id::int`,
      [animals],
    );
    const petIds = pets.rows.map(({ id }) => id);
    return new EventWriter(store, client, petIds, clientId);
  }

  async write(count: number, type?: string): Promise<void> {
    const events = Array.from({ length: count }, (_, i) => this.#next(this.events.length + i, type));
    await this.#client.query(
      `insert into outbox (type, pet_id, client_id, data)
        select type, pet_id, client_id, format('{"pet":{"id":%s,"name":"%s","categoryId":1,"status":"available"}}', pet_id, number)
          from unnest($1::text[], $2::bigint[], $3::bigint[], $4::int[]) as event (type, pet_id, client_id, number) order by number`,
      [
        events.map((event) => event.type),
        events.map(({ petId }) => petId),
        events.map(({ clientId }) => clientId),
        events.map(({ number }) => number),
      ],
    );
    this.events.push(...events);
  }

  /** Until `pause`. */
  start(perSecond: number): void {
    this.#isRunning = true;
    this.#running = (async () => {
      while (this.#isRunning) {
        await this.write(batch);
        await sleep((batch * 1_000) / perSecond);
      }
    })();
  }

  /** Everything that was written is published afterwards. */
  async pause(): Promise<void> {
    this.#isRunning = false;
    await this.#running;
    for (let tries = 0; await this.#isUnpublished(); tries += 1) {
      if (tries === settleTriesMax) throw new Error('events are not published');
      await sleep(waitMs);
    }
  }

  async #isUnpublished(): Promise<boolean> {
    const [row] = await queryStore<{ some: boolean }>(this.#store, 'select exists (select from outbox) as some');
    return row?.some ?? false;
  }

  #next(number: number, type: string | undefined): WrittenEvent {
    const petId = this.#petIds[number % this.#petIds.length] ?? 1;
    const chosen = type ?? typeOf(number);
    return { number, petId, type: chosen, clientId: chosen.startsWith('order.') ? this.#clientId : null, era: this.era };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isRunning = false;
    await this.#running?.catch(() => {});
    await this.#client.end();
  }
}

function typeOf(number: number): string {
  if (number % 10 === 3) return 'pet.status_changed';
  if (number % 20 === 7) return 'pet.created';
  return number % 20 === 15 ? 'order.placed' : 'pet.updated';
}
