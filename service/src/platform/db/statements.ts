import pg from 'pg';
import type { Db } from './handles.ts';

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
