import { randomBytes } from 'node:crypto';
import type { Redis } from 'ioredis';
import type pg from 'pg';
import { Transaction, type Transactions, type Transactor } from '../db/handles.ts';
import type { RedisKeys } from '../redis/redis-keys.ts';
import type { RedisLink } from '../redis/redis-link.ts';

/** Runs statements that change animals, and invalidates the cached lists. */
export interface CatalogueWriter {
  write<Row extends pg.QueryResultRow>(statement: pg.QueryConfig): Promise<pg.QueryResult<Row>>;
}

/** A transaction that may change animals: its commit invalidates the cached lists. */
export class CatalogueTransaction extends Transaction implements CatalogueWriter {
  write<Row extends pg.QueryResultRow>(statement: pg.QueryConfig): Promise<pg.QueryResult<Row>> {
    return this.query<Row>(statement);
  }
}

/**
 * Commits every change to animals that a list can show. A list is cached together with the catalogue's token in Redis, and is
 * served only while that token is unchanged. So a write replaces the token after its commit and before the caller gets the
 * response. Tokens are random, not counted, so that a Redis that lost its data never issues an old token again.
 *
 * It has no `query` and is not a Transactor, so the compiler rejects it in place of the pool: a plain read invalidates nothing.
 */
export class Catalogue implements CatalogueWriter, Transactions<CatalogueTransaction> {
  readonly #db: Transactor;
  readonly #link: RedisLink;
  readonly #tokenKey: string;
  #invalidation: Promise<void> | undefined;
  /** The token could not be replaced, and must be once Redis is back. */
  #isInvalidationPending = false;

  constructor(db: Transactor, link: RedisLink, keys: RedisKeys) {
    this.#db = db;
    this.#link = link;
    this.#tokenKey = keys.catalogueToken;
    link.onRestored(() => this.#isInvalidationPending && void this.#replaceToken());
  }

  /** Runs one statement outside a transaction. Invalidates only if the statement changed a row. */
  async write<Row extends pg.QueryResultRow>(statement: pg.QueryConfig): Promise<pg.QueryResult<Row>> {
    const result = await this.#db.query<Row>(statement);
    if (result.rowCount) await this.invalidate();
    return result;
  }

  /**
   * Invalidates even if nothing was written. A retry with an Idempotency-Key acknowledges what an earlier transaction wrote, and
   * the process that ran it may have died before it invalidated.
   */
  async transaction<T>(work: (tx: CatalogueTransaction) => Promise<T>, clientId?: bigint): Promise<T> {
    const result = await this.#db.transaction((tx) => work(new CatalogueTransaction(tx)), clientId);
    await this.invalidate();
    return result;
  }

  /** The current token. Undefined if there is none yet; the first one is then set. */
  async readToken(client: Redis): Promise<string | undefined> {
    const token = await client.get(this.#tokenKey);
    if (token === null) client.set(this.#tokenKey, newToken(), 'NX').catch(() => {});
    return token ?? undefined;
  }

  /**
   * Replaces the token, once for all commits in this turn of the event loop. The publisher of events calls it too,
   * since the process that committed a change may have died before it invalidated.
   */
  invalidate(): Promise<void> {
    this.#invalidation ??= new Promise((resolve) => {
      setImmediate(() => {
        this.#invalidation = undefined;
        resolve(this.#replaceToken());
      });
    });
    return this.#invalidation;
  }

  /** If Redis is down, the token is replaced as soon as it is back. Until then no process serves cached lists for long. */
  async #replaceToken(): Promise<void> {
    try {
      await this.#link.call((client) => client.set(this.#tokenKey, newToken()));
      this.#isInvalidationPending = false;
    } catch {
      this.#isInvalidationPending = true;
    }
  }
}

const newToken = () => randomBytes(9).toString('base64url');
