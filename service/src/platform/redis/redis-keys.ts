export type RedisKeys = ReturnType<typeof redisKeysOf>;

/**
 * Every key that a deployment uses in Redis. Keys begin with the deployment's id, so that two deployments can share a
 * server. The parts in braces are from earlier releases: the processes of 1.1.0 run beside these during an upgrade, with the same keys.
 */
export function redisKeysOf(deploymentId: string) {
  const [prefix, catalogue] = [`hw:${deploymentId}:{0}`, `hw:${deploymentId}:{catalogue}`];
  return {
    /** The requests that a subject has used in the current windows. */
    counts: (subject: string) => `${prefix}:counts:${subject}`,
    /** The strikes and the ban of a key. Called `guard` in Redis, where data of earlier releases has that name. */
    banState: (subject: string) => `${prefix}:guard:${subject}`,
    epoch: (subject: string) => `${prefix}:epoch:${subject}`,
    /** All bans, by their end. */
    bans: `${prefix}:bans`,
    /** A simulated error that a key has requested, on staging. */
    rehearsal: (keyId: bigint, kind: string) => `${prefix}:rehearsal:${keyId}:${kind}`,
    /** The links to sign in that were mailed today, by address, network and device. */
    links: (share: string) => `${prefix}:links:${share}`,
    catalogueToken: `${catalogue}:token`,
    /** What has changed from each token of the catalogue to the next. */
    catalogueLog: `${catalogue}:log`,
    /** Changes with what only listings show: profiles, photos, shelters. */
    listingsToken: `${catalogue}:listings-token`,
    /** What has changed from each token of listings to the next. */
    listingsLog: `${catalogue}:listings-log`,
    /** The transactions whose changes are in the log, or were. */
    announcedTransactions: `${catalogue}:announced`,
  };
}

/** The keys that have no expiry. All others are gone a day after they were last used. */
export const lastingKeysOf = ({ bans, catalogueToken, listingsToken }: RedisKeys): string[] => [bans, catalogueToken, listingsToken];
