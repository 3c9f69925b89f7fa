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
export async function listBans(redis: Redis, names: RedisKeys, nowMs: number): Promise<Ban[]> {
  const guards = await redis.zrangebyscore(names.bans, `(${nowMs}`, '+inf', 'LIMIT', 0, listedMax);
  if (guards.length === 0) return [];
  const states = await redis.mget(guards);
  return guards.flatMap((guard, index) => {
    // The seven numbers of a guard are explained in consume.lua.
    const [, , , , until, level] = (states[index] ?? '').split(' ').map(Number);
    const [, clientId, keyId] = /:c(\d+):(\d+)$/.exec(guard) ?? [];
    if (!until || !level || !clientId || !keyId) return [];
    return { keyId, clientId, until: new Date(until).toISOString(), level };
  });
}

/** Ends a key's ban and forgets its strikes and level. False where none was in force. */
export async function liftBan(redis: Redis, names: RedisKeys, key: { id: bigint; clientId: bigint }, nowMs: number): Promise<boolean> {
  const guard = names.banState(`c${key.clientId}:${key.id}`);
  // The index keeps a ban that is over until the next one begins.
  const [until] = await Promise.all([redis.zscore(names.bans, guard), redis.zrem(names.bans, guard), redis.del(guard)]);
  return Number(until ?? 0) > nowMs;
}
