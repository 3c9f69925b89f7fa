import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import type { Db } from './handles.ts';
import { type Blocker, describeBlockers, findBlockers, isAwaitingStandby } from './lock-wait.ts';
import { type MigrationFile, migrationsDir, readMigrations } from './migration-files.ts';
import { createRecords, findPending, grantRecords, readRecorded, recordMigration } from './migration-records.ts';
import { connectAsOwner, type OwnerConnection } from './owner-connection.ts';
import { requireSupportedVersion } from './postgres-servers.ts';

const lockId = 4_663_957;
/**
 * While a migration waits for a table, everyone who comes later waits behind it. So this must be well below the 500 ms for which a
 * request waits for a connection (pool.ts): a longer wait would become errors.
 */
const lockTimeoutMs = 200;
/** Between attempts, everyone else goes first. */
const pauseMsMin = 500;
const pauseMsMax = 5_000;
/** Of one migration. The time for which an index is built does not count. */
const totalTimeoutMs = 600_000;
const blockersIntervalMs = 50;
const concurrentBlockersIntervalMs = 1_000;
/** Longer than PostgreSQL's deadlock_timeout, after which it cancels an autovacuum that others wait for. */
const autovacuumTimeoutMs = 5_000;
/** A standby that is there confirms within this time. */
const standbyReplyMs = 1_000;

interface MigrateOptions {
  readonly dir?: string;
  readonly totalTimeoutMs?: number;
  /** Called before anything is changed, once no other `migrate` runs. */
  readonly onLocked?: (owner: OwnerConnection) => Promise<void>;
  /** Called each time that a migration was kept from running, with a sentence for the operator. */
  readonly onWait?: (sentence: string) => void;
}

/**
 * Applies pending migrations, one by one, beside processes that read and write.
 *
 * A file is one transaction. It gets each of its locks within `lockTimeoutMs`, or is rolled back and tried again after a pause, until
 * `totalTimeoutMs` have passed.
 *
 * A file of concurrent indexes runs statement by statement, without a transaction. Those wait until all transactions that are older
 * have ended, but nobody waits behind them. So they may wait for `totalTimeoutMs`; a shorter timeout would never succeed beside a
 * long reader, since each attempt begins from the start. An index that was left unfinished is dropped first.
 *
 * A second caller waits for the first.
 */
export async function migrate(databaseUrl: string, options: MigrateOptions = {}): Promise<string[]> {
  await using clients = new AsyncDisposableStack();
  const connect = async (applicationName: string) => clients.use(await connectAsOwner(databaseUrl, applicationName));
  const migrator = new Migrator(await connect('homeward migrate'), await connect('homeward migrate, watching'), options);
  return await migrator.run();
}

/** The migrations of this release that the database does not have. */
export async function findPendingMigrations(db: Db): Promise<string[]> {
  return (await compareMigrations(db)).pending;
}

/** Also those of the database that this release does not have: it was migrated by a newer one. */
export async function compareMigrations(db: Db): Promise<{ pending: string[]; unknown: string[] }> {
  const applied = await readRecorded(db);
  const own = readMigrations(migrationsDir).map(({ name }) => name);
  return { pending: own.filter((name) => !applied.includes(name)), unknown: applied.filter((name) => !own.includes(name)).sort() };
}

class Migrator {
  readonly #client: OwnerConnection;
  /** A second connection, which sees what the first one waits for. */
  readonly #watcher: pg.Client;
  readonly #dir: string;
  readonly #totalTimeoutMs: number;
  readonly #onLocked: (owner: OwnerConnection) => Promise<void>;
  readonly #onWait: (sentence: string) => void;

  constructor(client: OwnerConnection, watcher: pg.Client, options: MigrateOptions) {
    this.#client = client;
    this.#watcher = watcher;
    this.#dir = options.dir ?? migrationsDir;
    this.#totalTimeoutMs = options.totalTimeoutMs ?? totalTimeoutMs;
    this.#onLocked = options.onLocked ?? (async () => {});
    this.#onWait = options.onWait ?? (() => {});
  }

