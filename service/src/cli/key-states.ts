import type { Dependencies } from '../dependencies.ts';
import type { ListedKey } from '../partners/clients/client-queries.ts';
import { findBans } from '../partners/rate-limit/bans.ts';
import { RedisLost } from '../platform/redis/redis-link.ts';
import { printProblem, timeText } from './output.ts';

/**
 * What the key's next request meets. `replaced` means that it was rotated: it works until `expiresAt`. A key can be in several of
 * these states; the first one of this order is shown.
 */
type KeyState = 'revoked' | 'expired' | 'suspended' | 'banned' | 'replaced' | 'active';

interface KeyWithState extends ListedKey {
  readonly state: KeyState;
  readonly bannedUntil: Date | null;
}

/** Adds the state of each key. If Redis does not respond, bans are unknown and left out. */
export async function withStates({ redis, redisKeys, clock }: Dependencies, keys: readonly ListedKey[]): Promise<KeyWithState[]> {
  const nowMs = clock.now();
  const bans = await redis
    .call((client) => findBans(client, redisKeys, keys, nowMs))
    .catch((error: unknown) => {
      if (!(error instanceof RedisLost)) throw error;
      printProblem('Redis does not respond, so bans are not shown.');
      return new Map<bigint, Date>();
    });
  return keys.map((key) => {
    const bannedUntil = bans.get(key.id) ?? null;
    return { ...key, state: stateOf(key, bannedUntil, nowMs), bannedUntil };
  });
}

function stateOf({ revokedAt, expiresAt, suspendedAt, replacedBy }: ListedKey, bannedUntil: Date | null, nowMs: number): KeyState {
  if (revokedAt) return 'revoked';
  if (expiresAt && expiresAt.getTime() <= nowMs) return 'expired';
  if (suspendedAt) return 'suspended';
  if (bannedUntil) return 'banned';
  return replacedBy === null ? 'active' : 'replaced';
}

/** The state with its time: `active (expires in 89 days)`. */
export function describeState({ state, revokedAt, expiresAt, suspendedAt, bannedUntil, replacedBy }: KeyWithState): string {
  const at = (time: Date | null) => (time ? timeText(time) : '');
  const successor = replacedBy === null ? '' : `by key ${replacedBy}`;
  switch (state) {
    case 'revoked':
      return `revoked ${at(revokedAt)}`;
    case 'expired':
      return `expired ${at(expiresAt)}${successor && ` (replaced ${successor})`}`;
    case 'suspended':
      return `suspended ${at(suspendedAt)}`;
    case 'banned':
      return `banned (ends ${at(bannedUntil)})`;
    case 'replaced':
      return `replaced ${successor} (ends ${at(expiresAt)})`;
    case 'active':
      return expiresAt ? `active (expires ${at(expiresAt)})` : 'active';
  }
}
