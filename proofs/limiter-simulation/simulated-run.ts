// One run of the simulation: from a seed follows everything that happens.
import { createHash } from 'node:crypto';
import type { Limiter } from '../../service/src/access/rate-limit/limiter.ts';
import type { Charge, Quota } from '../../service/src/access/rate-limit/plans.ts';
import type { LimiterDecision } from '../../service/src/access/rate-limit/redis-limiter.ts';
import type { RedisLink } from '../../service/src/platform/redis/redis-link.ts';
import { SeededRandom } from '../../testkit/seeded-random.ts';
import { AdmissionBooks, RuleBroken, type RuleName } from './admission-books.ts';
import { type Connection, SimulatedNetwork } from './simulated-network.ts';
import type { VirtualRedis } from './virtual-redis.ts';
import { EventLoop, type VirtualTime } from './virtual-time.ts';

/** The modules of the service, or of a mutant of it. */
export interface LimiterModules {
  readonly Limiter: typeof import('../../service/src/access/rate-limit/limiter.ts').Limiter;
  readonly RedisLink: typeof import('../../service/src/platform/redis/redis-link.ts').RedisLink;
  readonly redisKeysOf: typeof import('../../service/src/platform/redis/redis-link.ts').redisKeysOf;
  readonly systemClock: typeof import('../../service/src/platform/clock.ts').systemClock;
}

export interface RunResult {
  readonly seed: number;
  /** Of the whole trace. */
  readonly hash: string;
  readonly steps: number;
  readonly calls: number;
  readonly decisions: number;
  /** The largest number admitted in a window, as a multiple of the limit. */
  readonly peaks: { readonly alone: number; readonly emptied: number };
  readonly failure?:
    | { readonly step: number; readonly rule: RuleName; readonly message: string; readonly trace: readonly string[] }
    | undefined;
}

export const processCount = 4;
export const stepsPerRun = 500;
const tracedMax = 60;
const stalesMax = 3;
const minuteMs = 60_000;
const midnightMs = Date.parse('2026-12-02T00:00:00Z');

/** Small limits are used up at once; requests of large ones fill several calls. */
const quotas: readonly Quota[] = [
  { perMinute: 3, perDay: 10 },
  { perMinute: 10, perDay: 1_000 },
  { perMinute: 20, perDay: 35 },
  { perMinute: 130, perDay: 200 },
  { perMinute: 256, perDay: 700 },
  { perMinute: 384, perDay: 5_000 },
];
const addressQuota: Quota = { perMinute: 5, perDay: undefined };

const faults = ['stallCalls', 'stallReplies', 'cut', 'cutAll', 'freeze', 'reject', 'empty', 'pause'] as const;
type Fault = (typeof faults)[number];

interface Client {
  readonly subject: string;
  readonly quota: Quota;
  readonly hasKey: boolean;
}

interface Process {
  readonly index: number;
  readonly loop: EventLoop;
  readonly link: RedisLink;
  readonly limiter: Limiter;
  readonly connection: Connection;
  /** The epochs under which it has cached clients. */
  readonly epochs: Map<string, string>;
}

export class SimulatedRun {
  readonly #seed: number;
  readonly #time: VirtualTime;
  readonly #random: SeededRandom;
  readonly #redis: VirtualRedis;
  readonly #modules: LimiterModules;
  readonly #network: SimulatedNetwork;
  readonly #clients: readonly Client[];
  readonly #processes: readonly Process[];
  readonly #books: AdmissionBooks;
  readonly #faults: readonly Fault[];
  readonly #faultRate: number;
  readonly #trace: string[] = [];
  readonly #hash = createHash('sha256');
  readonly #favour: number;
  #favourite = 0;
  #calls = 0;
  #decisions = 0;
  #failure: RuleBroken | undefined;