  async run(): Promise<string[]> {
    // A timeout of the role, meant for requests, must not end the build of an index.
    await this.#client.query('set statement_timeout = 0');
    await requireSupportedVersion(this.#client);
    await this.#lock();
    await this.#onLocked(this.#client);
    await createRecords(this.#client);
    const pending = findPending(readMigrations(this.#dir), await readRecorded(this.#client));
    for (const file of pending) await this.#applyWithRetries(file);
    await grantRecords(this.#client);
    this.#client.requireConfirmed();
    return pending.map(({ name }) => name);
  }

  /**
   * Polls. A statement that waited would have a snapshot meanwhile, for which the other one's concurrent index would wait in turn.
   */
  async #lock(): Promise<void> {
    await this.#retry(async () => {
      const { rows } = await this.#client.query<{ locked: boolean }>('select pg_try_advisory_lock($1) as locked', [lockId]);
      return rows[0]?.locked ? undefined : 'Another migrate is running on this database.';
    });
  }

  async #applyWithRetries(file: MigrationFile): Promise<void> {
    await this.#retry(async () => {
      const blockers = new Map<number, Blocker>();
      const watch = this.#watch(blockers, file.concurrent ? concurrentBlockersIntervalMs : blockersIntervalMs, file.name);
      try {
        await this.#apply(file);
        this.#client.requireConfirmed();
        return undefined;
      } catch (error) {
        await this.#client.query('rollback').catch(() => {});
        if (!isLockFailure(error)) throw error;
      } finally {
        await watch.stop();
      }
      const all = [...blockers.values()];
      await this.#cancelAutovacuum(all);
      return `${file.name} waits for ${describeBlockers(all)}.`;
    });
  }

  /** One attempt. */
  async #apply({ name, sql, concurrent }: MigrationFile): Promise<void> {
    await this.#client.query(`set lock_timeout = ${concurrent ? this.#totalTimeoutMs : lockTimeoutMs}`);
    if (concurrent) {
      await this.#dropUnfinished(concurrent.flatMap(({ builds }) => builds ?? []));
      // One by one: of several statements in one query, PostgreSQL would make a transaction.
      for (const { text } of concurrent) await this.#send(text);
      await recordMigration(this.#client, name);
    } else {
      await this.#client.query('begin');
      await this.#send(sql);
      await recordMigration(this.#client, name);
      await this.#client.query('commit');
    }
  }

  async #send(text: string): Promise<void> {
    await this.#client.query(text);
  }

  /** A concurrent build that failed leaves an index that no query uses and every write maintains. */
  async #dropUnfinished(names: readonly string[]): Promise<void> {
    const { rows } = await this.#client.query<{ name: string }>(
      `select indexrelid::regclass::text as name from pg_index join pg_class on pg_class.oid = indexrelid
        where relnamespace = current_schema()::regnamespace and relname = any($1) and not indisvalid`,
      [names],
    );
    for (const { name } of rows) await this.#client.query(`drop index concurrently if exists ${name}`);
  }

  /**
   * PostgreSQL cancels an autovacuum that others wait for, but only after deadlock_timeout, which `lockTimeoutMs` is shorter than. A
   * lock that excludes only autovacuum and other changes of the schema may be waited for that long.
   */
  async #cancelAutovacuum(blockers: readonly Blocker[]): Promise<void> {
    for (const { isAutovacuum, table } of blockers) {
      if (!isAutovacuum || !table) continue;
      await this.#client.query(`set lock_timeout = ${autovacuumTimeoutMs}`);
      await this.#client.query('begin');
      await this.#client.query(`lock table ${table} in share update exclusive mode`).catch((error: unknown) => {
        if (!isLockFailure(error)) throw error;
      });
      await this.#client.query('rollback');
    }
  }

  /** Collects what the migration waits for until it is stopped. A concurrent build reports it while it waits. */
  #watch(blockers: Map<number, Blocker>, intervalMs: number, name: string): { stop(): Promise<void> } {
    const pid = (this.#client as unknown as { processID: number }).processID;
    const stopping = new AbortController();
    const watching = (async () => {
      let seenAtMs: number | undefined;
      while (!stopping.signal.aborted) {
        await sleep(intervalMs, undefined, { signal: stopping.signal }).catch(() => {});
        // It only informs: what failed is reported by the migration itself.
        const found = stopping.signal.aborted ? [] : await findBlockers(this.#watcher, pid).catch(() => []);
        for (const blocker of found) blockers.set(blocker.pid, blocker);
        const isAwaiting = !stopping.signal.aborted && (await isAwaitingStandby(this.#watcher, pid).catch(() => false));
        seenAtMs = isAwaiting ? (seenAtMs ?? performance.now()) : undefined;
        if (seenAtMs !== undefined && performance.now() - seenAtMs > standbyReplyMs)
          this.#onWait(`${name} is done here, and waits for the synchronous standby to confirm it.`);
        if (found.length > 0 && intervalMs === concurrentBlockersIntervalMs) this.#onWait(`${name} waits for ${describeBlockers(found)}.`);
      }
    })();
    return {
      stop: async () => {
        stopping.abort();
        await watching;
      },
    };
  }

  /** Repeats `attempt` until it returns undefined. Otherwise it returns what it waits for. */
  async #retry(attempt: () => Promise<string | undefined>): Promise<void> {
    const startMs = performance.now();
    for (let pauseMs = pauseMsMin; ; pauseMs = Math.min(pauseMs * 2, pauseMsMax)) {
      const obstacle = await attempt();
      if (obstacle === undefined) return;
      if (performance.now() - startMs + pauseMs > this.#totalTimeoutMs)
        throw new Error(
          `${obstacle} Gave up after ${Math.round(this.#totalTimeoutMs / 1_000)} s of trying; nothing is half done. Run it again when that has ended.`,
        );
      this.#onWait(obstacle);
      await sleep(pauseMs * (0.75 + Math.random() / 2));
    }
  }
}

const isLockFailure = (error: unknown) => error instanceof pg.DatabaseError && (error.code === '55P03' || error.code === '40P01');
