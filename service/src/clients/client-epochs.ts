import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { RedisKeys } from '../redis/redis-keys.ts';
import type { RedisLink } from '../redis/redis-link.ts';

const ttlSeconds = 86_400;
const totalTimeoutMs = 2_000;

/** The subject under which a client is counted and its epoch is kept. */
export const clientSubject = (clientId: bigint) => `c${clientId}`;

/**
 * Makes every process read this client and its keys again before it believes them: called after each committed
 * change to either. False where Redis could not be told; processes then go without what they remember, since they
 * have lost Redis too, or for the few seconds that they remember a key.
 */
export async function replaceEpoch(link: RedisLink, redisKeys: RedisKeys, clientId: bigint): Promise<boolean> {
  const deadline = performance.now() + totalTimeoutMs;
  do {
    // A fresh token each time: one that was late could otherwise bring back an epoch that has been replaced since.
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
