import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { Redis } from 'ioredis';
import type { ListTokens } from '../../domain/caches.ts';
import type { Clock } from '../../platform/clock.ts';
import type { RedisKeys } from '../../platform/redis/redis-keys.ts';
import type { Charge, Counts, Outcome, Verdict } from './decide.ts';
import { banLengthsMinutes, strikesUntilBan } from './plans.ts';

/** One line of a call to consume.lua. */
export interface Line {
  readonly charge: Charge;
  readonly seen?: Counts;
  readonly owed?: Counts;
}

/** The reply of consume.lua: the time, the tokens of lists, and a line for each request. */
export interface ScriptReply {
  readonly nowMs: number;
  readonly tokens: ListTokens;
  readonly lines: readonly string[];
}

const lua = readFileSync(new URL('./consume.lua', import.meta.url), 'utf8');
const banLengths = banLengthsMinutes.map((minutes) => minutes * 60_000).join(' ');

/** consume.lua as a function: writes its arguments, and reads its reply. */
export class ConsumeScript {
  readonly #redisKeys: RedisKeys;
  readonly #clock: Clock;
  readonly #seenBy: (subject: string) => Counts | undefined;

  /** `seenBy` returns what this process has seen of a subject's counts, which is sent with every line. */
  constructor(redisKeys: RedisKeys, clock: Clock, seenBy: (subject: string) => Counts | undefined) {
    this.#redisKeys = redisKeys;
    this.#clock = clock;
    this.#seenBy = seenBy;
  }

  static define(client: Redis): void {
    client.defineCommand('consume', { lua });
  }

  async call(client: object, lines: readonly Line[]): Promise<ScriptReply> {
    const keys: string[] = [];
    let requests = '';
    for (const { charge, seen, owed } of lines) {
      const { subject, quota, cost, key } = charge;
      keys.push(
        this.#redisKeys.counts(subject),
        this.#redisKeys.banState(key ? `${subject}:${key.id}` : subject),
        this.#redisKeys.epoch(subject),
      );
      const limits = `${quota.perMinute} ${quota.perDay ?? 0} ${cost} ${key ? strikesUntilBan(quota) : 0}`;
      const epoch = key ? (key.epoch ?? '') : '*';
      requests += `${limits};${epoch};${writeCounts(seen ?? this.#seenBy(subject))};${writeCounts(owed)}\n`;
    }
    keys.push(this.#redisKeys.bans, this.#redisKeys.catalogueToken, this.#redisKeys.listingsToken);
    // Redis's clock, which all processes share, unless a test has injected one.
    const now = this.#clock.isReal ? '' : String(this.#clock.now());
    const { consume } = client as { consume(...args: unknown[]): Promise<string> };
    const [head = '', ...replies] = (await consume.call(client, keys.length, ...keys, now, newEpoch(), banLengths, requests)).split('\n');
    const [time, catalogue, listings] = head.split(' ');
    return { nowMs: Number(time), tokens: { catalogue: catalogue || undefined, listings: listings || undefined }, lines: replies };
  }
}

const processId = randomBytes(9).toString('base64url');
let epochCount = 0;

/** Never an epoch that was used before: that would make stale cache entries valid again. */
const newEpoch = () => `${processId}${(epochCount++).toString(36)}`;

const writeCounts = (counts: Counts | undefined) => (counts ? `${counts.minute} ${counts.inMinute} ${counts.day} ${counts.inDay}` : '');

const stale = 'stale ';

/** The current epoch, if the line says that the cache entry is stale. */
export const staleEpochOf = (line: string): string | undefined => (line.startsWith(stale) ? line.slice(stale.length) : undefined);

/** What a line says about a request. */
export function readVerdict(line: string, nowMs: number): Verdict {
  const [outcome, ...numbers] = line.split(' ');
  const [minute = 0, inMinute = 0, day = 0, inDay = 0, strikes = 0, bannedUntilMs = 0, banLevel = 0] = numbers.map(Number);
  return { outcome: outcome as Outcome, nowMs, minute, inMinute, day, inDay, strikes, bannedUntilMs, banLevel };
}
