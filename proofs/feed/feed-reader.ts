import { setTimeout as sleep } from 'node:timers/promises';
import type { HttpClient } from '../../testkit/http.ts';

/** The data of an event by the proof's writers: `n` counts the events of an animal from 1. */
export interface WriterEvent {
  readonly petId: number;
  readonly n: number;
  readonly transaction: number;
}

const pauseMs = 20;
/** How often a reader retries after a 503, which a busy machine may cause. */
const busyMax = 20;

/** Follows the feed by its links, as a partner's program would. */
export class FeedReader {
  readonly #http: HttpClient;
  readonly #url: string;
  readonly #key: string;
  /** The error response that ended this reader early. */
  rejection: string | undefined;
  #next: string;
  #isStopped = false;
  readonly #ids = new Set<string>();
  readonly #received: WriterEvent[] = [];
  #duplicates = 0;
  #busy = 0;

  constructor(http: HttpClient, url: string, key: string, query: string) {
    this.#http = http;
    this.#url = url;
    this.#key = key;
    this.#next = `/v1/events${query}`;
  }

  /** Events of the proof's writers, each counted once. */
  get seen(): number {
    return this.#received.length;
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
      const events = JSON.parse(response.text) as Array<{ id: string; type: string; data: WriterEvent }>;
      for (const event of events) this.#take(event);
      if (events.length === 0) await sleep(pauseMs);
    }
  }

  judge(isCommitted: (transaction: number) => boolean): { duplicates: number; rolledBack: number; outOfOrder: number } {
    const last = new Map<number, number>();
    let outOfOrder = 0;
    for (const { petId, n } of this.#received) {
      if (n <= (last.get(petId) ?? 0)) outOfOrder += 1;
      last.set(petId, n);
    }
    const rolledBack = this.#received.filter(({ transaction }) => !isCommitted(transaction)).length;
    return { duplicates: this.#duplicates, rolledBack, outOfOrder };
  }

  #take({ id, type, data }: { id: string; type: string; data: WriterEvent }): void {
    if (type !== 'pet.updated') return;
    if (this.#ids.has(id) || this.#ids.has(`${data.petId} ${data.n}`)) {
      this.#duplicates += 1;
      return;
    }
    this.#ids.add(id).add(`${data.petId} ${data.n}`);
    this.#received.push(data);
  }
}
