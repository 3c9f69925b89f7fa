import type { Redis } from 'ioredis';
import type { RedisKeys } from '../redis/redis-keys.ts';

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
    // consume.lua explains the seven numbers of a ban state.
    const [, , , , until, level] = (states[index] ?? '').split(' ').map(Number);
    const [, clientId, keyId] = /:c(\d+):(\d+)$/.exec(banKey) ?? [];
    if (!until || !level || !clientId || !keyId) return [];
    return { keyId, clientId, until: new Date(until).toISOString(), level };
  });
}

/** Ends a key's ban and resets its strikes and level. False if the key was not banned. */
export async function liftBan(redis: Redis, redisKeys: RedisKeys, key: { id: bigint; clientId: bigint }, nowMs: number): Promise<boolean> {
  const banKey = redisKeys.banState(`c${key.clientId}:${key.id}`);
  // The index may still contain a ban that has ended: expired entries are removed when the next ban begins.
  const [until] = await Promise.all([redis.zscore(redisKeys.bans, banKey), redis.zrem(redisKeys.bans, banKey), redis.del(banKey)]);
  return Number(until ?? 0) > nowMs;
}
