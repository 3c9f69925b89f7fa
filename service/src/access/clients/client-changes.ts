import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { Poller } from '../../platform/bounded/poller.ts';
import { settledMs } from '../../platform/db/change-watch.ts';
import type { Db } from '../../platform/db/handles.ts';
import type { RedisKeys, RedisLink } from '../../platform/redis/redis-link.ts';
import { clientSubject } from '../rate-limit/limiter.ts';
import { selectEndedKeys } from './client-queries.ts';

const ttlSeconds = 86_400;
const totalTimeoutMs = 2_000;

/**
 * Call it after each committed change of a client or its keys. Once it returns, every process decides the next request by the new
 * state, even if Redis was not reached: by then each process has looked for changes in PostgreSQL, or doesn't use its caches.
 */
export async function settleClientChange(link: RedisLink, redisKeys: RedisKeys, clientId: bigint): Promise<void> {
  await Promise.all([replaceEpoch(link, redisKeys, clientId), sleep(settledMs)]);
}

/**
 * Makes every process that reaches Redis read this client and its keys again, at once. False if Redis could not be reached.
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

/** Tells of keys that have recently ended. The same key may be told of more than once. */
export type KeyWatch = Poller<ReadonlySet<bigint>>;

const intervalMs = 400;
/** `revoked_at` is the start of the transaction, which may commit up to this much later. */
const commitDelayMaxSeconds = 10;

/**
 * Polls for keys that were revoked, have expired, or were suspended with their client, so that their open streams can be
 * closed: a stream is authenticated only once, when it opens. Each poll covers the time since the last one that succeeded, so an outage
 * of PostgreSQL hides no key.
 */
export const openKeyWatch = (db: Db, onError: (error: unknown) => void): KeyWatch =>
  new Poller<ReadonlySet<bigint>>({
    begin: () => {
      let polledAtMs = performance.now();
      return async () => {
        const startedAtMs = performance.now();
        const ended = new Set(await selectEndedKeys(db, (startedAtMs - polledAtMs) / 1_000 + commitDelayMaxSeconds));
        polledAtMs = startedAtMs;
        return { news: ended.size > 0 ? ended : undefined, hasMore: false };
      };
    },
    intervalMs,
    onError,
  });
