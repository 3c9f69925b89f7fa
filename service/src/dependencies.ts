import type { FastifyBaseLogger } from 'fastify';
import { KeyFinder } from './access/clients/key-finder.ts';
import { Limiter } from './access/rate-limit/limiter.ts';
import type { VersionOf } from './access/rate-limit/redis-limiter.ts';
import { PageTokens } from './adoption/applications/page-tokens.ts';
import { ShelterLinks } from './adoption/shelters/shelter-links.ts';
import { Catalogue } from './animals/list-cache/catalogue.ts';
import { ChangeLog, petLog, shownLog, versionOfPages } from './animals/list-cache/change-log.ts';
import { PageCache } from './animals/list-cache/page-cache.ts';
import { ListingChanges, type ListingFootprint, type ListingVersion } from './animals/list-cache/shown-changes.ts';
import type { Clock } from './platform/clock.ts';
import type { Config, TracingConfig } from './platform/config.ts';
import { ChangeWatch } from './platform/db/change-watch.ts';
import { getDeployment, isOnAnotherServer } from './platform/db/deployment.ts';
import { findPendingMigrations } from './platform/db/migrate.ts';
import { Pool } from './platform/db/pool.ts';
import { explainPostgresFailure } from './platform/db/postgres-failures.ts';
import { type ActingProcess, requireSupportedVersion } from './platform/db/postgres-servers.ts';
import { type OpenLog, openLog } from './platform/log.ts';
import { explainRedisFailure, type RedisKeys, RedisLink, redisDeadlineMs, redisKeysOf } from './platform/redis/redis-link.ts';
import { problemAndFix } from './platform/tls-faults.ts';
import type { OpenTracing, Tracing } from './platform/tracing/tracing.ts';

/** Everything that a process needs. Opened and closed here. */
export interface Dependencies extends OpenLog, AsyncDisposable {
  readonly config: Config;
  readonly clock: Clock;
  readonly db: Pool;
  readonly redis: RedisLink;
  readonly redisKeys: RedisKeys;
  /** Every change that a list can show is committed through it: of an animal, a profile, a photo or a shelter. */
  readonly catalogue: Catalogue;
  /** Looks for changes that Redis may have missed. */
  readonly changes: ChangeWatch;
  /** Writes and reads the links to adopters' pages. */
  readonly pageTokens: PageTokens;
  readonly shelterLinks: ShelterLinks;
  /** Keys of other signatures are derived from it. */
  readonly secret: Buffer;
  /** Undefined: no traces. */
  readonly tracing: Tracing | undefined;
}

export class NotMigrated extends Error {}

const redisWaitMs = 1_000;
const restoredWarning =
  "The store was restored from a backup, or a standby has taken over. Stop every process and run 'homeward restore-check'; after a failover without loss, run it with --nothing-lost";

export interface DependencyOverrides {
  readonly clock?: Clock | undefined;
  readonly byIndex?: boolean;
  /** How many times longer it waits for servers before it takes them for lost: cores that do other work too are late, and lose nothing. */
  readonly timeoutFactor?: number;
  /** What the process is, if it acts for others. */
  readonly actsAs?: ActingProcess;
}

