import type pg from 'pg';

/** What a single statement needs: the pool, or a transaction. */
export interface Db {
  query<Row extends pg.QueryResultRow>(statement: pg.QueryConfig): Promise<pg.QueryResult<Row>>;
}

/** An open transaction. A class with a private field, so that the compiler accepts no pool in its place. */
export class Transaction implements Db {
  readonly #connection: Db;

  constructor(connection: Db) {
    this.#connection = connection;
  }

  query<Row extends pg.QueryResultRow>(statement: pg.QueryConfig): Promise<pg.QueryResult<Row>> {
    return this.#connection.query<Row>(statement);
  }
}

/** Opens transactions, of a kind that may allow more than a plain one. */
export interface Transactions<Tx extends Transaction = Transaction> {
  /** Commits everything that `work` did, or nothing. While all connections are busy, clients take turns: `clientId` says whose turn it uses. */
  readonly transaction: <T>(work: (tx: Tx) => Promise<T>, clientId?: bigint) => Promise<T>;
}

/** What an operation needs that reads and writes: it owns the transaction. */
export interface Transactor extends Db, Transactions {}

/** What an operation needs that reads with several statements as of one instant. */
export interface Snapshotter {
  snapshot<T>(work: (tx: Db) => Promise<T>): Promise<T>;
}

/** A named lock, held until the transaction ends. */
export interface AdvisoryLock {
  readonly name: string;
  readonly of: bigint;
}