  constructor(seed: number, parts: { time: VirtualTime; redis: VirtualRedis; modules: LimiterModules }) {
    this.#seed = seed;
    this.#time = parts.time;
    this.#redis = parts.redis;
    this.#modules = parts.modules;
    const random = new SeededRandom(seed);
    this.#random = random;
    // Every other run passes midnight.
    this.#time.reset(midnightMs + (random.chance(0.5) ? -random.between(10, 150) * 1_000 : random.between(0, 10 * minuteMs)));
    this.#faults = faults.filter(() => random.chance(0.5));
    this.#faultRate = this.#faults.length === 0 ? 0 : random.pick([0, 0.02, 0.08, 0.2]);
    this.#favour = random.pick([0, 0.5, 0.97]);
    this.#clients = Array.from({ length: random.between(1, 3) }, (_, i) =>
      random.chance(0.1)
        ? { subject: `192.0.2.${i}`, quota: addressQuota, hasKey: false }
        : { subject: `c${i}`, quota: random.pick(quotas), hasKey: true },
    );
    this.#books = new AdmissionBooks(processCount, new Map(this.#clients.map(({ subject, quota }) => [subject, quota])));
    const events = {
      onExecuted: (call: Parameters<AdmissionBooks['noteExecuted']>[0]) => {
        this.#calls += 1;
        this.#keep(() => this.#books.noteExecuted(call, this.#time.nowMs));
      },
      onReplied: (callId: number) => this.#books.noteReplied(callId),
      trace: (line: string) => this.#note(line),
    };
    this.#network = new SimulatedNetwork({ time: this.#time, redis: this.#redis, random, events });
    const areSkewed = random.chance(0.2);
    this.#processes = Array.from({ length: processCount }, (_, index) =>
      this.#createProcess(index, areSkewed ? random.between(-90_000, 90_000) : 0),
    );
  }

  async run(): Promise<RunResult> {
    await this.#redis.empty();
    for (const { loop, link } of this.#processes) await loop.arrive(() => void link.open(0));
    await this.#time.advance(1_000);
    let step = 0;
    while (step < stepsPerRun && !this.#failure) {
      step += 1;
      await this.#step(step);
    }
    for (const { link, loop } of this.#processes) await this.#time.runIn(loop, () => void link.close());
    const trace = this.#failure ? this.#trace.slice(-tracedMax).map(readable) : [];
    this.#hashTrace(this.#trace.length);
    return {
      seed: this.#seed,
      hash: this.#hash.digest('hex'),
      steps: step,
      calls: this.#calls,
      decisions: this.#decisions,
      peaks: this.#books.peaks,
      failure: this.#failure && { step, rule: this.#failure.rule, message: this.#failure.message, trace },
    };
  }

  #createProcess(index: number, skewMs: number): Process {
    const { Limiter, RedisLink, redisKeysOf, systemClock } = this.#modules;
    const loop = new EventLoop(this.#time, skewMs);
    const link = new RedisLink('redis://127.0.0.1:1');
    const connection = this.#network.connect(index, loop, link.client);
    this.#watchCalls(link);
    const delayMs = this.#random.chance(0.2) ? 20 : 0;
    const limiter = new Limiter({
      link,
      redisKeys: redisKeysOf('simulation'),
      clock: systemClock,
      // The version of lists may have to be read.
      versionOf: () => (delayMs > 0 ? new Promise((resolve) => setTimeout(() => resolve(undefined), delayMs)) : undefined),
      tracing: undefined,
      look: async () => undefined,
      onLocalDecision: () => {},
    });
    return { index, loop, link, limiter, connection, epochs: new Map() };
  }

  /** Notes which calls the process no longer waits for. */
  #watchCalls(link: RedisLink): void {
    const call = link.call.bind(link);
    link.call = async (send, onLate) => {
      let callId = 0;
      try {
        return await call((client) => {
          const reply = send(client);
          callId = this.#network.lastCallId;
          this.#books.noteSent(callId, this.#time.nowMs);
          return reply;
        }, onLate);
      } catch (error) {
        this.#books.noteAbandoned(callId);
        throw error;
      }
    };
  }

  async #step(step: number): Promise<void> {
    const random = this.#random;
    if (this.#faultRate > 0 && random.chance(this.#faultRate)) await this.#fail(step, random.pick(this.#faults));
    else if (random.chance(0.8)) await this.#send(step);
    const ms = this.#nextMs();
    this.#note(`${step}: ${ms} ms pass`);
    await this.#time.advance(ms);
    for (const { index, loop, link, connection } of this.#processes)
      if (loop.skewMs === 0 && link.up && !loop.isPaused && connection.isIdle)
        this.#keep(() => this.#books.checkPaid(index, this.#time.nowMs));
  }

  /** How far the clock advances. */
  #nextMs(): number {
    const random = this.#random;
    const kind = random.next();
    if (kind < 0.3) return 0;
    if (kind < 0.6) return random.between(1, 10);
    if (kind < 0.87) return random.between(10, 120);
    if (kind < 0.97) return random.between(120, 900);
    if (kind < 0.987) return random.between(1_000, 6_000);
    // To just before or after the next minute.
    if (kind < 0.999) return Math.max(minuteMs - (this.#time.nowMs % minuteMs) + random.between(-20, 20), 0);
    return random.between(30_000, 90_000);
  }

  async #send(step: number): Promise<void> {
    const random = this.#random;
    // Mostly the same process for a while: the others then know less of what was used.
    if (random.chance(0.03)) this.#favourite = random.between(0, processCount - 1);
    const process = random.chance(this.#favour) ? (this.#processes[this.#favourite] as Process) : random.pick(this.#processes);
    const client = random.pick(this.#clients);
    const { perMinute } = client.quota;
    const countMax = random.chance(0.05) ? Math.ceil(perMinute / 2) : Math.min(Math.ceil(perMinute / 12), 12);
    const count = random.between(1, countMax);
    const cost = random.chance(0.02) ? 0 : 1;
    // A page that a stream reads is charged to its client without a key.
    const keyId = client.hasKey && random.chance(0.95) ? BigInt(random.between(1, 2)) : undefined;
    this.#note(`${step}: ${count} requests of ${client.subject} reach process ${process.index}, cost ${cost}, key ${keyId ?? 'none'}`);
    const arrivedAtMs = this.#time.nowMs;
    await process.loop.arrive(() => {
      for (let i = 0; i < count; i += 1)
        this.#decide(process, client, {
          cost,
          keyId,
          arrivedAtMs,
          arrival: this.#books.noteArrived(client.subject, process.index),
          stales: 0,
        });
    });
  }

  #decide(
    process: Process,
    client: Client,
    request: {
      readonly cost: 0 | 1;
      readonly keyId: bigint | undefined;
      readonly arrivedAtMs: number;
      readonly arrival: number;
      readonly stales: number;
    },
  ): void {
    const { subject, quota } = client;
    const { cost, keyId } = request;
    const charge: Charge = { subject, quota, cost, ...(keyId !== undefined && { key: { id: keyId, epoch: process.epochs.get(subject) } }) };
    const resolve = (decision: LimiterDecision) => {
      if ('stale' in decision) {
        // The key is read again, and the request decided under the new epoch.
        process.epochs.set(subject, decision.stale.epoch);
        if (request.stales < stalesMax) this.#decide(process, client, { ...request, stales: request.stales + 1 });
        else this.#books.noteEnded(subject, process.index);
        return;
      }
      this.#books.noteEnded(subject, process.index);
      this.#decisions += 1;
      const { by, verdict } = decision;
      const { outcome, minute, inMinute, day, inDay } = verdict;
      this.#note(`  process ${process.index}: ${subject} is ${outcome} by ${by}, minute ${minute} ${inMinute}, day ${day} ${inDay}`);
      if (cost === 0) return;
      const { arrivedAtMs, arrival } = request;
      const decided = { subject, process: process.index, by, outcome, minute, day, arrivedAtMs, arrival, skewMs: process.loop.skewMs };
      this.#keep(() => this.#books.noteDecided(decided, this.#time.nowMs));
    };
    process.limiter.decide({ charge, resolve, reject: (error) => this.#break(error) });
  }

  async #fail(step: number, fault: Fault): Promise<void> {
    const random = this.#random;
    const process = random.pick(this.#processes);
    const note = (text: string) => this.#note(`${step}: ${text}`);
    if (fault === 'stallCalls' || fault === 'stallReplies') {
      const ms = random.between(20, 400);
      note(`${fault} of process ${process.index} for ${ms} ms`);
      process.connection[fault](ms);
    } else if (fault === 'cut' || fault === 'cutAll') {
      const executesCalls = random.chance(0.5);
      note(
        `the connection of ${fault === 'cut' ? `process ${process.index}` : 'each process'} breaks, calls are ${executesCalls ? 'executed' : 'lost'}`,
      );
      for (const { connection } of fault === 'cut' ? [process] : this.#processes) await connection.cut(executesCalls);
    } else if (fault === 'freeze') {
      const ms = random.between(20, 5_000);
      note(`Redis is frozen for ${ms} ms`);
      this.#network.freeze(ms);
    } else if (fault === 'reject') {
      const count = random.between(1, 3);
      note(`Redis rejects the next ${count} calls of process ${process.index}`);
      process.connection.rejectNext(count);
    } else if (fault === 'empty') {
      note('Redis is emptied');
      this.#books.noteEmptied(this.#time.nowMs);
      await this.#network.empty();
    } else {
      const ms = random.between(20, 3_000);
      note(`process ${process.index} is paused for ${ms} ms`);
      process.loop.pause(ms);
    }
  }

  #note(line: string): void {
    if (this.#failure) return;
    this.#trace.push(`${this.#time.nowMs} ${line}`);
    if (this.#trace.length > 2 * tracedMax) this.#hashTrace(tracedMax);
  }

  /** Adds the oldest lines to the hash, and forgets them. */
  #hashTrace(count: number): void {
    this.#hash.update(this.#trace.splice(0, count).join('\n'));
  }

  #keep(check: () => void): void {
    try {
      check();
    } catch (error) {
      this.#break(error);
    }
  }

  /** Only the first broken rule counts. */
  #break(error: unknown): void {
    this.#failure ??=
      error instanceof RuleBroken
        ? error
        : new RuleBroken('error', error instanceof Error ? (error.stack ?? error.message) : String(error));
  }
}

/** With the time of day in place of the milliseconds. */
function readable(line: string): string {
  const space = line.indexOf(' ');
  return `${new Date(Number(line.slice(0, space))).toISOString().slice(11, -1)}${line.slice(space)}`;
}
