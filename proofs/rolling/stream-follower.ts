// A reader of the event stream that reconnects, as a browser does.
import { setTimeout as sleep } from 'node:timers/promises';
import type { Key } from '../../testkit/store.ts';
import { StreamReader } from '../../testkit/stream-reader.ts';

/** Shorter than the second that the stream asks for, so that there are more reconnects in less time. */
const reconnectMs = 50;
const pollMs = 10;
const triesMax = 200;

export class StreamFollower implements AsyncDisposable {
  /** The ids of the events, in the order in which they arrived. */
  readonly ids: string[] = [];
  connects = 0;
  /** Connections that were rejected, with their statuses. A stream that ends is not a failure. */
  readonly failures: string[] = [];
  readonly #urlOf: () => string;
  readonly #key: Key;
  #isStopped = false;
  readonly #running: Promise<void>;

  /** `urlOf` is asked for each connection. */
  constructor(urlOf: () => string, key: Key) {
    this.#urlOf = urlOf;
    this.#key = key;
    this.#running = this.#run();
  }

  /** Waits until it has seen this event. */
  async untilSeen(id: string, timeoutMs: number): Promise<boolean> {
    for (const deadlineMs = performance.now() + timeoutMs; performance.now() < deadlineMs; await sleep(pollMs)) {
      if (this.ids.at(-1) === id || this.ids.includes(id)) return true;
    }
    return false;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isStopped = true;
    await this.#running;
  }

  async #run(): Promise<void> {
    let lastId: string | undefined;
    while (!this.#isStopped && this.failures.length < triesMax) {
      const options = { key: this.#key.key, ...(lastId !== undefined && { lastId }) };
      const reader = await StreamReader.open(`${this.#urlOf()}/events`, options).catch((error: unknown) => String(error));
      if (typeof reader === 'string' || reader.status !== 200) {
        this.failures.push(typeof reader === 'string' ? reader : String(reader.status));
      } else {
        this.connects += 1;
        lastId = await this.#follow(reader, lastId);
      }
      if (!this.#isStopped) await sleep(reconnectMs);
    }
  }

  async #follow(reader: StreamReader, before: string | undefined): Promise<string | undefined> {
    let taken = 0;
    const take = () => {
      for (; taken < reader.events.length; taken += 1) this.ids.push((JSON.parse(reader.events[taken]?.data ?? '{}') as { id: string }).id);
    };
    while (!reader.isEnded && !this.#isStopped) {
      await sleep(pollMs);
      take();
    }
    reader[Symbol.dispose]();
    take();
    return reader.lastId ?? before;
  }
}
