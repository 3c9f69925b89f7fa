import type pg from 'pg';
import type { Acting } from '../../domain/actor.ts';

/** Runs a single statement that reads: the pool or a transaction. */
export interface Db {
  query<Row extends pg.QueryResultRow>(statement: pg.QueryConfig): Promise<pg.QueryResult<Row>>;
}

/** Runs a single statement that writes or locks, and commits it if it is in no transaction. PostgreSQL rejects one that is given to `query` of a pool. */
export interface Writer {
  /** While commits are slow, clients take turns by `clientId`. */
  write<Row extends pg.QueryResultRow>(statement: pg.QueryConfig, clientId?: bigint): Promise<pg.QueryResult<Row>>;
}

/** An open transaction. Its private field makes the type nominal, so that a pool passed in its place does not compile. */
export class Transaction implements Db, Writer {
  readonly #connection: Db;
  #hasEnded = false;

  constructor(connection: Db) {
    this.#connection = connection;
  }

  query<Row extends pg.QueryResultRow>(statement: pg.QueryConfig): Promise<pg.QueryResult<Row>> {
    return this.#connection.query<Row>(statement);
  }

  write<Row extends pg.QueryResultRow>(statement: pg.QueryConfig): Promise<pg.QueryResult<Row>> {
    return this.#connection.query<Row>(statement);
  }

  /** The response will acknowledge what an earlier transaction has done. For transactions whose changes must be announced. */
  acknowledge(_transactionId: string): void {}

  /**
   * It ends what somebody acts by: a key, a session, a role, a client. Its commit is acknowledged once every transaction that began before
   * has ended (ends.ts).
   */
  endsAuthority(): void {
    this.#hasEnded = true;
  }

  get hasEnded(): boolean {
    return this.#hasEnded;
  }
}

/** Opens transactions; `Tx` may be a kind that allows more than a plain one. */
export interface Transactions<Tx extends Transaction = Transaction> {
  /**
   * Commits everything that `work` did, or nothing: nothing if the authority of `by` has ended. While all connections are busy, clients take
   * turns.
   */
  readonly transaction: <T>(work: (tx: Tx) => Promise<T>, by: Acting) => Promise<T>;
}

/** For an operation that reads and writes, and opens its own transaction. */
export interface Transactor extends Db, Transactions {}

/** For what the store does by itself, and for those who are about to sign in: nobody's authority is read for a single statement. */
export interface ServiceDb extends Transactor, Writer {}

/** Settings of PostgreSQL by their names. Both are written into a statement as they are. */
export type Settings = Readonly<Record<string, string | number>>;

/** For an operation whose statements must all read the same snapshot. */
export interface Snapshotter {
  snapshot<T>(work: (tx: Db) => Promise<T>): Promise<T>;
}

/** Who searches: a client with a key, or one of its people. Each person waits in a line of their own, and longer than a program. */
export type SearchOwner = bigint | { readonly clientId: bigint; readonly personId: bigint };

/** For searches, whose statements must all read the same snapshot. */
export interface Searcher {
  /** The settings of PostgreSQL hold for this search alone. Rejects with `too_many_searches` if the client runs too many at once. */
  search<T>(work: (tx: Db) => Promise<T>, owner: SearchOwner, settings?: Settings): Promise<T>;
}

/** A named advisory lock, released when the transaction ends. */
export interface AdvisoryLock {
  readonly name: string;
  readonly of: bigint;
}

/** SQL: the id of the running transaction, as it will be in `xmin` of the rows that it writes. */
export const runningTransaction = 'pg_current_xact_id()::xid::text';

/**
 * SQL: the transaction that wrote a row, or null if that was more than a minute ago. A minute is longer than a transaction and the use
 * of a cached page together, so what is older is in every page that is served.
 */
export const recentTransactionOf = (row: string, changedAt: string): string =>
  `case when ${row}.${changedAt} > now() - interval '1 minute' then ${row}.xmin::text end`;
