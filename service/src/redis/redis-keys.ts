/**
 * Every name that a deployment uses in Redis. The deployment's id comes first, so that two deployments on one server
 * never meet. The braces hold the partition, so that all keys of one decision lie in one slot of a Redis Cluster; a
 * single Redis has one partition.
 */
export interface RedisKeys {
  counts(subject: string): string;
  banState(subject: string): string;
  epoch(subject: string): string;
  readonly bans: string;
  /** A refusal that a key has asked for, to try out what its program does then. */
  rehearsal(keyId: bigint, kind: string): string;
  /** In a slot of its own: every process reads it, whatever the partitions it works for. */
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
