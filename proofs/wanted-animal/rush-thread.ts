// Sends many requests at once: orders for one animal, or lists. On a thread of its own, so that it does not delay what the proof measures.
import { once } from 'node:events';
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads';
import { place } from '../../testkit/adopters.ts';
import { HttpClient, type Response } from '../../testkit/http.ts';
import type { Key } from '../../testkit/store.ts';

interface Rush {
  readonly urls: readonly string[];
  readonly keys: readonly Key[];
  /** Requests at once. */
  readonly size: number;
}

/** How many orders got each status, or code if it is an error. */
export type Outcomes = Readonly<Record<string, number>>;

export class RushThread implements AsyncDisposable {
  readonly #worker: Worker;

  constructor(rush: Rush) {
    this.#worker = new Worker(new URL(import.meta.url), { workerData: rush });
  }

  /** Returns when the last order has its response. */
  order(petId: number): Promise<Outcomes> {
    return this.#send(petId);
  }

  /** As many cached lists, for comparison. */
  list(): Promise<Outcomes> {
    return this.#send(undefined);
  }

  async #send(petId: number | undefined): Promise<Outcomes> {
    this.#worker.postMessage(petId);
    const [outcomes] = (await once(this.#worker, 'message')) as [Outcomes];
    return outcomes;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#worker.terminate();
  }
}

/** The status, and the code of an error; of a 5xx also what it says. */
export function outcomeOf({ status, text }: Response): string {
  if (status < 300) return String(status);
  const { code, message } = JSON.parse(text) as { code: string; message: string };
  return status < 500 ? `${status} ${code}` : `${status} ${code} (${message})`;
}

if (!isMainThread && isRush(workerData)) {
  const rush = workerData;
  const http = new HttpClient(rush.size);
  parentPort?.on(
    'message',
    (petId: number | undefined) => void sendAtOnce(http, rush, petId).then((outcomes) => parentPort?.postMessage(outcomes)),
  );
}

/** Another thread may import `outcomeOf`. */
function isRush(data: unknown): data is Rush {
  return typeof data === 'object' && data !== null && 'size' in data;
}

async function sendAtOnce(http: HttpClient, { urls, keys, size }: Rush, petId: number | undefined): Promise<Record<string, number>> {
  const outcomes: Record<string, number> = {};
  const send = async (index: number) => {
    // Half of them may be retried.
    const headers: Record<string, string> = index % 2 === 0 ? { 'idempotency-key': crypto.randomUUID() } : {};
    const url = urls[index % urls.length] ?? '';
    const key = keys[index % keys.length] as Key;
    const sent = petId === undefined ? http.send(`${url}/pets`, { key: key.key }) : place(http, url, key, petId, headers);
    const response = await sent.catch(() => undefined);
    const outcome = response ? outcomeOf(response) : 'no response';
    outcomes[outcome] = (outcomes[outcome] ?? 0) + 1;
  };
  await Promise.all(Array.from({ length: size }, (_, index) => send(index)));
  return outcomes;
}
