interface Waiter {
  begin(): void;
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
  readonly #waitingOfOwnerMax: number;
  readonly #lines = new Map<bigint | undefined, Set<Waiter>>();
  #running = 0;

  constructor(bounds: { turnsMax: number; waitMsMax: number; waitingOfOwnerMax: number }) {
    this.#turnsMax = bounds.turnsMax;
    this.#waitMsMax = bounds.waitMsMax;
    this.#waitingOfOwnerMax = bounds.waitingOfOwnerMax;
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
    const line = this.#lines.get(owner) ?? new Set();
    if (line.size >= this.#waitingOfOwnerMax) throw new NoTurn(`${line.size} of the same owner wait already`);
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        line.delete(waiter);
        if (line.size === 0 && this.#lines.get(owner) === line) this.#lines.delete(owner);
        reject(new NoTurn(`no turn in ${this.#waitMsMax} ms`));
      }, this.#waitMsMax);
      const waiter: Waiter = { begin: resolve, timer };
      line.add(waiter);
      this.#lines.set(owner, line);
    });
  }

  /** The turn goes to the first of the next line, whose owner then goes to the end; what runs stays as much as it was. */
  #endTurn(): void {
    for (const [owner, line] of this.#lines) {
      this.#lines.delete(owner);
      for (const waiter of line) {
        line.delete(waiter);
        if (line.size > 0) this.#lines.set(owner, line);
        clearTimeout(waiter.timer);
        waiter.begin();
        return;
      }
    }
    this.#running -= 1;
  }
}
