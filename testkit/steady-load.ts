// Sends requests at a fixed rate without waiting for earlier responses, so that a store that hangs gets the same load.
import { setTimeout as sleep } from 'node:timers/promises';
import type { Response } from './http.ts';

export interface Sample {
  /** The number of the request, from 0. */
  readonly index: number;
  /** From performance.now(). */
  readonly sentAtMs: number;
  readonly tookMs: number;
  /** Measured from the time at which the request was due, so that delays of this process count too. */
  readonly sinceDueMs: number;
  /** Undefined if the connection failed. */
  readonly response: Response | undefined;
}

export class SteadyLoad {
  readonly samples: Sample[] = [];
  readonly #pending = new Set<Promise<void>>();
  readonly #send: (index: number) => Promise<Response>;
  #stopped = false;
  readonly #done: Promise<void>;

  constructor(perSecond: number, send: (index: number) => Promise<Response>) {
    this.#send = send;
    this.#done = this.#run(perSecond);
  }

  /** Stops sending, and returns all samples once the last response has arrived. */
  async stop(): Promise<readonly Sample[]> {
    this.#stopped = true;
    await this.#done;
    await Promise.all(this.#pending);
    return this.samples;
  }

  async #run(perSecond: number): Promise<void> {
    const startMs = performance.now();
    for (let sent = 0; !this.#stopped; ) {
      const due = Math.floor(((performance.now() - startMs) / 1_000) * perSecond) + 1;
      for (; sent < due; sent += 1) {
        const one = this.#sample(sent, startMs + (sent / perSecond) * 1_000).finally(() => this.#pending.delete(one));
        this.#pending.add(one);
      }
      // A load that nobody stops, since its proof has failed, does not keep the process alive.
      await sleep(Math.max(startMs + (sent / perSecond) * 1_000 - performance.now(), 1), undefined, { ref: false });
    }
  }

  async #sample(index: number, dueAtMs: number): Promise<void> {
    const sentAtMs = performance.now();
    const response = await this.#send(index).catch(() => undefined);
    const respondedAtMs = performance.now();
    this.samples.push({ index, sentAtMs, tookMs: respondedAtMs - sentAtMs, sinceDueMs: respondedAtMs - dueAtMs, response });
  }
}

/** Runs the load for `ms` milliseconds. */
export async function loadFor(ms: number, perSecond: number, send: (index: number) => Promise<Response>): Promise<readonly Sample[]> {
  const load = new SteadyLoad(perSecond, send);
  await sleep(ms);
  return load.stop();
}
