// Replaces the clock and the timers of this thread, so that the code of several simulated processes runs on a time that only the
// simulation advances. It is the thread's globals that are replaced: whatever the service takes its time from is covered.
import { syncBuiltinESMExports } from 'node:module';
import timersPromises from 'node:timers/promises';

type Callback = (...args: unknown[]) => unknown;

interface Event {
  readonly atMs: number;
  readonly order: number;
  readonly run: () => void | Promise<void>;
}

class Timer {
  isCleared = false;

  unref(): this {
    return this;
  }
}

/**
 * The event loop of a simulated process. As in Node.js, a turn runs the timers that are due, then what has arrived, then the
 * immediates, and the promises after each. A paused process collects timers and arrivals, and runs them when it is resumed.
 */
export class EventLoop {
  /** How far the process's clock is ahead of the true time. */
  readonly skewMs: number;
  readonly #time: VirtualTime;
  #pausedUntilMs = 0;
  #isRunning = false;
  #timers: Array<() => void> = [];
  #arrivals: Array<() => void> = [];
  #immediates: Array<() => void> = [];

  constructor(time: VirtualTime, skewMs: number) {
    this.#time = time;
    this.skewMs = skewMs;
  }

  get isPaused(): boolean {
    return this.#time.nowMs < this.#pausedUntilMs;
  }

  /** Runs when the process reads its sockets. */
  async arrive(run: () => void): Promise<void> {
    this.#arrivals.push(run);
    await this.run();
  }

  pause(ms: number): void {
    this.#pausedUntilMs = Math.max(this.#pausedUntilMs, this.#time.nowMs + ms);
    this.#time.at(this.#pausedUntilMs, () => this.run());
  }

  startTimer(ms: number, run: () => void): Timer {
    const timer = new Timer();
    this.#time.at(this.#time.nowMs + Math.max(Math.ceil(ms), 1), () => {
      if (timer.isCleared) return undefined;
      this.#timers.push(() => {
        if (!timer.isCleared) run();
      });
      return this.run();
    });
    return timer;
  }

  addImmediate(run: () => void): void {
    this.#immediates.push(run);
  }

  async run(): Promise<void> {
    if (this.isPaused || this.#isRunning) return;
    this.#isRunning = true;
    while (this.#timers.length + this.#arrivals.length + this.#immediates.length > 0) {
      const timers = this.#timers;
      this.#timers = [];
      for (const run of timers) await this.#time.runIn(this, run);
      const arrivals = this.#arrivals;
      this.#arrivals = [];
      for (const run of arrivals) await this.#time.runIn(this, run);
      const immediates = this.#immediates;
      this.#immediates = [];
      for (const run of immediates) await this.#time.runIn(this, run);
    }
    this.#isRunning = false;
  }
}

export class VirtualTime {
  nowMs = 0;
  readonly #events: Event[] = [];
  #orders = 0;
  #current: EventLoop | undefined;

  /** Runs at the given time: in the order of times, and at the same time in the order of the calls. */
  at(atMs: number, run: Event['run']): void {
    const event = { atMs: Math.max(atMs, this.nowMs), order: this.#orders++, run };
    this.#events.push(event);
    // A heap: the children of i are 2i + 1 and 2i + 2.
    for (let i = this.#events.length - 1; i > 0; ) {
      const parent = (i - 1) >> 1;
      if (isBefore(this.#events[parent] as Event, event)) break;
      this.#events[i] = this.#events[parent] as Event;
      this.#events[parent] = event;
      i = parent;
    }
  }

  async advance(ms: number): Promise<void> {
    const untilMs = this.nowMs + ms;
    for (let event = this.#take(untilMs); event; event = this.#take(untilMs)) {
      this.nowMs = event.atMs;
      await event.run();
    }
    this.nowMs = untilMs;
  }

  /** Begins a new run, without any event of the last one. */
  reset(nowMs: number): void {
    this.nowMs = nowMs;
    this.#events.length = 0;
    this.#orders = 0;
  }

  /** Runs code of a process, and everything that its promises lead to. */
  async runIn(loop: EventLoop, run: () => void): Promise<void> {
    this.#current = loop;
    run();
    await settled();
    this.#current = undefined;
  }

  /** From now on the globals of this thread are those of the process whose code runs. */
  install(): void {
    const loop = () => {
      if (!this.#current) throw new Error('code outside of the simulated processes uses a clock or a timer');
      return this.#current;
    };
    const setTimeout = (run: Callback, ms = 0, ...args: unknown[]) => loop().startTimer(ms, () => run(...args));
    const setImmediate = (run: Callback, ...args: unknown[]) => loop().addImmediate(() => run(...args));
    const clearTimeout = (timer: unknown) => {
      if (timer instanceof Timer) timer.isCleared = true;
    };
    Object.assign(globalThis, { setTimeout, setImmediate, clearTimeout });
    Object.assign(timersPromises, {
      setTimeout: (ms: number, value: unknown) => new Promise((resolve) => loop().startTimer(ms, () => resolve(value))),
    });
    syncBuiltinESMExports();
    Date.now = () => this.nowMs + loop().skewMs;
    performance.now = () => this.nowMs + loop().skewMs;
  }

  #take(untilMs: number): Event | undefined {
    const [first] = this.#events;
    if (!first || first.atMs > untilMs) return undefined;
    const last = this.#events.pop() as Event;
    if (last === first) return first;
    let i = 0;
    for (;;) {
      const [left, right] = [2 * i + 1, 2 * i + 2];
      const smaller = right < this.#events.length && isBefore(this.#events[right] as Event, this.#events[left] as Event) ? right : left;
      if (smaller >= this.#events.length || isBefore(last, this.#events[smaller] as Event)) break;
      this.#events[i] = this.#events[smaller] as Event;
      i = smaller;
    }
    this.#events[i] = last;
    return first;
  }
}

const isBefore = (one: Event, other: Event) => one.atMs < other.atMs || (one.atMs === other.atMs && one.order < other.order);

/** All promises that can be settled without an event are: ticks run after them. */
const settled = () => new Promise<void>((resolve) => process.nextTick(resolve));
