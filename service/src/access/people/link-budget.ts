// How often somebody gets a link to sign in by mail. What is counted is what was sent, so that asking again and again keeps nobody out. Every
// address has its counts, whether anybody here has it or not: what the page says tells nothing about it.
import { hash } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import { networkOfAddress } from '../../platform/caller-addresses.ts';
import type { Clock } from '../../platform/clock.ts';
import { canonicalAddress } from '../../platform/email-addresses.ts';
import type { RedisKeys, RedisLink } from '../../platform/redis/redis-link.ts';

/** Links in a UTC day, and the least time from one to the next. */
interface Share {
  readonly key: string;
  readonly dayMax: number;
  readonly gapMs: number;
}

/** Who asks for a link. */
export interface LinkAsker {
  readonly email: string;
  /** Of the request. */
  readonly from: string;
  /** A device on which the person of this address was signed in before. */
  readonly deviceId: string | undefined;
}

export interface LinkTurn {
  readonly isGranted: boolean;
  /** Until the next one may go. */
  readonly waitMs: number;
}

const gapMs = 60_000;
/** In a UTC day. */
const linksToAddressMax = 10;
const linksFromNetworkMax = 3;
const linksOfDeviceMax = 10;
/** To all addresses, whether somebody has them or not. */
const countedOfNetworkMax = 300;
const dayMs = 86_400_000;
/** Without Redis: of those who ask at one process. */
const localSharesMax = 10_000;

/** Counts of a share: how many on which day, and when the last one was. */
interface State {
  readonly day: number;
  readonly count: number;
  readonly lastMs: number;
}

/** All shares have room, or nothing is counted in any. Each is gone a minute after its day. */
const script = `
local now, day = tonumber(ARGV[1]), math.floor(tonumber(ARGV[1]) / 86400000)
local states, wait = {}, 0
local function waitOf(state, max, gap)
  if state.count >= max then return (day + 1) * 86400000 - now end
  return math.max(0, state.last + gap - now)
end
for i, key in ipairs(KEYS) do
  local found = redis.call('HMGET', key, 'day', 'count', 'last')
  states[i] = { count = tonumber(found[1]) == day and tonumber(found[2]) or 0, last = tonumber(found[3]) or 0 }
  wait = math.max(wait, waitOf(states[i], tonumber(ARGV[2 * i]), tonumber(ARGV[2 * i + 1])))
end
if wait > 0 then return {0, wait} end
for i, key in ipairs(KEYS) do
  local state = states[i]
  state.count, state.last = state.count + 1, now
  redis.call('HSET', key, 'day', day, 'count', state.count, 'last', now)
  redis.call('PEXPIREAT', key, (day + 1) * 86400000 + 60000)
  wait = math.max(wait, waitOf(state, tonumber(ARGV[2 * i]), tonumber(ARGV[2 * i + 1])))
end
return {1, wait}
`;

export class LinkBudget {
  readonly #redis: RedisLink;
  readonly #keys: RedisKeys;
  readonly #clock: Clock;
  readonly #local = new LRUCache<string, State>({ max: localSharesMax });

  constructor({ redis, redisKeys, clock }: { redis: RedisLink; redisKeys: RedisKeys; clock: Clock }) {
    this.#redis = redis;
    this.#keys = redisKeys;
    this.#clock = clock;
  }

  /** Counts a link, if it may go now. Without Redis, this process counts by itself. */
  async take(asker: LinkAsker): Promise<LinkTurn> {
    const shares = sharesOf(asker);
    const nowMs = this.#clock.now();
    if (!this.#redis.up) return this.#takeHere(shares, nowMs);
    const keys = shares.map(({ key }) => this.#keys.links(key));
    const bounds = shares.flatMap((share) => [share.dayMax, share.gapMs]);
    try {
      const reply = await this.#redis.call((client) => client.eval(script, keys.length, ...keys, nowMs, ...bounds));
      const [granted, waitMs] = reply as [number, number];
      return { isGranted: granted === 1, waitMs };
    } catch {
      return this.#takeHere(shares, nowMs);
    }
  }

  /** The script, in this process. */
  #takeHere(shares: readonly Share[], nowMs: number): LinkTurn {
    const day = Math.floor(nowMs / dayMs);
    const waitFor = (states: readonly State[]) =>
      Math.max(
        ...shares.map(({ dayMax, gapMs: gap }, i) => {
          const { count, lastMs } = states[i] ?? { count: 0, lastMs: 0 };
          return count >= dayMax ? (day + 1) * dayMs - nowMs : Math.max(0, lastMs + gap - nowMs);
        }),
      );
    const before = shares.map(({ key }): State => {
      const found = this.#local.get(key);
      return { day, count: found?.day === day ? found.count : 0, lastMs: found?.lastMs ?? 0 };
    });
    const waitMs = waitFor(before);
    if (waitMs > 0) return { isGranted: false, waitMs };
    const after = before.map(({ count }): State => ({ day, count: count + 1, lastMs: nowMs }));
    for (const [i, { key }] of shares.entries()) this.#local.set(key, after[i] as State);
    return { isGranted: true, waitMs: waitFor(after) };
  }
}

/**
 * A device has its own, which nobody else can use up. Others share what an address gets, of which a network has a part, so that it takes four
 * networks to use up a day's. The share of a network bounds how many addresses it can have counted.
 */
function sharesOf({ email, from, deviceId }: LinkAsker): readonly Share[] {
  if (deviceId !== undefined) return [{ key: `device:${deviceId}`, dayMax: linksOfDeviceMax, gapMs }];
  const address = hash('sha256', canonicalAddress(email) ?? email, 'base64url');
  const network = networkOfAddress(from);
  return [
    { key: `address:${address}`, dayMax: linksToAddressMax, gapMs },
    { key: `address:${address}:${network}`, dayMax: linksFromNetworkMax, gapMs: 0 },
    { key: `network:${network}`, dayMax: countedOfNetworkMax, gapMs: 0 },
  ];
}
