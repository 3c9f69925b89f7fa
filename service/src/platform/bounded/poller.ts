import { setTimeout as sleep } from 'node:timers/promises';

/** Asks once. */
type Poll<News> = () => Promise<{
  /** Undefined: nothing that the listeners need to know. */
  readonly news: News | undefined;
  /** There is more to ask for at once. */
  readonly hasMore: boolean;
}>;

interface PollerParts<News> {
  /** Called when polling starts. The polls of one run can share what it returns them with, such as a position. */
  begin(): Poll<News>;
  readonly intervalMs: number;
  /** Called once for each outage, not for each poll. */
  onError(error: unknown): void;
}

/**
 * Polls for all its listeners, in one loop. It runs while there are listeners and ends without them; one poll is in flight at most. The
 * number of listeners is that of open streams, which is bounded.
 */
export class Poller<News> {
  readonly #parts: PollerParts<News>;
  readonly #listeners = new Set<(news: News) => void>();
  #isRunning = false;

  constructor(parts: PollerParts<News>) {
    this.#parts = parts;
  }

  /** Returns the function that removes the listener. */
  follow(listener: (news: News) => void): () => void {
    this.#listeners.add(listener);
    if (!this.#isRunning) void this.#run();
    return () => this.#listeners.delete(listener);
  }

  async #run(): Promise<void> {
    this.#isRunning = true;
    const poll = this.#parts.begin();
    let isFailing = false;
    while (this.#listeners.size > 0) {
      let hasMore = false;
      try {
        const found = await poll();
        ({ hasMore } = found);
        isFailing = false;
        if (found.news !== undefined) for (const listener of this.#listeners) listener(found.news);
      } catch (error) {
        if (!isFailing) this.#parts.onError(error);
        isFailing = true;
      }
      if (!hasMore) await sleep(this.#parts.intervalMs);
    }
    this.#isRunning = false;
  }
}
