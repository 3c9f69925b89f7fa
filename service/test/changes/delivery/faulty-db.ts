// A database that stops responding, or fails, when a test says so.
import type pg from 'pg';
import { type ServiceDb, Transaction } from '../../../src/platform/db/handles.ts';

export class FaultyDb implements ServiceDb {
  readonly #db: ServiceDb;
  #stalled: { readonly name: RegExp; readonly until: Promise<void>; readonly resume: () => void } | undefined;
  #failing: { readonly name: RegExp; times: number } | undefined;
  #waiting = 0;

  constructor(db: ServiceDb) {
    this.#db = db;
  }

  /** Statements with such a name wait until `resume`, as in a process that is suspended. Those in flight are finished. */
  stall(name = /./): void {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.resume();
    this.#stalled = { name, until: promise, resume: resolve };
  }

  /** Whether a statement waits for `resume`. */
  get isWaiting(): boolean {
    return this.#waiting > 0;
  }

  resume(): void {
    this.#stalled?.resume();
    this.#stalled = undefined;
  }

  /** The next statements with such a name fail. */
  fail(name: RegExp, times = 1): void {
    this.#failing = { name, times };
  }

  /** Whether all of them have failed. */
  get hasFailed(): boolean {
    return this.#failing?.times === 0;
  }

  async query<Row extends pg.QueryResultRow>(statement: pg.QueryConfig): Promise<pg.QueryResult<Row>> {
    await this.#pass(statement);
    return this.#db.query<Row>(statement);
  }

  async write<Row extends pg.QueryResultRow>(statement: pg.QueryConfig): Promise<pg.QueryResult<Row>> {
    await this.#pass(statement);
    return this.#db.write<Row>(statement);
  }

  readonly transaction: ServiceDb['transaction'] = (work, by) =>
    this.#db.transaction(
      (tx) =>
        work(
          new Transaction({
            query: async (statement) => {
              await this.#pass(statement);
              return tx.query(statement);
            },
          }),
        ),
      by,
    );

  async #pass({ name }: pg.QueryConfig): Promise<void> {
    while (this.#stalled?.name.test(name ?? 'unnamed')) {
      this.#waiting += 1;
      await this.#stalled.until;
      this.#waiting -= 1;
    }
    if (!this.#failing || this.#failing.times === 0 || !this.#failing.name.test(name ?? '')) return;
    this.#failing.times -= 1;
    throw new Error(`the statement ${name} was made to fail`);
  }
}
