// What arrived at receivers that run in a thread, in memory that both threads read.
import { once } from 'node:events';
import { Worker } from 'node:worker_threads';

export interface ArrivalLog {
  readonly count: Int32Array;
  /** The number of the endpoint, from its URL. */
  readonly endpoints: Int32Array;
  /** The position of the event; -1: a test. */
  readonly positions: Float64Array;
  /** From Date.now(). */
  readonly timesMs: Float64Array;
}

/** In place of an endpoint's number, if the request was for none. */
export const elsewhere = -1;

export interface LoggedArrival {
  readonly endpoint: number;
  readonly position: number;
  readonly atMs: number;
}

/** Servers that respond with 204 at once, in a thread of their own, and record each request. */
export class ReceiverThread implements AsyncDisposable {
  readonly origins: readonly string[];
  readonly #log: ArrivalLog;
  readonly #worker: Worker;

  private constructor(worker: Worker, log: ArrivalLog, ports: readonly number[]) {
    this.#worker = worker;
    this.#log = log;
    this.origins = ports.map((port) => `http://127.0.0.1:${port}`);
  }

  /** At most `arrivalsMax` requests are recorded. */
  static async open({ servers, arrivalsMax }: { servers: number; arrivalsMax: number }): Promise<ReceiverThread> {
    const log: ArrivalLog = {
      count: new Int32Array(new SharedArrayBuffer(4)),
      endpoints: new Int32Array(new SharedArrayBuffer(4 * arrivalsMax)),
      positions: new Float64Array(new SharedArrayBuffer(8 * arrivalsMax)),
      timesMs: new Float64Array(new SharedArrayBuffer(8 * arrivalsMax)),
    };
    const worker = new Worker(new URL('./receiver-thread.ts', import.meta.url), { workerData: { log, servers } });
    const [ports] = (await once(worker, 'message')) as [number[]];
    return new ReceiverThread(worker, log, ports);
  }

  get count(): number {
    return Atomics.load(this.#log.count, 0);
  }

  /** In the order of arrival, from the given one on. */
  *arrivals(from = 0): Generator<LoggedArrival> {
    const { endpoints, positions, timesMs } = this.#log;
    for (let i = from; i < this.count; i += 1)
      yield { endpoint: endpoints[i] ?? elsewhere, position: positions[i] ?? -1, atMs: timesMs[i] ?? Number.NaN };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#worker.terminate();
  }
}
