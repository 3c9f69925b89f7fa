// Sends applications for one animal, each second as many, by different clients for different adopters. On a thread of its own, so that it
// does not delay what the proof measures.
import { once } from 'node:events';
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads';
import { apply } from '../../testkit/adopters.ts';
import { HttpClient } from '../../testkit/http.ts';
import { loadFor } from '../../testkit/steady-load.ts';
import type { Key } from '../../testkit/store.ts';
import { type Outcomes, outcomeOf } from './rush-thread.ts';

interface Applicants {
  readonly urls: readonly string[];
  readonly keys: readonly Key[];
  readonly perSecond: number;
}

interface Rush {
  /** Undefined: cached lists, for comparison. */
  readonly petId: number | undefined;
  readonly ms: number;
}

export class ApplicantsThread implements AsyncDisposable {
  readonly #worker: Worker;

  constructor(applicants: Applicants) {
    this.#worker = new Worker(new URL(import.meta.url), { workerData: applicants });
  }

  /** Returns when the last application has its response. */
  apply(petId: number, ms: number): Promise<Outcomes> {
    return this.#send({ petId, ms });
  }

  /** As many cached lists, for comparison. */
  list(ms: number): Promise<Outcomes> {
    return this.#send({ petId: undefined, ms });
  }

  async #send(rush: Rush): Promise<Outcomes> {
    this.#worker.postMessage(rush);
    const [outcomes] = (await once(this.#worker, 'message')) as [Outcomes];
    return outcomes;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#worker.terminate();
  }
}

if (!isMainThread) {
  const { urls, keys, perSecond } = workerData as Applicants;
  const http = new HttpClient(perSecond);
  let sent = 0;
  const rush = async ({ petId, ms }: Rush) => {
    const outcomes: Record<string, number> = {};
    const samples = await loadFor(ms, perSecond, () => {
      const index = sent++;
      const key = keys[index % keys.length] as Key;
      const url = urls[index % urls.length] ?? '';
      if (petId === undefined) return http.send(`${url}/pets`, { key: key.key });
      return apply(http, url, key, petId, `adopter.${index}@example.org`);
    });
    for (const { response } of samples) {
      const outcome = response ? outcomeOf(response) : 'no response';
      outcomes[outcome] = (outcomes[outcome] ?? 0) + 1;
    }
    return outcomes;
  };
  parentPort?.on('message', (message: Rush) => void rush(message).then((outcomes) => parentPort?.postMessage(outcomes)));
}
