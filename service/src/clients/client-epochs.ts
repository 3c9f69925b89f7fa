import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { RedisKeys } from '../redis/redis-keys.ts';
import type { RedisLink } from '../redis/redis-link.ts';

const ttlSeconds = 86_400;
const totalTimeoutMs = 2_000;

/** The name of a client in Redis keys: of its counts and its epoch. */
export const clientSubject = (clientId: bigint) => `c${clientId}`;

/**
 * Invalidates what every process has cached of this client and its keys. Call it after each committed change to either.
 * False if Redis could not be reached. A process that has lost Redis as well doesn't use its cache. Any other may use a
 * stale entry until its TTL ends, a few seconds later.
 */
export async function replaceEpoch(link: RedisLink, redisKeys: RedisKeys, clientId: bigint): Promise<boolean> {
  const deadline = performance.now() + totalTimeoutMs;
  do {
    // A new token for each attempt: otherwise a delayed write could restore an epoch that was replaced in the meantime.
    const token = randomBytes(9).toString('base64url');
    const isStored = await link
      .call((client) => client.set(redisKeys.epoch(clientSubject(clientId)), token, 'EX', ttlSeconds))
      .then(
        () => true,
        () => false,
      );
    if (isStored) return true;
    await sleep(50);
  } while (performance.now() < deadline);
  return false;
}
