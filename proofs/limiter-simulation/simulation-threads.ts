// Runs seeds in several threads, each with its own database of one Redis.
import { once } from 'node:events';
import { availableParallelism } from 'node:os';
import { Worker } from 'node:worker_threads';
import type { RunResult } from './simulated-run.ts';
import type { ThreadData } from './simulation-thread.ts';

const threadsMax = 4;

export class SimulationThreads implements AsyncDisposable {
  readonly #workers: readonly Worker[];

  private constructor(workers: readonly Worker[]) {
    this.#workers = workers;
  }

  static async start(socket: string, root: string): Promise<SimulationThreads> {
    const workers = Array.from({ length: Math.min(availableParallelism(), threadsMax) }, (_, database) => {
      const workerData: ThreadData = { socket, database, root };
      return new Worker(new URL('./simulation-thread.ts', import.meta.url), { workerData });
    });
    await Promise.all(workers.map((worker) => once(worker, 'message')));
    return new SimulationThreads(workers);
  }

  /** The results in the order of the seeds, whatever the number of threads. */
  async *run(seeds: readonly number[]): AsyncGenerator<RunResult> {
    const waiting = this.#workers.map((worker, i) => runNext(worker, seeds[i]));
    for (let i = 0; i < seeds.length; i += 1) {
      const thread = i % this.#workers.length;
      const result = await waiting[thread];
      waiting[thread] = runNext(this.#workers[thread] as Worker, seeds[i + this.#workers.length]);
      if (result) yield result;
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.#workers.map((worker) => worker.terminate()));
  }
}

async function runNext(worker: Worker, seed: number | undefined): Promise<RunResult | undefined> {
  if (seed === undefined) return undefined;
  const reply = once(worker, 'message');
  worker.postMessage(seed);
  const [result] = (await reply) as [RunResult];
  return result;
}
