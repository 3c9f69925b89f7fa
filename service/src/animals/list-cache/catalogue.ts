import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Redis } from 'ioredis';
import type pg from 'pg';
import type { Acting } from '../../domain/actor.ts';
import { oncePerTurn } from '../../platform/bounded/joined-runs.ts';
import { settleUnannounced } from '../../platform/db/change-watch.ts';
import { type ServiceDb, Transaction, type Transactions } from '../../platform/db/handles.ts';
import { isOutcomeUnknown } from '../../platform/db/postgres-failures.ts';
import { type RedisKeys, type RedisLink, RedisLost } from '../../platform/redis/redis-link.ts';
import { logLength, newToken } from './change-log.ts';
import { pageAgeMaxMs } from './page-cache.ts';
import {
  type AnnouncedPetChanges,
  everything,
  everythingText,
  type PetChange,
  type ShownChange,
  writeChanges,
  writeShownChange,
} from './shown-changes.ts';

/** What a statement returns for each row that it has changed, in addition to what was asked for. */
export interface Written {
  /** Of the running transaction: the 32 bits that are in `xmin` of the rows that it writes. */
  readonly transactionId: string;
}

/** Says what a statement has changed, by one of the rows that it returns. */
export type ChangeOf<Row> = (row: Row) => PetChange;

/** Runs statements that change animals, and announces what they have changed. A statement returns one row for each changed animal. */
export interface CatalogueWriter {
  writePets<Row extends pg.QueryResultRow>(statement: pg.QueryConfig, changeOf: ChangeOf<Row>): Promise<Row[]>;
}

/** Says what a statement has changed of what only listings show. It may read more in the same transaction. */
export type ShownChangeOf<Row> = (row: Row) => ShownChange | Promise<ShownChange>;

/**
 * Runs statements that change what only listings show, such as a profile, a photo or a shelter, and announces what they have changed. A
 * statement returns one row for each changed row.
 */
export interface ListingWriter {
  writeListing<Row extends pg.QueryResultRow>(statement: pg.QueryConfig, changeOf: ShownChangeOf<Row>): Promise<Row[]>;
}

/**
 * A transaction that may change what lists show: what it has changed is announced after its commit. A transaction that finds nothing
 * to change acknowledges the transactions that have made it so: those are announced if they were not.
 */
export class CatalogueTransaction extends Transaction implements CatalogueWriter, ListingWriter {
  readonly #changes: PetChange[] = [];
  readonly #shown = new Set<string>();
  readonly #transactionIds = new Set<string>();
  readonly acknowledgedIds: string[] = [];
  readonly #plain: Transaction;

  constructor(plain: Transaction) {
    super(plain);
    this.#plain = plain;
  }

  /** Undefined: nothing that a list shows has changed. */
  get announced(): Announced | undefined {
    if (this.#transactionIds.size === 0) return undefined;
    return { changes: this.#changes, shown: this.#shown, transactionIds: [...this.#transactionIds] };
  }

  async writePets<Row extends pg.QueryResultRow>(statement: pg.QueryConfig, changeOf: ChangeOf<Row>): Promise<Row[]> {
    const rows = await this.#run<Row>(statement);
    this.#changes.push(...rows.map(changeOf));
    return rows;
  }

  async writeListing<Row extends pg.QueryResultRow>(statement: pg.QueryConfig, changeOf: ShownChangeOf<Row>): Promise<Row[]> {
    const rows = await this.#run<Row>(statement);
    for (const row of rows) this.#shown.add(writeShownChange(await changeOf(row)));
    return rows;
  }

  override endsAuthority(): void {
    this.#plain.endsAuthority();
  }

  override get hasEnded(): boolean {
    return this.#plain.hasEnded;
  }

  override acknowledge(transactionId: string): void {
    this.acknowledgedIds.push(transactionId);
  }

  async #run<Row extends pg.QueryResultRow>(statement: pg.QueryConfig): Promise<Row[]> {
    const { rows, transactionId } = readWritten(await this.query<Row & Written>(statement));
    if (transactionId !== undefined) this.#transactionIds.add(transactionId);
    return rows;
  }
}

/** Decides when to run something. */
type Within = <T>(run: () => Promise<T>) => Promise<T>;
const runNow: Within = (run) => run();

const lua = readFileSync(new URL('./announce.lua', import.meta.url), 'utf8');
/** How long Redis stores the transactions that were announced, and how many at most. */
const announcedMs = 120_000;
const announcedMax = 10_000;
/** From its commit to its announcement, a change takes less than this, unless the process is slow or has died. */
const announcingMs = 20;
/** How long a late reply to an announcement is waited for. */
const lateReplyMs = 200;

/**
 * Commits every change that a list can show, of animals, profiles, photos and shelters, and announces it in Redis (announce.lua) after
 * the commit and before the caller gets the response. Every process reads the announcements before it uses a cached list
 * (change-log.ts).
 *
 * If Redis is unreachable, the change is noted in PostgreSQL, and the response waits until every process has looked there
 * (platform/db/change-watch.ts).
 *
 * It has no `query` and is not a ServiceDb, so the compiler rejects it in place of the pool: a plain read announces nothing.
 */
export class Catalogue implements Transactions<CatalogueTransaction> {
  readonly #db: ServiceDb;
  readonly #link: RedisLink;
  readonly #keys: RedisKeys;
  /** What is announced at the end of this turn of the event loop, and what Redis could not be told before. */
  #next = new Announcement();
  #isQueued = false;
  readonly #announceQueued = oncePerTurn(() => this.#announceNow());

