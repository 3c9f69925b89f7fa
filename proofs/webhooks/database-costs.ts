// What webhooks cost PostgreSQL: the bytes of WAL, and the time of the statements that look for work.
import { setTimeout as sleep } from 'node:timers/promises';
import type pg from 'pg';
import { connectTo } from '../../testkit/postgres.ts';
import { quantile } from '../../testkit/quantile.ts';
import type { Store } from '../../testkit/store.ts';

/** Statement times are from pg_stat_statements. Without autovacuum, whose WAL would fall into one measurement and not into another. */
export const measuringSettings = {
  shared_preload_libraries: 'pg_stat_statements',
  'pg_stat_statements.track_utility': 'off',
  autovacuum: 'off',
};

/** The statements by which a worker looks for work: for events to publish, the end of the feed, changed endpoints, free shards. */
const aboutWebhooks = '(feed|outbox|events|webhook\\w*|delivery_exceptions)';

export interface Spread {
  readonly median: number;
  readonly low: number;
  readonly high: number;
}

export const spreadOf = (values: readonly number[]): Spread => ({
  median: quantile(values, 0.5),
  low: Math.min(...values),
  high: Math.max(...values),
});

export const inWords = ({ median, low, high }: Spread, digits: number, unit: string): string =>
  `${median.toFixed(digits)} ${unit} (${low.toFixed(digits)} to ${high.toFixed(digits)})`;

/** A connection of the proof. Its statements are those of a superuser, and are not counted. */
export class DatabaseCosts implements AsyncDisposable {
  readonly #client: pg.Client;

  private constructor(client: pg.Client) {
    this.#client = client;
  }

  static async of(store: Store): Promise<DatabaseCosts> {
    const client = await connectTo(store.postgres.url);
    await client.query('create extension if not exists pg_stat_statements');
    return new DatabaseCosts(client);
  }

  /** Bytes of WAL that the server has written so far, without full-page images if the store is not durable. */
  async wal(): Promise<number> {
    return Number(await this.#value(`select pg_wal_lsn_diff(pg_current_wal_insert_lsn(), '0/0')::text`));
  }

  async walOf(work: () => Promise<unknown>): Promise<number> {
    const before = await this.wal();
    await work();
    return (await this.wal()) - before;
  }

  /** Milliseconds in a second that PostgreSQL spends on the statements by which workers look for work, measured over `seconds`. */
  async lookingForWork(seconds: number): Promise<{ msPerSecond: Spread; calls: number }> {
    const samples: number[] = [];
    const before = await this.#statements();
    let last = before;
    let lastAtMs = performance.now();
    for (let i = 0; i < seconds; i += 1) {
      await sleep(1_000);
      const now = await this.#statements();
      const nowMs = performance.now();
      samples.push(((now.totalMs - last.totalMs) * 1_000) / (nowMs - lastAtMs));
      [last, lastAtMs] = [now, nowMs];
    }
    return { msPerSecond: spreadOf(samples), calls: (last.calls - before.calls) / seconds };
  }

  async #statements(): Promise<{ totalMs: number; calls: number }> {
    const { rows } = await this.#client.query<{ totalMs: number; calls: number }>(
      `select coalesce(sum(total_exec_time), 0)::float8 as "totalMs", coalesce(sum(calls), 0)::int as calls
        from pg_stat_statements join pg_roles on oid = userid where rolname = 'homeward_app' and query ~ $1`,
      [`\\m${aboutWebhooks}\\M`],
    );
    const [row] = rows;
    if (!row) throw new Error('pg_stat_statements returned nothing');
    return row;
  }

  async #value(text: string): Promise<string> {
    const { rows } = await this.#client.query<{ value: string }>({ text: `select value::text from (${text}) as one (value)` });
    return rows[0]?.value ?? '';
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#client.end();
  }
}
