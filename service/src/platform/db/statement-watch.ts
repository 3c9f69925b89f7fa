import type pg from 'pg';
import type { Db } from './handles.ts';

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
