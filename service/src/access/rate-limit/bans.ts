import type { Redis } from 'ioredis';
import type { RedisKeys } from '../../platform/redis/redis-link.ts';

export interface Ban {
  readonly keyId: string;
  readonly clientId: string;
  readonly until: string;
  readonly level: number;
}

const listedMax = 1_000;

/** Active bans, sorted by their end. */
export async function listBans(redis: Redis, redisKeys: RedisKeys, nowMs: number): Promise<Ban[]> {
  const banKeys = await redis.zrangebyscore(redisKeys.bans, `(${nowMs}`, '+inf', 'LIMIT', 0, listedMax);
  if (banKeys.length === 0) return [];
  const states = await redis.mget(banKeys);
  return banKeys.flatMap((banKey, index) => {
    const { until, level } = parseBanState(states[index]);
    const [, clientId, keyId] = /:c(\d+):(\d+)$/.exec(banKey) ?? [];
    if (!until || !level || !clientId || !keyId) return [];
    return { keyId, clientId, until: new Date(until).toISOString(), level };
  });
}

/** When the bans of these keys end, by key. Keys that are not banned are left out. */
export async function findBans(
  redis: Redis,
  redisKeys: RedisKeys,
  keys: ReadonlyArray<{ id: bigint; clientId: bigint }>,
  nowMs: number,
): Promise<Map<bigint, Date>> {
  if (keys.length === 0) return new Map();
  const states = await redis.mget(keys.map(banKeyOf(redisKeys)));
  return new Map(
    keys.flatMap(({ id }, index) => {
      const { until } = parseBanState(states[index]);
      return until > nowMs ? [[id, new Date(until)] as const] : [];
    }),
  );
}

/** Ends a key's ban and resets its strikes and level. False if the key was not banned. */
export async function liftBan(redis: Redis, redisKeys: RedisKeys, key: { id: bigint; clientId: bigint }, nowMs: number): Promise<boolean> {
  const banKey = banKeyOf(redisKeys)(key);
  // The index may still contain a ban that has ended: expired entries are removed when the next ban begins.
  const [until] = await Promise.all([redis.zscore(redisKeys.bans, banKey), redis.zrem(redisKeys.bans, banKey), redis.del(banKey)]);
  return Number(until ?? 0) > nowMs;
}

const banKeyOf =
  (redisKeys: RedisKeys) =>
  ({ id, clientId }: { id: bigint; clientId: bigint }): string =>
    redisKeys.banState(`c${clientId}:${id}`);

/** consume.lua explains the seven numbers of a ban state. Zeros: there is none. */
function parseBanState(state: string | null | undefined): { until: number; level: number } {
  const [, , , , until = 0, level = 0] = (state ?? '').split(' ').map(Number);
  return { until, level };
}
