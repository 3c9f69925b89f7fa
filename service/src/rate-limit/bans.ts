import type { Redis } from 'ioredis';
import type { RedisKeys } from '../redis/redis-keys.ts';

export interface Ban {
  readonly keyId: string;
  readonly clientId: string;
  readonly until: string;
  readonly level: number;
}

const listedMax = 1_000;

/** Bans in force, the soonest to end first. */
export async function listBans(redis: Redis, redisKeys: RedisKeys, nowMs: number): Promise<Ban[]> {
  const banKeys = await redis.zrangebyscore(redisKeys.bans, `(${nowMs}`, '+inf', 'LIMIT', 0, listedMax);
  if (banKeys.length === 0) return [];
  const states = await redis.mget(banKeys);
  return banKeys.flatMap((banKey, index) => {
    // The seven numbers of a guard are explained in consume.lua.
    const [, , , , until, level] = (states[index] ?? '').split(' ').map(Number);
    const [, clientId, keyId] = /:c(\d+):(\d+)$/.exec(banKey) ?? [];
    if (!until || !level || !clientId || !keyId) return [];
    return { keyId, clientId, until: new Date(until).toISOString(), level };
  });
}

/** Ends a key's ban and forgets its strikes and level. False where none was in force. */
export async function liftBan(redis: Redis, redisKeys: RedisKeys, key: { id: bigint; clientId: bigint }, nowMs: number): Promise<boolean> {
  const banKey = redisKeys.banState(`c${key.clientId}:${key.id}`);
  // The index keeps a ban that is over until the next one begins.
  const [until] = await Promise.all([redis.zscore(redisKeys.bans, banKey), redis.zrem(redisKeys.bans, banKey), redis.del(banKey)]);
  return Number(until ?? 0) > nowMs;
}
