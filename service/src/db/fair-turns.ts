interface Waiter {
  start(): void;
  readonly timer: NodeJS.Timeout;
}

/** No turn was free in time, or the owner's queue is full. */
export class NoTurn extends Error {}

/**
 * A semaphore with a fair queue. At most `turnsMax` pieces of work run at once. The others wait in a queue per owner: owners
 * are served round robin, and each queue is first in, first out. However many an owner has waiting, the next of another
 * owner waits for at most one of them.
 *
 * Work is waiting, then running, then done; or it is rejected with NoTurn after `waitMsMax`. Invariants:
 * - Nothing waits while a turn is free. A turn that ends goes directly to the next waiter, so `#running` stays the same.
 * - An owner is in `#queues` exactly while something of theirs waits. The map's order is the order of service.
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

  get waiting(): number {
    let count = 0;
    for (const queue of this.#queues.values()) count += queue.size;
    return count;
  }

  /** Runs `work` in a turn. Throws NoTurn if none was free in time, or if too many of the same owner are already waiting. */
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
    if (queue.size >= this.#pendingOfOwnerMax) throw new NoTurn(`${queue.size} of the same owner are already waiting`);
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        queue.delete(waiter);
        if (queue.size === 0 && this.#queues.get(owner) === queue) this.#queues.delete(owner);
        reject(new NoTurn(`no turn was free within ${this.#waitMsMax} ms`));
      }, this.#waitMsMax);
      const waiter: Waiter = { start: resolve, timer };
      queue.add(waiter);
      this.#queues.set(owner, queue);
    });
  }

  /** Passes the turn to the first waiter of the next owner, who then moves to the end of the round. */
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
