// The connections of the simulated processes to Redis. As with TCP, calls and replies of a connection stay in order, and are lost only
// with the connection.
import { type Redis, ReplyError } from 'ioredis';
import type { SeededRandom } from '../../testkit/seeded-random.ts';
import type { VirtualRedis } from './virtual-redis.ts';
import type { EventLoop, VirtualTime } from './virtual-time.ts';

/** What the simulation uses of a command of ioredis. */
interface Command {
  readonly name: string;
  readonly args: ReadonlyArray<string | number>;
  readonly promise: Promise<unknown>;
  resolve(value: unknown): void;
  reject(error: Error): void;
}

/** A call of the script, as Redis saw it. */
export interface ExecutedCall {
  readonly id: number;
  readonly process: number;
  /** The lines of the request, without keys. */
  readonly requests: readonly string[];
  readonly subjects: readonly string[];
  readonly replies: readonly string[];
}

export interface NetworkEvents {
  onExecuted(call: ExecutedCall): void;
  /** The process has got the reply of the call, in time or late. */
  onReplied(callId: number): void;
  trace(line: string): void;
}

interface Flight {
  readonly command: Command;
  readonly callId: number;
}

const latencyMsMax = 2;
const reconnectMs = { from: 50, to: 500 };
const connectMs = 1;
/** The keys of a line: counts, ban state, epoch. */
const keysPerLine = 3;

export class SimulatedNetwork {
  readonly #time: VirtualTime;
  readonly #redis: VirtualRedis;
  readonly #random: SeededRandom;
  readonly #events: NetworkEvents;
  #frozenUntilMs = 0;
  #calls = 0;
  #epochs = 0;

  constructor(parts: { time: VirtualTime; redis: VirtualRedis; random: SeededRandom; events: NetworkEvents }) {
    this.#time = parts.time;
    this.#redis = parts.redis;
    this.#random = parts.random;
    this.#events = parts.events;
  }

  get isFrozen(): boolean {
    return this.#time.nowMs < this.#frozenUntilMs;
  }

  /** Connects a process: `client`, which never connects by itself, sends its commands through this network. */
  connect(process: number, loop: EventLoop, client: Redis): Connection {
    return new Connection({ ...this.#parts, network: this, process, loop, client });
  }

  /** Redis executes nothing until then. */
  freeze(ms: number): void {
    this.#frozenUntilMs = Math.max(this.#frozenUntilMs, this.#time.nowMs + ms);
  }

  async empty(): Promise<void> {
    await this.#redis.empty();
  }

  get frozenUntilMs(): number {
    return this.#frozenUntilMs;
  }

  get lastCallId(): number {
    return this.#calls;
  }

  nextCallId(): number {
    this.#calls += 1;
    return this.#calls;
  }

  async execute(process: number, { command, callId }: Flight): Promise<unknown> {
    const { name } = command;
    // What the probe asks: whether this is a primary that accepts writes.
    if (name === 'role') return ['master', 0, []];
    if (name === 'set') return null;
    if (name !== 'evalsha') throw new Error(`the simulation doesn't know the command ${name}`);
    const [keyCount, ...args] = command.args.slice(1).map(String);
    const keys = args.slice(0, Number(keyCount));
    const [now, , banLengths, requests = ''] = args.slice(Number(keyCount));
    // In place of the process's random one.
    const epoch = `epoch${this.#epochs++}`;
    const reply = await this.#redis.runScript(
      [String(keyCount), ...keys, now as string, epoch, banLengths as string, requests],
      this.#time.nowMs,
    );
    const [, ...replies] = reply.split('\n');
    const lines = requests.split('\n').slice(0, -1);
    const subjects = lines.map((_, i) => (keys[i * keysPerLine] ?? '').replace(/^.*:counts:/, ''));
    lines.forEach((line, i) => {
      this.#events.trace(`  Redis, call ${callId} of process ${process}: ${subjects[i]} ${line} -> ${replies[i]}`);
    });
    this.#events.onExecuted({ id: callId, process, requests: lines, subjects, replies });
    return reply;
  }

  get #parts() {
    return { time: this.#time, random: this.#random, events: this.#events };
  }
}

/**
 * The connection of one process. A command is in `#calls` until Redis executes it, then in `#replies` until the process reads it.
 * `#flights` has those that the process waits for.
 */
export class Connection {
  readonly #network: SimulatedNetwork;
  readonly #time: VirtualTime;
  readonly #random: SeededRandom;
  readonly #events: NetworkEvents;
  readonly #process: number;
  readonly #loop: EventLoop;
  readonly #client: Redis;
  readonly #flights = new Set<Flight>();
  #calls: Flight[] = [];
  #replies: Array<{ flight: Flight; value: unknown }> = [];
  /** Calls of connections that are closed, which Redis still executes. */
  #orphans = 0;
  #isOpen = false;
  /** It is broken, which the process has not read yet: what it sends is lost. */
  #isCut = false;
  #generation = 0;
  #callsStallUntilMs = 0;
  #repliesStallUntilMs = 0;
  #rejections = 0;