export async function openDependencies(config: Config, overrides: DependencyOverrides = {}): Promise<Dependencies> {
  const { byIndex = false, timeoutFactor = 1, actsAs } = overrides;
  const { log, endLog } = openLog(config);
  const db = new Pool(config.databaseUrl, config.poolSize, {
    byIndex,
    timeoutFactor,
    actsAs,
    onIdsSkipped: () => log.warn('ids go on higher: PostgreSQL is on another server, which may lack the last ones'),
  });
  const redis = new RedisLink(config.redisUrl, config.redisSentinelPassword, timeoutFactor * redisDeadlineMs);
  const opened = config.tracing && (await openTraces(config.tracing, log));
  if (opened) db.watchStatements(opened.tracing.watchStatement);
  const close = async () => {
    await Promise.all([redis.close(), db.close(), opened?.[Symbol.asyncDispose]()]);
  };
  try {
    await db.connect();
    await requireSupportedVersion(db);
    const pending = await findPendingMigrations(db);
    if (pending.length > 0) throw new NotMigrated(`The database lacks ${pending.join(', ')}. Run 'homeward migrate' first.`);
    const { id, secret } = await getDeployment(db);
    const redisKeys = redisKeysOf(id);
    if (await isOnAnotherServer(db)) log.warn(restoredWarning);
    await redis.open(redisWaitMs);
    if (!redis.up) {
      const reason = problemAndFix(explainRedisFailure(redis.failure, config.redisUrl));
      log.warn({ reason }, "Redis can't be used: this process counts limits by itself until it can");
    }
    redis.on('late', () => log.debug('Redis late'));
    redis.on('lost', () => log.warn('Redis lost: this process counts limits by itself'));
    redis.on('restored', () => log.info('Redis restored'));
    let lostAtMs = 0;
    db.onReachability((lost) => {
      const reason = lost && problemAndFix(explainPostgresFailure(lost, config.databaseUrl));
      if (lost) {
        lostAtMs = performance.now();
        log.warn({ reason }, 'PostgreSQL lost: what needs it is rejected until it is back');
      } else log.info({ seconds: Math.round((performance.now() - lostAtMs) / 100) / 10 }, 'PostgreSQL restored');
    });
    db.onConfirmation((isConfirmed) => {
      if (isConfirmed) log.info('PostgreSQL confirms writes again');
      else log.warn('PostgreSQL does not confirm writes: its standby may be away. Writes are rejected until it does');
    });
    const catalogue = new Catalogue(db, redis, redisKeys);
    return {
      config,
      clock: overrides.clock ?? db.clock,
      log,
      endLog,
      db,
      redis,
      redisKeys,
      catalogue,
      changes: new ChangeWatch(db.ahead),
      pageTokens: new PageTokens(secret),
      shelterLinks: new ShelterLinks(secret),
      secret,
      tracing: opened?.tracing,
      [Symbol.asyncDispose]: close,
    };
  } catch (error) {
    await close();
    throw error;
  }
}

/** Imported only here: a process without traces doesn't load the SDK of OpenTelemetry. */
async function openTraces(config: TracingConfig, log: FastifyBaseLogger): Promise<OpenTracing> {
  const { openTracing } = await import('./platform/tracing/tracing.ts');
  return openTracing({ ...config, onError: (error) => log.warn({ err: error }, 'could not export traces') });
}

/** The limiter of a process that caches no pages. */
export const openLimiter = ({ redis, redisKeys, clock, log, tracing }: Dependencies): Limiter =>
  new Limiter({
    link: redis,
    redisKeys,
    clock,
    tracing,
    versionOf: () => undefined,
    look: async () => undefined,
    onLocalDecision: () => log.debug('decided without Redis'),
  });

/** The caches and the limiter of one process. */
export interface Caches {
  readonly keys: Pick<KeyFinder, 'findCached' | 'isCurrent' | 'lookUp'>;
  readonly limiter: Pick<Limiter, 'consume' | 'decide' | 'readEpoch'>;
  readonly pages: PageCache;
  readonly listingPages: PageCache<ListingFootprint, ListingVersion>;
  readonly versionOf: VersionOf;
}

/** With what the metrics are made of. */
interface OpenCaches extends Caches {
  readonly keys: KeyFinder;
  readonly limiter: Limiter;
}

/**
 * When Redis is late, lost or back, nothing cached is used before the next look for changes: Redis may not know of all of them.
 * Keys stay cached, since a look finds out whose have changed. Pages are dropped when Redis is lost, and when it is back: it may come back with an old token.
 */
export function openCaches({ config, db, redis, redisKeys, changes, clock, log, tracing }: Dependencies): OpenCaches {
  const keys = new KeyFinder(db, clock);
  const changeLog = new ChangeLog(redis, redisKeys, petLog);
  const pages = new PageCache(changeLog);
  const shownChangeLog = new ChangeLog(redis, redisKeys, shownLog);
  const listingPages = new PageCache(new ListingChanges(changeLog, shownChangeLog));
  const invalidateAll = () => {
    pages.invalidateAll();
    listingPages.invalidateAll();
  };
  changes.on('clients', (ids) => keys.evictClients(ids));
  changes.on('all', () => keys.evictAll());
  changes.on('unannounced', invalidateAll);
  redis.on('late', () => changes.invalidate());
  const startAgain = () => {
    changes.invalidate();
    invalidateAll();
  };
  redis.on('lost', startAgain);
  redis.on('restored', startAgain);
  const cachesPages = config.pageCache === 'on';
  const versionOf: VersionOf = cachesPages ? versionOfPages(changes, changeLog, shownChangeLog) : () => undefined;
  const limiter = new Limiter({
    link: redis,
    redisKeys,
    clock,
    tracing,
    versionOf,
    look: cachesPages ? () => changes.look() : () => changes.look().then(() => undefined),
    onLocalDecision: () => log.debug('decided without Redis'),
  });
  return { keys, pages, listingPages, limiter, versionOf };
}
