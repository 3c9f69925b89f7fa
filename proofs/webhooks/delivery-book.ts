// Which deliveries must arrive, and which of them did.
import { queryStore } from '../../testkit/adopters.ts';
import { elsewhere, type ReceiverThread } from '../../testkit/arrival-log.ts';
import type { Store } from '../../testkit/store.ts';

export interface PublishedEvent {
  readonly position: number;
  readonly clientId: number | null;
}

export async function endOfFeed(store: Store): Promise<number> {
  const [row] = await queryStore<{ last: number }>(store, 'select last_position::int as last from feed');
  return row?.last ?? 0;
}

export async function publishedAfter(store: Store, position: number): Promise<PublishedEvent[]> {
  return queryStore<{ position: number; clientId: number | null }>(
    store,
    `select position::int, client_id::int as "clientId" from events where position > $1 order by position`,
    [position],
  );
}

/** No store of a proof has more events. */
const positionsMax = 1e8;
const keyOf = (endpoint: number, position: number) => endpoint * positionsMax + position;

export class DeliveryBook {
  readonly #receiver: ReceiverThread;
  readonly #due = new Set<number>();
  readonly #done = new Set<number>();
  #readTo = 0;
  #wrong = 0;
  #twice = 0;

  /** What arrived before `from` is not its concern. */
  constructor(receiver: ReceiverThread, from = 0) {
    this.#receiver = receiver;
    this.#readTo = from;
  }

  expect(events: readonly PublishedEvent[], endpointsFor: (clientId: number | null) => readonly number[]): void {
    this.expectAt(events.map(({ position, clientId }) => ({ position, endpoints: endpointsFor(clientId) })));
  }

  expectAt(events: ReadonlyArray<{ readonly position: number; readonly endpoints: readonly number[] }>): void {
    for (const { position, endpoints } of events) for (const endpoint of endpoints) this.#due.add(keyOf(endpoint, position));
  }

  /** What has not arrived yet. */
  get left(): number {
    this.#read();
    return this.#due.size;
  }

  /** Everything that must arrive. */
  get total(): number {
    return this.#due.size + this.#done.size;
  }

  /** What arrived twice, and what was not for that endpoint. */
  get faults(): { readonly twice: number; readonly wrong: number } {
    this.#read();
    return { twice: this.#twice, wrong: this.#wrong };
  }

  #read(): void {
    for (const { endpoint, position } of this.#receiver.arrivals(this.#readTo)) {
      this.#readTo += 1;
      if (endpoint === elsewhere) continue;
      const key = keyOf(endpoint, position);
      if (this.#due.delete(key)) this.#done.add(key);
      else if (this.#done.has(key)) this.#twice += 1;
      else this.#wrong += 1;
    }
  }
}
