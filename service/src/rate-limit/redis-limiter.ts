import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { type Clock, systemClock } from '../clock.ts';
import type { RedisLink } from '../redis/redis-link.ts';
import { RedisLost } from '../redis/redis-link.ts';
import type { RedisNames } from '../redis/redis-names.ts';
import type { Charge, Counts, Outcome, Verdict } from './decide.ts';
import type { Debt, LocalLimiter } from './local-limiter.ts';
import { banLengthsMinutes, strikesUntilBan } from './plans.ts';

/** The process remembers the client under another epoch than this one: look it up again. */
export interface Stale {
  readonly epoch: string;
}

interface Entry {
  readonly charge: Charge;
  readonly debt?: Debt;
}

interface Pending extends Entry {
  resolve(answer: Verdict | Stale): void;
  reject(error: Error): void;
}

type ScriptAnswer = [nowMs: number, ...Array<[outcome: Outcome, ...numbers: number[]] | ['stale', string]>];

const lua = readFileSync(new URL('./consume.lua', import.meta.url), 'utf8');
const banLengths = banLengthsMinutes.map((minutes) => minutes * 60_000).join(' ');
const batchSizeMax = 128;

/**
 * Decides by consume.lua. The charges of one turn of the event loop go out as one call: most of a decision's cost is
 * the client library's per command.
 */
export class RedisLimiter {
  readonly #link: RedisLink;
  readonly #names: RedisNames;
  readonly #local: LocalLimiter;
  readonly #clock: Clock;
  #pending: Pending[] = [];

  constructor(link: RedisLink, names: RedisNames, local: LocalLimiter, clock: Clock) {
    this.#link = link;
    this.#names = names;
    this.#local = local;
    this.#clock = clock;
    link.client.defineCommand('consume', { lua });
  }

  consume(charge: Charge): Promise<Verdict | Stale> {
    if (!this.#link.up) return Promise.reject(new RedisLost('the link to Redis is down', { sent: false }));
    return new Promise((resolve, reject) => this.#enqueue({ charge, resolve, reject }));
  }

  /**
   * Adds to Redis what this process admitted on its own, one batch after another, so that none waits for the rest
   * until its deadline. What may have been added is not added again: the counts that this process has seen, which go
   * along with its every call, hold it too.
   */
  async settleDebts(): Promise<void> {
    const debts = this.#local.takeDebts();
    for (let start = 0; start < debts.length; start += batchSizeMax) {
      const batch = debts.slice(start, start + batchSizeMax);
      const entries = batch.map((debt): Entry => ({ charge: { subject: debt.subject, quota: debt.quota, cost: 0 }, debt }));
      try {
        await this.#link.call((client) => this.#callScript(client, entries));
      } catch (error) {
        const unsent = error instanceof RedisLost && error.sent ? debts.slice(start + batchSizeMax) : debts.slice(start);
        for (const debt of unsent) this.#local.returnDebt(debt);
        return;
      }
    }
  }

  #enqueue(pending: Pending): void {
    this.#pending.push(pending);
    if (this.#pending.length === 1) setImmediate(() => this.#flush());
  }

  #flush(): void {
    const all = this.#pending;
    this.#pending = [];
    for (let start = 0; start < all.length; start += batchSizeMax) void this.#send(all.slice(start, start + batchSizeMax));
  }

  async #send(batch: Pending[]): Promise<void> {
    try {
      const send = (client: object) => this.#callScript(client, batch);
      const [nowMs, ...answers] = await this.#link.call(send, (late) => this.#takeLate(batch, late));
      for (const [index, { charge, resolve }] of batch.entries()) {
        const answer = readAnswer(answers[index], nowMs);
        if (!('epoch' in answer)) this.#local.learn(charge, answer);
        resolve(answer);
      }
    } catch (error) {
      for (const { reject } of batch) reject(error as Error);
    }
  }

  /** Decided here meanwhile, but counted there too: what was admitted twice is owed no more, and the rest is settled. */
  #takeLate(batch: readonly Entry[], [nowMs, ...answers]: ScriptAnswer): void {
    for (const [index, { charge }] of batch.entries()) {
      const answer = readAnswer(answers[index], nowMs);
      if (!('epoch' in answer) && answer.outcome === 'admitted') this.#local.forgive(charge, answer);
    }
    void this.settleDebts();
  }

  #callScript(client: object, batch: readonly Entry[]): Promise<ScriptAnswer> {
    const keys: string[] = [];
    // The time is Redis's own, one for all processes, but where a test has handed in a clock.
    const values: Array<string | number> = [
      this.#clock === systemClock ? '' : this.#clock.now(),
      randomBytes(9).toString('base64url'),
      banLengths,
    ];
    for (const { charge, debt } of batch) {
      const { subject, quota, key } = charge;
      const guarded = key ? `${subject}:${key.id}` : subject;
      keys.push(this.#names.counts(subject), this.#names.guard(guarded), this.#names.epoch(subject));
      values.push(quota.perMinute, quota.perDay ?? 0, charge.cost, key ? strikesUntilBan(quota) : 0);
      values.push(key ? (key.epoch ?? '') : '*', writeCounts(debt?.seen ?? this.#local.seen(subject)), writeCounts(debt?.owed));
    }
    keys.push(this.#names.bans);
    const { consume } = client as { consume(...args: unknown[]): Promise<ScriptAnswer> };
    return consume.call(client, keys.length, ...keys, ...values);
  }
}

const writeCounts = (counts: Counts | undefined) => (counts ? `${counts.minute} ${counts.inMinute} ${counts.day} ${counts.inDay}` : '');

function readAnswer(answer: ScriptAnswer[1] | undefined, nowMs: number): Verdict | Stale {
  if (!answer) throw new Error('consume.lua answered fewer requests than it was asked');
  if (answer[0] === 'stale') return { epoch: answer[1] as string };
  const [outcome, minute = 0, inMinute = 0, day = 0, inDay = 0, strikes = 0, bannedUntilMs = 0, banLevel = 0] = answer as [
    Outcome,
    ...number[],
  ];
  return { outcome, nowMs, minute, inMinute, day, inDay, strikes, bannedUntilMs, banLevel };
}
