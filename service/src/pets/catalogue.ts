import { randomBytes } from 'node:crypto';
import type { Redis } from 'ioredis';
import type pg from 'pg';
import type { Db, Transactor } from '../db/pool.ts';
import type { RedisLink } from '../redis/redis-link.ts';
import type { RedisNames } from '../redis/redis-names.ts';

/**
 * Commits every change to what a list of animals can show. After the commit, and before the caller is told of it, a new
 * token stands in Redis: whoever kept a page from before can tell. A random token, not a count, since a Redis that lost
 * its memory must never bring an old one back.
 */
export class Catalogue implements Transactor {
  readonly #db: Transactor;
  readonly #link: RedisLink;
  readonly #tokenName: string;
  #renewal: Promise<void> | undefined;
  #isUntold = false;

  constructor(db: Transactor, link: RedisLink, names: RedisNames) {
    this.#db = db;
    this.#link = link;
    this.#tokenName = names.catalogueToken;
    link.onRestored(() => this.#isUntold && void this.#renewToken());
  }

  async query<Row extends pg.QueryResultRow>(statement: pg.QueryConfig): Promise<pg.QueryResult<Row>> {
    const result = await this.#db.query<Row>(statement);
    // A statement that wrote nothing, such as an animal of an unknown category, costs nobody their cached pages.
    if (result.rowCount) await this.renew();
    return result;
  }

  async transaction<T>(work: (tx: Db) => Promise<T>, clientId?: bigint): Promise<T> {
    const result = await this.#db.transaction(work, clientId);
    await this.renew();
    return result;
  }

  /** The token that stands for all that is committed at this moment. One is planted in a store that nobody has written to. */
  async readToken(client: Redis): Promise<string | undefined> {
    const token = await client.get(this.#tokenName);
    if (token === null) client.set(this.#tokenName, newToken(), 'NX').catch(() => {});
    return token ?? undefined;
  }

  /**
   * Puts a new token in Redis: one for all that was committed in this turn of the event loop. Also for who tells of a change
   * that another committed, who may have died before it came to this.
   */
  renew(): Promise<void> {
    this.#renewal ??= new Promise((resolve) => {
      setImmediate(() => {
        this.#renewal = undefined;
        resolve(this.#renewToken());
      });
    });
    return this.#renewal;
  }

  /** Without Redis no process keeps a page for long, and the token is renewed once it is back. */
  async #renewToken(): Promise<void> {
    try {
      await this.#link.call((client) => client.set(this.#tokenName, newToken()));
      this.#isUntold = false;
    } catch {
      this.#isUntold = true;
    }
  }
}

const newToken = () => randomBytes(9).toString('base64url');
