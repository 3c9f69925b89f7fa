import type { FastifyBaseLogger } from 'fastify';
import { type DestinationStream, pino } from 'pino';
import { withoutKeys } from './clients/api-key.ts';
import { KeyFinder } from './clients/key-finder.ts';
import { type Clock, systemClock } from './clock.ts';
import type { Config } from './config.ts';
import { getDeploymentId } from './db/deployment-queries.ts';
import { findPendingMigrations } from './db/migrate.ts';
import { Pool } from './db/pool.ts';
import { type Journal, openJournal } from './journal/journal.ts';
import { Catalogue } from './pets/catalogue.ts';
import { PageCache } from './pets/page-cache.ts';
import { Limiter } from './rate-limit/limiter.ts';
import type { ReadToken } from './rate-limit/redis-limiter.ts';
import { readableLogLine } from './readable-log.ts';
import { type RedisKeys, redisKeysOf } from './redis/redis-keys.ts';
import { RedisLink } from './redis/redis-link.ts';

/** Everything that a process needs. Opened and closed here. */
export interface Dependencies extends AsyncDisposable {
  readonly config: Config;
  readonly clock: Clock;
  readonly log: FastifyBaseLogger;
  readonly db: Pool;
  readonly redis: RedisLink;
  readonly redisKeys: RedisKeys;
  /** Every change to an animal is committed through it. */
  readonly catalogue: Catalogue;
  readonly journal: Journal;
}

export class NotMigrated extends Error {}

const redisWaitMs = 1_000;

export async function openDependencies(config: Config, overrides: { clock?: Clock; byIndex?: boolean } = {}): Promise<Dependencies> {
  const log = createLogger(config);
  const db = new Pool(config.databaseUrl, config.poolSize, { byIndex: overrides.byIndex ?? false });
  const redis = new RedisLink(config.redisUrl);
  const close = async () => {
    await Promise.all([redis.close(), db.close()]);
  };
  try {
    await db.connect();
    const pending = await findPendingMigrations(db);
    if (pending.length > 0) throw new NotMigrated(`The database lacks ${pending.join(', ')}. Run 'homeward migrate' first.`);
    const redisKeys = redisKeysOf(await getDeploymentId(db));
    await redis.open(redisWaitMs);
    if (!redis.up) log.warn('Redis does not reply: this process counts limits by itself until it does');
    redis.onInvalidate(() => log.debug('Redis late: cached keys and pages are invalidated'));
    redis.onLost(() => log.warn('Redis lost: this process counts limits by itself and reads each key from PostgreSQL'));
    redis.onRestored(() => log.info('Redis restored'));
    const catalogue = new Catalogue(db, redis, redisKeys);
    // A command's standard output is its result, so its journal goes to standard error.
    const journal = openJournal({ fd: config.logLevel === 'silent' ? 2 : 1, file: config.journalFile });
    return {
      config,
      clock: overrides.clock ?? systemClock,
      log,
      db,
      redis,
      redisKeys,
      catalogue,
      journal,
      [Symbol.asyncDispose]: close,
    };
  } catch (error) {
    await close();
    throw error;
  }
}

/** The caches and the limiter of one process. */
export interface Caches {
  readonly keys: Pick<KeyFinder, 'findCached' | 'lookUp'>;
  readonly limiter: Pick<Limiter, 'consume' | 'decide'>;
  readonly pages: PageCache;
}

/** The caches are invalidated when a reply of Redis is late or the link is lost; the limiter sends its debts when it is back. */
export function openCaches({ config, db, redis, redisKeys, catalogue, clock, log }: Dependencies): Caches {
  const keys = new KeyFinder(db, clock);
  const pages = new PageCache();
  redis.onInvalidate(() => {
    keys.invalidateAll();
    pages.invalidateAll();
  });
  const readToken: ReadToken = config.pageCache === 'on' ? (client) => catalogue.readToken(client) : async () => undefined;
  const limiter = new Limiter(redis, redisKeys, clock, readToken, () => log.debug('decided without Redis'));
  return { keys, pages, limiter };
}

/** Logs JSON, or lines for people if standard output is a terminal. */
export function createLogger(config: Config): FastifyBaseLogger {
  const options = {
    level: config.logLevel,
    serializers: {
      err: (error: Error) => {
        const { type, message, stack, code } = pino.stdSerializers.err(error) as unknown as Record<string, string>;
        return { type, message: withoutKeys(message ?? ''), stack: withoutKeys(stack ?? ''), code };
      },
    },
  };
  return (process.stdout.isTTY ? pino(options, readableOutput()) : pino(options)) as FastifyBaseLogger;
}

function readableOutput(): DestinationStream {
  const output = pino.destination({ fd: process.stdout.fd, sync: true });
  return { write: (line) => void output.write(`${readableLogLine(line)}\n`) };
}
