interface Waiter {
  start(): void;
  timer: NodeJS.Timeout;
}

export interface TurnBounds {
  readonly turnsMax: number;
  /** How many turns an owner may have at once. Work without an owner is the store's own, and is exempt. */
  readonly turnsOfOwnerMax: number;
  readonly waitMsMax: number;
  /** How long work waits for other work of its owner alone, if less than `waitMsMax`. */
  readonly waitForOwnMsMax?: number;
  readonly pendingOfOwnerMax: number;
  /** How long an owner's turn rests after work that took so long. Not at all unless given. */
  restMsAfter?(tookMs: number): number;
}

/** No turn was free in time, or the owner's queue is full. */
export class NoTurn extends Error {
  /** `owner`: the owner had all its turns, or its queue was full. `others`: all turns were taken, also by others. */
  readonly because: 'owner' | 'others';

  constructor(because: NoTurn['because'], message: string) {
    super(message);
    this.because = because;
  }
}

/**
 * A semaphore with a fair queue. At most `turnsMax` pieces of work run at once, and at most `turnsOfOwnerMax` of one owner. The
 * others wait in a queue per owner: owners are served round robin, and each queue is first in, first out. However many an owner has
 * waiting, the next of another owner waits for at most one of them; and however long an owner's work takes, it never has all turns.
 *
 * If a turn rests, it is free for others at once when its work ends, but counts for its owner until it has rested. So an owner with much
 * waiting does not use all the time of its turns.
 *
 * Work is waiting, then running, then done; or it is rejected with NoTurn after `waitMsMax`, or already after `waitForOwnMsMax` if its
 * owner has all its turns then. Invariants:
 * - Nothing waits while a turn is free that it may use. So whatever waits is of an owner with all its turns, or no turn is free, and
 *   a turn that ends lets at most one waiter start.
 * - An owner is in `#queues` exactly while something of theirs waits. The map's order is the order of service; an owner that has all
 *   its turns is skipped and stays where it is.
 * - An owner is in `#turnsOf` exactly while something of theirs runs or rests. `#running` counts what runs, with or without an owner.
 */
export class FairTurns {
  readonly #bounds: TurnBounds;
  readonly #queues = new Map<bigint | undefined, Set<Waiter>>();
  readonly #turnsOf = new Map<bigint, number>();
  #running = 0;

  constructor(bounds: TurnBounds) {
    this.#bounds = bounds;
  }

  get waiting(): number {
    let count = 0;
    for (const queue of this.#queues.values()) count += queue.size;
    return count;
  }

  /** Runs `work` in a turn. Throws NoTurn if none was free in time, or if too many of the same owner are already waiting. */
  async run<T>(owner: bigint | undefined, work: () => Promise<T>): Promise<T> {
    if (this.#running < this.#bounds.turnsMax && this.#mayHaveTurn(owner)) this.#begin(owner);
    else await this.#wait(owner);
    const beganAtMs = performance.now();
    try {
      return await work();
    } finally {
      this.#end(owner, performance.now() - beganAtMs);
    }
  }

  #mayHaveTurn(owner: bigint | undefined): boolean {
    return owner === undefined || (this.#turnsOf.get(owner) ?? 0) < this.#bounds.turnsOfOwnerMax;
  }

  #wait(owner: bigint | undefined): Promise<void> {
    const { waitMsMax, waitForOwnMsMax = waitMsMax, pendingOfOwnerMax } = this.#bounds;
    const queue = this.#queues.get(owner) ?? new Set();
    if (queue.size >= pendingOfOwnerMax) throw new NoTurn('owner', `${queue.size} of the same owner are already waiting`);
    return new Promise((resolve, reject) => {
      const giveUp = () => {
        queue.delete(waiter);
        if (queue.size === 0 && this.#queues.get(owner) === queue) this.#queues.delete(owner);
        reject(new NoTurn(this.#mayHaveTurn(owner) ? 'others' : 'owner', 'no turn was free in time'));
      };
      const onTime = () => {
        if (waitForOwnMsMax < waitMsMax && this.#mayHaveTurn(owner)) waiter.timer = setTimeout(giveUp, waitMsMax - waitForOwnMsMax);
        else giveUp();
      };
      const waiter: Waiter = { start: resolve, timer: setTimeout(onTime, waitForOwnMsMax) };
      queue.add(waiter);
      this.#queues.set(owner, queue);
    });
  }

  #begin(owner: bigint | undefined): void {
    this.#running += 1;
    if (owner !== undefined) this.#turnsOf.set(owner, (this.#turnsOf.get(owner) ?? 0) + 1);
  }

  #end(owner: bigint | undefined, tookMs: number): void {
    this.#running -= 1;
    const restMs = this.#bounds.restMsAfter?.(tookMs) ?? 0;
    if (owner !== undefined && restMs > 0) setTimeout(() => this.#endRest(owner), restMs).unref();
    else if (owner !== undefined) this.#giveBack(owner);
    this.#startNext();
  }

  #endRest(owner: bigint): void {
    this.#giveBack(owner);
    if (this.#running < this.#bounds.turnsMax) this.#startNext();
  }

  #giveBack(owner: bigint): void {
    const left = (this.#turnsOf.get(owner) ?? 1) - 1;
    if (left === 0) this.#turnsOf.delete(owner);
    else this.#turnsOf.set(owner, left);
  }

  /** Gives the free turn to the first waiter of the next owner that may have it. That owner then moves to the end of the round. */
  #startNext(): void {
    for (const [owner, queue] of this.#queues) {
      if (!this.#mayHaveTurn(owner)) continue;
      this.#queues.delete(owner);
      for (const waiter of queue) {
        queue.delete(waiter);
        if (queue.size > 0) this.#queues.set(owner, queue);
        clearTimeout(waiter.timer);
        // Here and not when its work runs, which is later: nobody else may take the turn in between.
        this.#begin(owner);
        waiter.start();
        return;
      }
    }
  }
}
