import pg from 'pg';
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

/**
 * What a person does in a transaction that can be undone for a while, or the undoing of that (adoption/undo): what the transaction writes of
 * its history, events and mail says so.
 */
export interface ActMark {
  readonly id: bigint;
  /** Null: the transaction undoes the act. */
  readonly finalAt: Date | null;
}

/** An open transaction. Its private field makes the type nominal, so that a pool passed in its place does not compile. */
export class Transaction implements Db, Writer {
  readonly #connection: Db;
  #hasEnded = false;
  /** Undefined: what it does is final at once. */
  mark: ActMark | undefined;

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

/** For the columns act_id and undoes_act_id. */
export const actIdsOf = ({ mark }: Pick<Transaction, 'mark'>): [bigint | null, bigint | null] =>
  mark ? (mark.finalAt ? [mark.id, null] : [null, mark.id]) : [null, null];

/** SQL: the id of the running transaction, as it will be in `xmin` of the rows that it writes. */
export const runningTransaction = 'pg_current_xact_id()::xid::text';

/**
 * SQL: the transaction that wrote a row, or null if that was more than a minute ago. A minute is longer than a transaction and the use
 * of a cached page together, so what is older is in every page that is served.
 */
export const recentTransactionOf = (row: string, changedAt: string): string =>
  `case when ${row}.${changedAt} > now() - interval '1 minute' then ${row}.xmin::text end`;

/** Runs a statement that is not prepared, and returns its rows. Each value in its text becomes a parameter. */
export const rowsOf =
  <Row extends object>(db: Db) =>
  async (texts: TemplateStringsArray, ...values: unknown[]): Promise<Row[]> => {
    const { rows } = await db.query<Row>({ text: texts.reduce((before, after, i) => `${before}$${i}${after}`), values });
    return rows;
  };

/** The first row, of a statement that always returns one. */
export const rowOf =
  <Row extends object>(db: Db) =>
  async (texts: TemplateStringsArray, ...values: unknown[]): Promise<Row> => {
    const [row] = await rowsOf<Row>(db)(texts, ...values);
    if (!row) throw new Error('a statement that returns one row returned none');
    return row;
  };

/** The columns of a row in their order, as PostgreSQL's text. */
export type TextRow = ReadonlyArray<string | null>;

const asText = { getTypeParser: () => String };

/** For pages of many rows, which are written as JSON from the text: no value is parsed, and no row becomes an object. */
export async function queryTexts(db: Db, statement: pg.QueryConfig): Promise<TextRow[]> {
  const { rows } = await db.query({ ...statement, ...{ rowMode: 'array' }, types: asText });
  return rows as unknown as TextRow[];
}

/** Whether the statement is one of `queryTexts`. */
export const readsTexts = ({ types }: pg.QueryConfig): boolean => types === asText;

type Callback = (error: Error | undefined, result: pg.QueryResult<pg.QueryResultRow>) => void;

/**
 * Returns the same rows as `pg` does for such a statement, in less time: it takes over the values of a row as they arrive. `pg` calls a
 * parser for each, and looks for the parsers again for each statement.
 */
export class TextQuery extends pg.Query {
  readonly name: string | undefined;
  declare private readonly _result: pg.QueryResult<pg.QueryResultRow>;

  /** By text and values: `pg` would copy the statement, property by property. */
  constructor({ name, text, values }: pg.QueryConfig, callback: Callback) {
    super(text, values, callback);
    this.name = name;
  }

  /** Called by `pg`, as the method below. */
  handleRowDescription(): void {}

  handleDataRow({ fields }: { readonly fields: TextRow }): void {
    this._result.rows.push(fields as unknown as pg.QueryResultRow);
  }
}

/** Called when a statement is sent. The function that it returns is called with the outcome; undefined: not observed. */
export type WatchStatement = (statement: pg.QueryConfig) => ((error?: unknown) => void) | undefined;

/** Reports each statement, for metrics and traces. While nobody watches, a statement runs as if this did not exist. */
export class StatementWatch {
  readonly #watchers: WatchStatement[] = [];

  add(watch: WatchStatement): void {
    this.#watchers.push(watch);
  }

  run<Row extends pg.QueryResultRow>(db: Db, statement: pg.QueryConfig): Promise<pg.QueryResult<Row>> {
    return this.#watchers.length === 0 ? db.query<Row>(statement) : this.#watched<Row>(db, statement);
  }

  /** The same connection, watched. */
  over(db: Db): Db {
    return this.#watchers.length === 0 ? db : { query: (statement) => this.#watched(db, statement) };
  }

  async #watched<Row extends pg.QueryResultRow>(db: Db, statement: pg.QueryConfig): Promise<pg.QueryResult<Row>> {
    const ends = this.#watchers.map((watch) => watch(statement));
    try {
      const result = await db.query<Row>(statement);
      for (const end of ends) end?.();
      return result;
    } catch (error) {
      for (const end of ends) end?.(error);
      throw error;
    }
  }
}