  constructor(parts: {
    network: SimulatedNetwork;
    time: VirtualTime;
    random: SeededRandom;
    events: NetworkEvents;
    process: number;
    loop: EventLoop;
    client: Redis;
  }) {
    this.#network = parts.network;
    this.#time = parts.time;
    this.#random = parts.random;
    this.#events = parts.events;
    this.#process = parts.process;
    this.#loop = parts.loop;
    this.#client = parts.client;
    Object.assign(parts.client, {
      connect: async () => this.#openIn(connectMs),
      disconnect: (reconnects?: boolean) => reconnects && void this.cut(false),
      sendCommand: (command: Command) => this.#send(command),
    });
  }

  /** No call or reply is on its way. */
  get isIdle(): boolean {
    return this.#isOpen && this.#flights.size === 0 && this.#orphans === 0;
  }

  stallCalls(ms: number): void {
    this.#callsStallUntilMs = Math.max(this.#callsStallUntilMs, this.#time.nowMs + ms);
  }

  stallReplies(ms: number): void {
    this.#repliesStallUntilMs = Math.max(this.#repliesStallUntilMs, this.#time.nowMs + ms);
  }

  /** Redis rejects the next calls of the script, as one that is out of memory does. */
  rejectNext(count: number): void {
    this.#rejections = count;
  }

  /** The connection breaks: replies are lost. Calls that Redis has not read are lost too, or it still executes them. */
  async cut(executesCalls: boolean): Promise<void> {
    if (!this.#isOpen || this.#isCut) return;
    this.#isCut = true;
    this.#generation += 1;
    if (executesCalls) {
      this.#orphans += this.#calls.length;
      for (const flight of this.#calls) this.#time.at(this.#arrivalMs(), () => this.#executeOrphan(flight));
    }
    this.#calls = [];
    this.#replies = [];
    const reopensInMs = this.#random.between(reconnectMs.from, reconnectMs.to);
    // Replies that have arrived are read first.
    await this.#loop.arrive(() => {
      this.#isOpen = false;
      this.#isCut = false;
      const flights = [...this.#flights];
      this.#flights.clear();
      this.#client.emit('close');
      for (const { command } of flights) command.reject(new Error('Connection is closed.'));
      this.#openIn(reopensInMs);
    });
  }

  #openIn(ms: number): void {
    this.#time.at(this.#time.nowMs + ms, () => {
      this.#isOpen = true;
    });
  }

  #send(command: Command): Promise<unknown> {
    const flight = { command, callId: this.#network.nextCallId() };
    if (!this.#isOpen) {
      command.reject(new Error("Stream isn't writeable and enableOfflineQueue options is false"));
      return command.promise;
    }
    const generation = this.#generation;
    this.#flights.add(flight);
    if (this.#isCut) return command.promise;
    this.#calls.push(flight);
    this.#time.at(this.#arrivalMs(), () => this.#executeNext(generation));
    return command.promise;
  }

  #arrivalMs(): number {
    return Math.max(this.#callsStallUntilMs, this.#time.nowMs + this.#random.between(0, latencyMsMax));
  }

  async #executeNext(generation: number): Promise<void> {
    const waitsUntilMs = Math.max(this.#network.frozenUntilMs, this.#callsStallUntilMs);
    if (this.#time.nowMs < waitsUntilMs) {
      this.#time.at(waitsUntilMs, () => this.#executeNext(generation));
      return;
    }
    const flight = generation === this.#generation ? this.#calls.shift() : undefined;
    if (!flight) return;
    if (flight.command.name === 'evalsha' && this.#rejections > 0) {
      this.#rejections -= 1;
      this.#events.trace(`  Redis rejects call ${flight.callId} of process ${this.#process}`);
      this.#reply(flight, new ReplyError("OOM command not allowed when used memory > 'maxmemory'."), generation);
      return;
    }
    this.#reply(flight, await this.#network.execute(this.#process, flight), generation);
  }

  async #executeOrphan(flight: Flight): Promise<void> {
    if (this.#network.isFrozen) {
      this.#time.at(this.#network.frozenUntilMs, () => this.#executeOrphan(flight));
      return;
    }
    this.#orphans -= 1;
    await this.#network.execute(this.#process, flight);
  }

  #reply(flight: Flight, value: unknown, generation: number): void {
    this.#replies.push({ flight, value });
    const atMs = Math.max(this.#repliesStallUntilMs, this.#time.nowMs + this.#random.between(0, latencyMsMax));
    this.#time.at(atMs, () => this.#deliverNext(generation));
  }

  async #deliverNext(generation: number): Promise<void> {
    if (this.#time.nowMs < this.#repliesStallUntilMs) {
      this.#time.at(this.#repliesStallUntilMs, () => this.#deliverNext(generation));
      return;
    }
    const next = generation === this.#generation ? this.#replies.shift() : undefined;
    if (!next) return;
    const { flight, value } = next;
    await this.#loop.arrive(() => {
      this.#flights.delete(flight);
      this.#events.onReplied(flight.callId);
      if (value instanceof Error) flight.command.reject(value);
      else flight.command.resolve(value);
    });
  }
}
