import type { FastifyBaseLogger } from 'fastify';
import { pino } from 'pino';
import { withoutKeys } from './clients/api-key.ts';
import { KeyFinder } from './clients/key-finder.ts';
import { type Clock, systemClock } from './clock.ts';
import type { Config } from './config.ts';
import { getDeploymentId } from './db/deployment-queries.ts';
import { findPendingMigrations } from './db/migrate.ts';
import { Pool } from './db/pool.ts';
import { Limiter } from './rate-limit/limiter.ts';
import { RedisLink } from './redis/redis-link.ts';
import { type RedisNames, redisNames } from './redis/redis-names.ts';

/** All that a process of Homeward works with; opened here, closed here. */
export interface Dependencies extends AsyncDisposable {
  readonly config: Config;
  readonly clock: Clock;
  readonly log: FastifyBaseLogger;
  readonly db: Pool;
  readonly redis: RedisLink;
  readonly names: RedisNames;
}

export class NotMigrated extends Error {}

const redisWaitMs = 1_000;

export async function openDependencies(config: Config, overrides: { clock?: Clock } = {}): Promise<Dependencies> {
  const log = createLogger(config);
  const db = new Pool(config.databaseUrl, config.poolSize);
  const redis = new RedisLink(config.redisUrl);
  const close = async () => {
    await Promise.all([redis.close(), db.close()]);
  };
  try {
    await db.connect();
    const pending = await findPendingMigrations(db);
    if (pending.length > 0) throw new NotMigrated(`The database lacks ${pending.join(', ')}. Run 'homeward migrate' first.`);
    const names = redisNames(await getDeploymentId(db));
    await redis.open(redisWaitMs);
    if (!redis.up) log.warn('Redis does not answer: limits are counted in this process until it does');
    redis.onDoubt(() => log.debug('Redis late: what it vouched for is read again'));
    redis.onLost(() => log.warn('Redis lost: limits are counted in this process, and keys are looked up each time'));
    redis.onRestored(() => log.info('Redis restored'));
    return { config, clock: overrides.clock ?? systemClock, log, db, redis, names, [Symbol.asyncDispose]: close };
  } catch (error) {
    await close();
    throw error;
  }
}

/** The limiter and the key memory share the link's fate: both drop or hand over what they hold when it changes. */
export function openAdmission({ db, redis, names, clock, log }: Dependencies): { keys: KeyFinder; limiter: Limiter } {
  const keys = new KeyFinder(db);
  redis.onDoubt(() => keys.forgetAll());
  return { keys, limiter: new Limiter(redis, names, clock, () => log.debug('decided without Redis')) };
}

export function createLogger(config: Config): FastifyBaseLogger {
  return pino({
    level: config.logLevel,
    serializers: {
      err: (error) => {
        const { type, message, stack, code } = pino.stdSerializers.err(error) as unknown as Record<string, string>;
        return { type, message: withoutKeys(message ?? ''), stack: withoutKeys(stack ?? ''), code };
      },
    },
  }) as FastifyBaseLogger;
}
