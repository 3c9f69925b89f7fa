// The service without authentication and limits: the difference is what these cost. Never part of the product.

import type { FoundKey } from '../service/src/access/clients/client-queries.ts';
import { KnownKey } from '../service/src/access/clients/key-finder.ts';
import type { Verdict } from '../service/src/access/rate-limit/plans.ts';
import type { PendingDecision } from '../service/src/access/rate-limit/redis-limiter.ts';
import { createApp } from '../service/src/app.ts';
import { type Caches, openCaches, openDependencies } from '../service/src/dependencies.ts';
import { defaultScopes } from '../service/src/domain/scopes.ts';
import { loadConfig } from '../service/src/platform/config.ts';

const found: FoundKey = {
  id: 1n,
  clientId: 1n,
  scopes: defaultScopes,
  expiresAt: null,
  revokedAt: null,
  replacedBy: null,
  shelterId: null,
  plan: 'business',
  perMinute: null,
  perDay: null,
  openOrdersMax: null,
  newCategoriesMax: null,
  suspension: null,
};
const anyone = new KnownKey('', found, { epoch: 'none', generation: 0 });
const admitted: Verdict = {
  outcome: 'admitted',
  nowMs: Date.now(),
  minute: 0,
  inMinute: 0,
  day: 0,
  inDay: 0,
  strikes: 0,
  bannedUntilMs: 0,
  banLevel: 0,
};

const config = loadConfig(process.env);
const dependencies = await openDependencies(config);
const app = await createApp(dependencies, unguarded());
await dependencies.db.open();
await app.server.listen({ host: config.host, port: config.port });
// The parent process has ended.
process.once('disconnect', () => process.exit());

/** The tokens of lists are still read, once per turn of the event loop: without them no page could be cached. */
function unguarded(): Caches {
  const { redis, redisKeys } = dependencies;
  const { pages, listingPages, versionOf } = openCaches(dependencies);
  let pending: PendingDecision[] = [];
  const settle = async () => {
    const batch = pending;
    pending = [];
    try {
      const { catalogueToken, listingsToken } = redisKeys;
      const [catalogue, listings] = await redis.call((client) => client.mget(catalogueToken, listingsToken));
      const listVersion = await versionOf({ catalogue: catalogue ?? undefined, listings: listings ?? undefined });
      for (const one of batch) one.resolve({ by: 'redis', verdict: admitted, listVersion });
    } catch (error) {
      for (const one of batch) one.reject(error);
    }
  };
  const decide = (one: PendingDecision) => {
    pending.push(one);
    if (pending.length === 1) setImmediate(() => void settle());
  };
  return {
    keys: { findCached: () => anyone, isCurrent: () => true, lookUp: async () => anyone },
    limiter: {
      decide,
      consume: (charge) => new Promise((resolve, reject) => decide({ charge, resolve, reject })),
      readEpoch: async () => 'none',
    },
    pages,
    listingPages,
    versionOf,
  };
}
