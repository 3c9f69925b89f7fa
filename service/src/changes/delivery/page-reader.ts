import { FairTurns } from '../../platform/bounded/fair-turns.ts';
import type { Db } from '../../platform/db/handles.ts';
import { type EventRow, readSubscribed } from '../events/events.ts';
import type { DueRows } from './due-rows.ts';
import type { Endpoint } from './endpoint.ts';
import type { FeedReader } from './feed-reader.ts';

interface PageReaderParts {
  readonly db: Db;
  readonly feed: FeedReader;
  readonly dueRows: DueRows;
  disable(endpoints: readonly Endpoint[], reason: string): Promise<void>;
  /** The endpoint has events to send, or nothing more. */
  onRead(endpoint: Endpoint): void;
  onError(error: unknown): void;
}

const pageSize = 64;
const readsMax = 8;
const behindDaysMax = 7;
const dayMs = 86_400_000;

/** Reads pages for endpoints that are further behind than the window, some at a time. Clients take turns. */
export class PageReader {
  readonly #parts: PageReaderParts;
  readonly #wanted = new Set<Endpoint>();
  /** Of clients. What waits is bounded by the endpoints that a client may have. */
  readonly #turns = new FairTurns({ turnsMax: readsMax, turnsOfOwnerMax: readsMax, pendingOfOwnerMax: Number.POSITIVE_INFINITY });

  constructor(parts: PageReaderParts) {
    this.#parts = parts;
  }

  /** Reads the next page for the endpoint, in its turn. */
  request(endpoint: Endpoint): void {
    if (this.#wanted.has(endpoint)) return;
    this.#wanted.add(endpoint);
    void this.#turns.run(endpoint.clientId, () => this.#readNow(endpoint));
  }

  async #readNow(endpoint: Endpoint): Promise<void> {
    this.#wanted.delete(endpoint);
    if (endpoint.isReadingPage || endpoint.isRetired) return;
    endpoint.isReadingPage = true;
    try {
      await this.#read(endpoint);
    } catch (error) {
      this.#parts.dueRows.pause(endpoint);
      this.#parts.onError(error);
    }
    endpoint.isReadingPage = false;
    this.#parts.onRead(endpoint);
  }

  async #read(endpoint: Endpoint): Promise<void> {
    const { db, feed } = this.#parts;
    for (const line of endpoint.linesToRead(feed.window)) {
      // With the subscription of this moment: changes that are older than the end of the window are part of it.
      const range = { after: line.cursor, upTo: line.pageEnd(feed.window), limit: pageSize };
      const { events, to } = await readSubscribed(db, endpoint.subscription, range);
      const oldest = events[0];
      if (oldest && line === endpoint.live && oldest.position > endpoint.skippedTo && isTooOld(oldest)) {
        await this.#parts.disable([endpoint], `too_far_behind: an event waited for more than ${behindDaysMax} days.`);
      } else line.addPage(events, to);
    }
  }
}

const isTooOld = ({ publishedAt }: EventRow) => Date.now() - publishedAt.getTime() > behindDaysMax * dayMs;