  constructor(db: ServiceDb, link: RedisLink, keys: RedisKeys) {
    this.#db = db;
    this.#link = link;
    this.#keys = keys;
    link.client.defineCommand('announce', { lua });
    // Then the publisher finds these transactions announced, and does not invalidate every list for them.
    link.on('restored', () => !this.#isQueued && !this.#next.isEmpty && void this.#tellRedis());
  }

  /** Runs single statements outside a transaction, in the client's turn. */
  writerOf(clientId: bigint | undefined): CatalogueWriter {
    return {
      writePets: async <Row extends pg.QueryResultRow>(statement: pg.QueryConfig, changeOf: ChangeOf<Row>) => {
        const { rows, transactionId } = readWritten(await this.#orAnnounceUnknown(this.#db.write<Row & Written>(statement, clientId)));
        if (transactionId !== undefined) {
          await this.#announce({ changes: rows.map(changeOf), shown: new Set(), transactionIds: [transactionId] });
        }
        return rows;
      },
    };
  }

  /** `within` runs the transaction up to its commit, and not the announcement. */
  async transaction<T>(work: (tx: CatalogueTransaction) => Promise<T>, by: Acting, within: Within = runNow): Promise<T> {
    const run = async (plain: Transaction) => {
      const tx = new CatalogueTransaction(plain);
      return { result: await work(tx), tx };
    };
    const { result, tx } = await within(() => this.#orAnnounceUnknown(this.#db.transaction(run, by)));
    if (tx.announced) await this.#announce(tx.announced);
    await this.announceMissing(tx.acknowledgedIds);
    return result;
  }

  /**
   * Announces the changes of transactions that were not announced: the process that committed them may have died before. What they
   * have changed is not known, so that costs every cached list.
   */
  async announceMissing(transactionIds: readonly string[]): Promise<void> {
    let missing = await this.#findMissing(transactionIds);
    if (missing.length > 0) {
      await sleep(announcingMs);
      missing = await this.#findMissing(missing);
    }
    if (missing.length > 0) await this.#announce({ changes: everything, shown: everything, transactionIds: missing });
  }

  async #findMissing(transactionIds: readonly string[]): Promise<readonly string[]> {
    if (transactionIds.length === 0) return [];
    try {
      const scores = await this.#link.call((client) => client.zmscore(this.#keys.announcedTransactions, ...transactionIds));
      return transactionIds.filter((_, i) => scores[i] === null);
    } catch {
      return transactionIds;
    }
  }

  /** A change whose outcome is unknown may be done, and be seen by id: then lists must not show what was before. */
  async #orAnnounceUnknown<T>(write: Promise<T>): Promise<T> {
    try {
      return await write;
    } catch (error) {
      if (isOutcomeUnknown(error)) void this.#announce({ changes: everything, shown: everything, transactionIds: [] });
      throw error;
    }
  }

  /** Announces once for all commits in this turn of the event loop. */
  #announce(announced: Announced): Promise<void> {
    this.#next.add(announced);
    this.#isQueued = true;
    return this.#announceQueued();
  }

