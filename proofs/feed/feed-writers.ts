import { randomInt } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { recordEvents } from '../../service/src/changes/events/events.ts';
import { Transaction } from '../../service/src/platform/db/handles.ts';
import { applicationRole } from '../../service/src/platform/db/pool.ts';
import type { Store } from '../../testkit/store.ts';
import type { WriterEvent } from './feed-reader.ts';

const writerCount = 4;
const animalsAtOnceMax = 3;
const eventsOfAnimalMax = 20;
const longMs = 5_000;

/** Records events of animals in transactions that are short, long, or rolled back. */
export class FeedWriters implements AsyncDisposable {
  readonly count = writerCount;
  committed = 0;
  rolledBack = 0;
  readonly #clients: readonly pg.Client[];
  readonly #animals: readonly number[];
  readonly #eventsMin: number;
  readonly #longEvery: number;
  /** Changed only under the animal's lock, just before the commit. */
  readonly #lastOf = new Map<number, number>();
  readonly #committedTransactions = new Set<number>();
  #transactions = 0;

  private constructor(clients: readonly pg.Client[], animals: readonly number[], eventsMin: number, longEvery: number) {
    this.#clients = clients;
    this.#animals = animals;
    this.#eventsMin = eventsMin;
    this.#longEvery = longEvery;
  }

  /** Every `longEvery`-th transaction of a writer stays open for 5 s. */
  static async open(store: Store, animals: readonly number[], eventsMin: number, longEvery: number): Promise<FeedWriters> {
    const options = { connectionString: store.postgres.url, options: `-c role=${applicationRole}` };
    const clients = Array.from({ length: writerCount }, () => new pg.Client(options));
    await Promise.all(clients.map((client) => client.connect()));
    return new FeedWriters(clients, animals, eventsMin, longEvery);
  }

  readonly isCommitted = (transaction: number): boolean => this.#committedTransactions.has(transaction);

  /** Returns once at least `eventsMin` events are committed. */
  async write(): Promise<void> {
    await Promise.all(
      this.#clients.map(async (client, i) => {
        // The long transactions of different writers start at different times.
        for (let n = i * Math.ceil(this.#longEvery / writerCount); this.committed < this.#eventsMin; n += 1) {
          await this.#transact(client, n % this.#longEvery === this.#longEvery - 1);
        }
      }),
    );
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.#clients.map((client) => client.end()));
  }

  async #transact(client: pg.Client, isLong: boolean): Promise<void> {
    this.#transactions += 1;
    const transaction = this.#transactions;
    await client.query('begin');
    const petIds = await this.#lockAnimals(client);
    const written: WriterEvent[] = petIds.flatMap((petId) => {
      const last = this.#lastOf.get(petId) ?? 0;
      return Array.from({ length: 1 + randomInt(eventsOfAnimalMax) }, (_, i) => ({ petId, n: last + 1 + i, transaction }));
    });
    const events = written.map(
      (data) => ({ type: 'pet.updated', petId: BigInt(data.petId), clientId: null, data: JSON.stringify(data) }) as const,
    );
    const half = Math.floor(events.length / 2);
    const tx = new Transaction(client);
    await recordEvents(tx, ...events.slice(0, half));
    await sleep(isLong ? longMs : randomInt(10) === 0 ? randomInt(300) : randomInt(10));
    await recordEvents(tx, ...events.slice(half));
    if (!isLong && randomInt(10) === 0) {
      await client.query('rollback');
      this.rolledBack += 1;
      return;
    }
    // Before the commit: right after it, the next writer may get the animal's lock.
    for (const { petId, n } of written) this.#lastOf.set(petId, n);
    this.#committedTransactions.add(transaction);
    await client.query('commit');
    this.committed += written.length;
  }

  /** Mostly skips animals that are locked, so that one long transaction does not block the other writers. */
  async #lockAnimals(client: pg.Client): Promise<number[]> {
    const wanted = Array.from({ length: animalsAtOnceMax }, () => this.#animals[randomInt(this.#animals.length)]);
    const free = randomInt(50) === 0 ? '' : 'skip locked';
    const { rows } = await client.query<{ id: bigint }>({
      text: `select id from pets where id = any($1::bigint[]) order by id for update ${free}`,
      values: [wanted],
    });
    return rows.map(({ id }) => Number(id));
  }
}
