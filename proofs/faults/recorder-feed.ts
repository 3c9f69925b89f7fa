// Reads the pages of the feed, as a partner that polls.
import { setTimeout as sleep } from 'node:timers/promises';
import type { Requests } from './recorder-requests.ts';

export interface FeedEvent {
  readonly position: number;
  readonly type: string;
  /** Undefined: it is about an order. */
  readonly petId: number | undefined;
}

const triesMax = 100;
const retryMs = 200;

export class FeedReader {
  readonly events: FeedEvent[] = [];
  /** The position from which the next page starts; undefined: the oldest event. */
  cursor: string | undefined;
  readonly #requests: Requests;
  readonly #key: string;

  private constructor(requests: Requests, key: string) {
    this.#requests = requests;
    this.#key = key;
    this.cursor = 'latest';
  }

  /** At the end of the feed. */
  static async open(requests: Requests, key: string): Promise<FeedReader> {
    const reader = new FeedReader(requests, key);
    for (let tries = 0; reader.cursor === 'latest'; tries += 1) {
      if (tries > triesMax) throw new Error('the feed could not be read');
      if (tries > 0) await sleep(retryMs);
      await reader.#readPage();
    }
    return reader;
  }

  /** To the end of the feed, or until the deadline. */
  async readOn(deadlineMs: number): Promise<void> {
    while (performance.now() < deadlineMs) {
      const count = await this.#readPage();
      if (count === 0) return;
      if (count === undefined) await sleep(retryMs);
    }
  }

  /** Undefined: it failed. */
  async #readPage(): Promise<number | undefined> {
    const query = this.cursor === undefined ? '' : `&cursor=${encodeURIComponent(this.cursor)}`;
    const { attempt, json, headers } = await this.#requests.send({ method: 'GET', path: `/events?limit=100${query}`, key: this.#key });
    if (attempt.status === 410) {
      this.cursor = undefined;
      this.events.length = 0;
    }
    const next = /[?&]cursor=([^&>]+)/.exec(String(headers.link))?.[1];
    if (attempt.status !== 200 || next === undefined) return undefined;
    this.cursor = decodeURIComponent(next);
    const page = json as { id: string; type: string; data: { pet?: { id: number } } }[];
    this.events.push(...page.map(({ id, type, data }) => ({ position: Number(id.replace('evt_', '')), type, petId: data.pet?.id })));
    return page.length;
  }
}