  async #announceNow(): Promise<void> {
    this.#isQueued = false;
    if (await this.#tellRedis()) return;
    // If PostgreSQL is unreachable too, every page from before is too old to be served after this time.
    await settleUnannounced(this.#db).catch(() => sleep(pageAgeMaxMs));
  }

  /** If Redis is unreachable, the next announcement says it too, at the latest when Redis is back. */
  async #tellRedis(): Promise<boolean> {
    const announcement = this.#next;
    this.#next = new Announcement();
    const late = Promise.withResolvers<boolean>();
    try {
      await this.#link.call(
        (client) => this.#callScript(client, announcement),
        () => late.resolve(true),
      );
      return true;
    } catch (error) {
      // Most late replies come soon, and an announcement that was not received costs every process its cached pages.
      const isSent = error instanceof RedisLost && error.sent;
      if (isSent && (await Promise.race([late.promise, sleep(lateReplyMs, false)]))) return true;
      this.#next.add(announcement);
      return false;
    }
  }

  #callScript(client: Redis, { changes, shown, transactionIds }: Announcement): Promise<unknown> {
    const { catalogueToken, catalogueLog, announcedTransactions, listingsToken, listingsLog } = this.#keys;
    const { announce } = client as unknown as { announce(...args: unknown[]): Promise<unknown> };
    const bounds = [logLength, announcedMax, announcedMs];
    const keys = [catalogueToken, catalogueLog, announcedTransactions, listingsToken, listingsLog];
    const values = [newToken(), writeChanges(changes), textOf(shown)];
    return announce.call(client, keys.length, ...keys, ...values, ...bounds, ...transactionIds);
  }
}

const textOf = (shown: WrittenChanges) => (shown === everything ? everythingText : [...shown].join(' '));

function readWritten<Row extends pg.QueryResultRow>({ rows, rowCount }: pg.QueryResult<Row & Written>) {
  if (rowCount !== rows.length || rows.some(({ transactionId }) => transactionId === undefined)) {
    throw new Error('a statement that changes what lists show must return each row with its transaction');
  }
  return { rows: rows.map(({ transactionId, ...row }) => row as unknown as Row), transactionId: rows[0]?.transactionId };
}

/** More changes are announced as `everything`, so that an entry of the log stays short. */
const changesMax = 128;
/** The same for what only listings show: a change has up to 500 characters, so an entry has up to 16 kB, and the log up to 4 MB. */
const shownChangesMax = 32;
/** Of more transactions only the last are announced. The publisher of events announces the others again. */
const transactionsMax = 1_000;

/** What transactions have changed, as far as a cached page can show it. */
export interface Announced {
  /** Animals, which every list shows. */
  readonly changes: AnnouncedPetChanges;
  /** Of what only listings show: a profile, a photo or a shelter. As they are written to the log. */
  readonly shown: WrittenChanges;
  readonly transactionIds: readonly string[];
}

export type WrittenChanges = ReadonlySet<string> | typeof everything;

/** What the next announcement will say. */
export class Announcement implements Announced {
  #changes: PetChange[] | typeof everything = [];
  #shown: WrittenChanges = new Set();
  #transactionIds: string[] = [];

  get isEmpty(): boolean {
    return this.#changes.length === 0 && this.#shown !== everything && this.#shown.size === 0;
  }

  get changes(): AnnouncedPetChanges {
    return this.#changes;
  }

  get shown(): WrittenChanges {
    return this.#shown;
  }

  get transactionIds(): readonly string[] {
    return this.#transactionIds;
  }

  add({ changes, shown, transactionIds }: Announced): void {
    if (changes === everything || this.#changes === everything) this.#changes = everything;
    else this.#changes = this.#changes.length + changes.length > changesMax ? everything : [...this.#changes, ...changes];
    const all = shown === everything || this.#shown === everything ? everything : new Set([...this.#shown, ...shown]);
    this.#shown = all === everything || all.size > shownChangesMax ? everything : all;
    this.#transactionIds = [...this.#transactionIds, ...transactionIds].slice(-transactionsMax);
  }
}
