import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { Redis } from 'ioredis';
import type { ListTokens } from '../../domain/list-version.ts';
import type { Clock } from '../../platform/clock.ts';
import type { RedisKeys } from '../../platform/redis/redis-keys.ts';
import { type Charge, type Counts, type Ledger, type Outcome, usedOf, type Verdict } from './decide.ts';
import { banLengthsMinutes, strikesUntilBan } from './plans.ts';

/** One line of a call to consume.lua. */
export interface Line {
  readonly charge: Charge;
  readonly seen?: Ledger | undefined;
  readonly owed?: Counts | undefined;
  readonly back?: Counts | undefined;
  readonly asks?: boolean;
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
  readonly #seenBy: (subject: string) => Ledger | undefined;

  /** `seenBy` returns what this process has seen of a subject's counts, which is sent with every line. */
  constructor(redisKeys: RedisKeys, clock: Clock, seenBy: (subject: string) => Ledger | undefined) {
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
    for (const { charge, seen, owed, back, asks } of lines) {
      const { subject, quota, cost, key } = charge;
      keys.push(
        this.#redisKeys.counts(subject),
        this.#redisKeys.banState(key ? `${subject}:${key.id}` : subject),
        this.#redisKeys.epoch(subject),
        this.#redisKeys.returns(subject),
        this.#redisKeys.bannedKeys(subject),
      );
      const limits = `${quota.perMinute} ${quota.perDay ?? 0} ${cost} ${key ? strikesUntilBan(quota) : 0}`;
      const epoch = key ? (key.epoch ?? '') : '*';
      requests += `${limits};${epoch};${writeLedger(seen ?? this.#seenBy(subject))};${writeCounts(owed)};${writeCounts(back)};${asks ? 1 : ''}\n`;
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

const writeLedger = (ledger: Ledger | undefined) =>
  ledger
    ? `${ledger.minute} ${ledger.grantedInMinute} ${ledger.returnedInMinute} ${ledger.day} ${ledger.grantedInDay} ${ledger.returnedInDay}`
    : '';

const stale = 'stale ';

/** The current epoch, if the line says that the cache entry is stale. */
export const staleEpochOf = (line: string): string | undefined => (line.startsWith(stale) ? line.slice(stale.length) : undefined);

/** What a line says about a request. */
export interface Decided {
  readonly verdict: Verdict;
  readonly ledger: Ledger;
  /** Including the request that asked. */
  readonly leaseSize: number;
  readonly bannedKeys: readonly string[];
}

export function readLine(line: string, nowMs: number): Decided {
  const [outcome, ...texts] = line.split(' ');
  const [minute = 0, grantedInMinute = 0, returnedInMinute = 0, day = 0, grantedInDay = 0, returnedInDay = 0, ...rest] = texts
    .slice(0, numbersMax)
    .map(Number);
  const [strikes = 0, bannedUntilMs = 0, banLevel = 0, leaseSize = 0] = rest;
  const ledger = { minute, grantedInMinute, returnedInMinute, day, grantedInDay, returnedInDay };
  // The requests of a lease that are not used yet are not shown as used.
  const unused = outcome === 'admitted' ? Math.max(leaseSize - 1, 0) : 0;
  const { inMinute, inDay } = usedOf(ledger);
  const counts = { minute, inMinute: inMinute - unused, day, inDay: inDay - unused };
  return {
    verdict: { ...counts, outcome: outcome as Outcome, nowMs, strikes, bannedUntilMs, banLevel },
    ledger,
    leaseSize,
    bannedKeys: texts.slice(numbersMax),
  };
}

/** The numbers of a line, before the ids of banned keys. */
const numbersMax = 10;
