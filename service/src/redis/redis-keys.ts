/**
 * Every key that a deployment uses in Redis. Keys begin with the deployment's id, so that two deployments can share a
 * server. The part in braces is the hash tag of the partition: all keys of one decision are in one slot of a Redis Cluster.
 * There is one partition, 0.
 */
export interface RedisKeys {
  counts(subject: string): string;
  /** The strikes and the ban of a key. Called `guard` in Redis, where data of earlier releases has that name. */
  banState(subject: string): string;
  epoch(subject: string): string;
  readonly bans: string;
  /** A simulated error that a key has requested, on staging. */
  rehearsal(keyId: bigint, kind: string): string;
  /** In a separate slot: every process reads it, whatever its partition. */
  readonly catalogueToken: string;
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
  };
}
