/**
 * Every key that a deployment uses in Redis. Keys begin with the deployment's id, so that two deployments can share a
 * server. The parts in braces are from earlier releases, whose processes run beside this one during an upgrade.
 */
export interface RedisKeys {
  /** The requests that a subject has used in the current windows. */
  counts(subject: string): string;
  /** The strikes and the ban of a key. Called `guard` in Redis, where data of earlier releases has that name. */
  banState(subject: string): string;
  epoch(subject: string): string;
  /** All bans, by their end. */
  readonly bans: string;
  /** A simulated error that a key has requested, on staging. */
  rehearsal(keyId: bigint, kind: string): string;
  readonly catalogueToken: string;
  /** What has changed from each token of the catalogue to the next. */
  readonly catalogueLog: string;
  /** Changes with what only listings show: profiles, photos, shelters. */
  readonly listingsToken: string;
  /** The transactions whose changes are in the log, or were. */
  readonly announcedTransactions: string;
}

export function redisKeysOf(deploymentId: string): RedisKeys {
  const prefix = `hw:${deploymentId}:{0}`;
  return {
    counts: (subject) => `${prefix}:counts:${subject}`,
    banState: (subject) => `${prefix}:guard:${subject}`,
    epoch: (subject) => `${prefix}:epoch:${subject}`,
    bans: `${prefix}:bans`,
    rehearsal: (keyId, kind) => `${prefix}:rehearsal:${keyId}:${kind}`,
    catalogueToken: `hw:${deploymentId}:{catalogue}:token`,
    catalogueLog: `hw:${deploymentId}:{catalogue}:log`,
    listingsToken: `hw:${deploymentId}:{catalogue}:listings-token`,
    announcedTransactions: `hw:${deploymentId}:{catalogue}:announced`,
  };
}

/** The keys that have no expiry. All others are gone a day after they were last used. */
export const lastingKeysOf = ({ bans, catalogueToken, listingsToken }: RedisKeys): string[] => [bans, catalogueToken, listingsToken];
