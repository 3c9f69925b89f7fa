interface Waiter {
  start(): void;
  readonly timer: NodeJS.Timeout;
}

/** Why a turn could not be had. */
export class NoTurn extends Error {}

/**
 * Hands out a fixed number of turns, fairly: those who wait form a line for each owner, the owners take turns, and within a line
 * the first to come is the first to go. However many one owner has waiting, another's next is behind at most one of each.
 *
 * A waiter is in exactly one line until it begins, or until its time is over. An owner is in `#lines` while something of
 * theirs waits; the map's order is the order of their turns. Nobody waits while a turn is free.
 */
export class FairTurns {
  readonly #turnsMax: number;
  readonly #waitMsMax: number;
  readonly #pendingOfOwnerMax: number;
  readonly #queues = new Map<bigint | undefined, Set<Waiter>>();
  #running = 0;

  constructor(bounds: { turnsMax: number; waitMsMax: number; pendingOfOwnerMax: number }) {
    this.#turnsMax = bounds.turnsMax;
    this.#waitMsMax = bounds.waitMsMax;
    this.#pendingOfOwnerMax = bounds.pendingOfOwnerMax;
  }

  /** Does `work` in a turn; throws NoTurn where none was free in time, or too many of the owner wait already. */
  async run<T>(owner: bigint | undefined, work: () => Promise<T>): Promise<T> {
    if (this.#running < this.#turnsMax) this.#running += 1;
    else await this.#wait(owner);
    try {
      return await work();
    } finally {
      this.#endTurn();
    }
  }

  #wait(owner: bigint | undefined): Promise<void> {
    const queue = this.#queues.get(owner) ?? new Set();
    if (queue.size >= this.#pendingOfOwnerMax) throw new NoTurn(`${queue.size} of the same owner wait already`);
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        queue.delete(waiter);
        if (queue.size === 0 && this.#queues.get(owner) === queue) this.#queues.delete(owner);
        reject(new NoTurn(`no turn in ${this.#waitMsMax} ms`));
      }, this.#waitMsMax);
      const waiter: Waiter = { start: resolve, timer };
      queue.add(waiter);
      this.#queues.set(owner, queue);
    });
  }

  /** The turn goes to the first of the next line, whose owner then goes to the end; what runs stays as much as it was. */
  #endTurn(): void {
    for (const [owner, queue] of this.#queues) {
      this.#queues.delete(owner);
      for (const waiter of queue) {
        queue.delete(waiter);
        if (queue.size > 0) this.#queues.set(owner, queue);
        clearTimeout(waiter.timer);
        waiter.start();
        return;
      }
    }
    this.#running -= 1;
  }
}
