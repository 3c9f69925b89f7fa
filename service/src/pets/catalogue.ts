import { randomBytes } from 'node:crypto';
import type { Redis } from 'ioredis';
import type pg from 'pg';
import { Transaction, type Transactions, type Transactor } from '../db/handles.ts';
import type { RedisKeys } from '../redis/redis-keys.ts';
import type { RedisLink } from '../redis/redis-link.ts';

/** What a statement that changes animals needs. It invalidates the cached lists. */
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
 * Commits every change to the animals that a list can show. A list is cached together with the catalogue's token in Redis, and is
 * served only while that token is unchanged. So a write replaces the token after its commit and before the caller is told of
 * it. Tokens are random, not counted: a Redis that lost its data must never bring an old one back.
 *
 * It has no `query` and is no Transactor: a plain read invalidates nothing, and the compiler rejects it in place of the pool.
 */
export class Catalogue implements CatalogueWriter, Transactions<CatalogueTransaction> {
  readonly #db: Transactor;
  readonly #link: RedisLink;
  readonly #tokenName: string;
  #invalidation: Promise<void> | undefined;
  /** A token could not be replaced: it is once Redis is back. */
  #isInvalidationOwed = false;

  constructor(db: Transactor, link: RedisLink, names: RedisKeys) {
    this.#db = db;
    this.#link = link;
    this.#tokenName = names.catalogueToken;
    link.onRestored(() => this.#isInvalidationOwed && void this.#replaceToken());
  }

  /** One statement outside a transaction. If it changed no row, such as an animal of an unknown category, nothing is invalidated. */
  async write<Row extends pg.QueryResultRow>(statement: pg.QueryConfig): Promise<pg.QueryResult<Row>> {
    const result = await this.#db.query<Row>(statement);
    if (result.rowCount) await this.invalidate();
    return result;
  }

  /**
   * Invalidates also where nothing was written: a retry with an Idempotency-Key acknowledges what an earlier transaction wrote, and
   * the process of that one may have died before it invalidated.
   */
  async transaction<T>(work: (tx: CatalogueTransaction) => Promise<T>, clientId?: bigint): Promise<T> {
    const result = await this.#db.transaction((tx) => work(new CatalogueTransaction(tx)), clientId);
    await this.invalidate();
    return result;
  }

  /** The token of everything that is committed at this moment. Undefined in a store without one, which then gets its first. */
  async readToken(client: Redis): Promise<string | undefined> {
    const token = await client.get(this.#tokenName);
    if (token === null) client.set(this.#tokenName, newToken(), 'NX').catch(() => {});
    return token ?? undefined;
  }

  /**
   * Replaces the token: once for everything that was committed in this turn of the event loop. The publisher of events calls it too,
   * since the process that committed a change may have died before it got here.
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

  /** Without Redis no process caches a list for long, and the token is replaced as soon as Redis is back. */
  async #replaceToken(): Promise<void> {
    try {
      await this.#link.call((client) => client.set(this.#tokenName, newToken()));
      this.#isInvalidationOwed = false;
    } catch {
      this.#isInvalidationOwed = true;
    }
  }
}

const newToken = () => randomBytes(9).toString('base64url');
