// Many clients with 1 to 20 endpoints each, inserted directly, and the deliveries that they must get.
import { addVerifiedEndpoints, createClients, settleEndpoints } from '../../testkit/endpoints.ts';
import type { Store } from '../../testkit/store.ts';

const endpointsOfClientMax = 20;
const orderTypes = ['order.placed', 'order.approved', 'order.completed', 'order.cancelled'];
const insertSizeMax = 10_000;

interface Endpoint {
  /** The number at the end of its URL. */
  readonly number: number;
  readonly clientId: number;
  /** It gets every event; false: only the events of its client's orders. */
  readonly isForAll: boolean;
}

export class EndpointPopulation {
  readonly #store: Store;
  readonly #origins: readonly string[];
  readonly #forAll: number[] = [];
  readonly #ofClient = new Map<number, number[]>();
  count = 0;

  constructor(store: Store, origins: readonly string[]) {
    this.#store = store;
    this.#origins = origins;
  }

  get clientIds(): readonly number[] {
    return [...this.#ofClient.keys()];
  }

  get forAll(): readonly number[] {
    return this.#forAll;
  }

  /** Adds verified endpoints with their clients, until there are `total`. `isForAll` is asked with each endpoint's number. */
  async growTo(total: number, isForAll: (number: number) => boolean): Promise<void> {
    while (this.count < total) {
      const batch = Math.min(insertSizeMax, total - this.count);
      const clientIds = await this.#addClients(batch);
      const endpoints: Endpoint[] = [];
      for (const [i, clientId] of clientIds.entries()) {
        for (let n = 0; n <= i % endpointsOfClientMax && endpoints.length < batch; n += 1) {
          const number = this.count + endpoints.length;
          endpoints.push({ number, clientId, isForAll: isForAll(number) });
        }
      }
      await this.#insert(endpoints);
      for (const { number, clientId, isForAll } of endpoints) {
        if (isForAll) this.#forAll.push(number);
        const ofClient = this.#ofClient.get(clientId);
        if (ofClient) ofClient.push(number);
        else this.#ofClient.set(clientId, [number]);
      }
      this.count += endpoints.length;
    }
    await settleEndpoints(this.#store);
  }

  /** The numbers of the endpoints that get an event. An event of no client's order is for everyone. */
  endpointsFor(clientId: number | null): readonly number[] {
    return clientId === null ? this.#forAll : (this.#ofClient.get(clientId) ?? []);
  }

  /** Clients for a number of endpoints, so that the clients have 1 to 20 each. */
  async #addClients(endpoints: number): Promise<number[]> {
    let [clients, left] = [0, endpoints];
    for (; left > 0; clients += 1) left -= (clients % endpointsOfClientMax) + 1;
    return createClients(this.#store, clients);
  }

  async #insert(endpoints: readonly Endpoint[]): Promise<void> {
    await addVerifiedEndpoints(
      this.#store,
      endpoints.map(({ number, clientId, isForAll }) => ({
        url: `${this.#origins[number % this.#origins.length]}/hooks/${number}`,
        clientId,
        types: isForAll ? [] : orderTypes,
      })),
    );
  }
}
