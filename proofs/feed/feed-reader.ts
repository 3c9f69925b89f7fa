import { setTimeout as sleep } from 'node:timers/promises';
import type { HttpClient } from '../../testkit/http.ts';

/** What an event of the proof's writers says: the animal's how-manieth it is, and in which transaction it was written. */
export interface Told {
  readonly petId: number;
  readonly n: number;
  readonly transaction: number;
}

const pauseMs = 20;
/** A busy machine may answer 503: then once more. */
const busyMax = 20;

/** Follows the feed by its links, as a partner's program would. */
export class FeedReader {
  readonly #http: HttpClient;
  readonly #url: string;
  readonly #key: string;
  /** What ended it before its time. */
  rejection: string | undefined;
  #next: string;
  #isStopped = false;
  readonly #ids = new Set<string>();
  readonly #told: Told[] = [];
  #repeated = 0;
  #busy = 0;

  constructor(http: HttpClient, url: string, key: string, query: string) {
    this.#http = http;
    this.#url = url;
    this.#key = key;
    this.#next = `/v1/events${query}`;
  }

  /** Events of the proof's writers, each counted once. */
  get seen(): number {
    return this.#told.length;
  }

  stop(): void {
    this.#isStopped = true;
  }

  async follow(): Promise<void> {
    while (!this.#isStopped) {
      const response = await this.#http.send(new URL(this.#next, this.#url).href, { key: this.#key });
      const next = /<([^>]+)>; rel="next"/.exec(String(response.headers.link))?.[1];
      if (response.status === 503 && this.#busy < busyMax) {
        this.#busy += 1;
        await sleep(1_000);
        continue;
      }
      if (response.status !== 200 || !next) {
        this.rejection = `${response.status} ${response.text}`;
        return;
      }
      this.#next = next;
      const events = JSON.parse(response.text) as Array<{ id: string; type: string; data: Told }>;
      for (const event of events) this.#take(event);
      if (events.length === 0) await sleep(pauseMs);
    }
  }

  judge(isCommitted: (transaction: number) => boolean): { repeated: number; undone: number; disordered: number } {
    const last = new Map<number, number>();
    let disordered = 0;
    for (const { petId, n } of this.#told) {
      if (n <= (last.get(petId) ?? 0)) disordered += 1;
      last.set(petId, n);
    }
    const undone = this.#told.filter(({ transaction }) => !isCommitted(transaction)).length;
    return { repeated: this.#repeated, undone, disordered };
  }

  #take({ id, type, data }: { id: string; type: string; data: Told }): void {
    if (type !== 'pet.updated') return;
    if (this.#ids.has(id) || this.#ids.has(`${data.petId} ${data.n}`)) {
      this.#repeated += 1;
      return;
    }
    this.#ids.add(id).add(`${data.petId} ${data.n}`);
    this.#told.push(data);
  }
}
