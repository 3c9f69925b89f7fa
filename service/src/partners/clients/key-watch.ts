import { Poller } from '../../platform/bounded/poller.ts';
import type { Db } from '../../platform/db/handles.ts';
import { selectEndedKeys } from './client-queries.ts';

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
