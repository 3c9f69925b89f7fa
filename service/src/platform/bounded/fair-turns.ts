import { FairQueue } from './fair-queue.ts';

export interface TurnBounds {
  readonly turnsMax: number;
  /** How many turns an owner may have at once. Work without an owner is the store's own, and is exempt. */
  readonly turnsOfOwnerMax: number;
  /** No bound unless given: then work waits until its signal is aborted. */
  readonly waitMsMax?: number;
  /** How long work waits for other work of its owner alone, if less than `waitMsMax`. */
  readonly waitForOwnMsMax?: number;
  readonly pendingOfOwnerMax: number;
  /** How long an owner's turn rests after work that took so long. Not at all unless given. */
  restMsAfter?(tookMs: number): number;
}

type Owner = bigint | undefined;

export interface TurnOptions {
  readonly signal?: AbortSignal;
  /** Instead of `turnsOfOwnerMax`. */
  readonly ofOwnerMax?: number;
  /** Of the several that wait for the turns of an owner: each has a queue of its own. */
  readonly line?: string;
  /** Instead of that of the bounds, also if it is longer than `waitMsMax`. */
  readonly waitForOwnMsMax?: number;
}

/** `owner`: the owner had all its turns, or its queue was full. `others`: all turns were taken, also by others. */
type NoTurnReason = 'owner' | 'others';

/** No turn was free in time, or the owner's queue is full. */
export class NoTurn extends Error {
  readonly because: NoTurnReason;

  constructor(because: NoTurnReason, message: string) {
    super(message);
    this.because = because;
  }
}

interface Waiter {
  readonly owner: Owner;
  readonly ofOwnerMax: number;
  start(turn: Disposable): void;
}

/**
 * A semaphore with a fair queue. At most `turnsMax` turns are taken at once, and at most `turnsOfOwnerMax` by one owner. Others wait in a
 * queue per owner: owners are served round robin, and each queue is first in, first out. However many an owner has waiting, the next
 * of another owner waits for at most one of them; and however long an owner's work takes, it never has all turns. A turn ends when it is
 * disposed of. An owner may have several lines, each with a queue of its own: they share its turns, and are served round robin too.
 *
 * If a turn rests, it is free for others at once when it ends, but counts for its owner until it has rested. So an owner with much
 * waiting does not use all the time of its turns.
 *
 * Work is waiting, then running, then done; or it is rejected with NoTurn after `waitMsMax`, or already after `waitForOwnMsMax` if its
 * owner has all its turns then; or it leaves the queue when its signal is aborted. Invariants:
 * - Nothing waits while a turn is free that it may use. So whatever waits is of an owner with all its turns, or no turn is free, and
 *   a turn that ends lets at most one waiter start.
 * - An owner is in `#turnsOf` exactly while something of theirs runs or rests. `#running` counts what runs, with or without an owner.
 */
export class FairTurns {
  readonly #bounds: TurnBounds;
  readonly #queue = new FairQueue<Owner | string, Waiter>();
  readonly #turnsOf = new Map<bigint, number>();
  #running = 0;

  constructor(bounds: TurnBounds) {
    this.#bounds = bounds;
  }

  get waiting(): number {
    return this.#queue.size;
  }

  /** Runs `work` in a turn. Throws NoTurn if none was free in time, or if too many of the same owner are already waiting. */
  async run<T>(owner: Owner, work: () => Promise<T>, options: TurnOptions = {}): Promise<T> {
    const now = this.takeNow(owner, options.ofOwnerMax);
    using _turn = typeof now === 'object' ? now : await this.#wait(owner, options);
    return await work();
  }

  /** The same without work. Undefined if the signal was aborted first. */
  async take(owner: Owner, options: TurnOptions = {}): Promise<Disposable | undefined> {
    if (options.signal?.aborted) return undefined;
    const now = this.takeNow(owner, options.ofOwnerMax);
    return typeof now === 'object' ? now : this.#wait(owner, options);
  }

  /** A turn without waiting, or why there is none. */
  takeNow(owner: Owner, ofOwnerMax = this.#bounds.turnsOfOwnerMax): Disposable | NoTurnReason {
    if (!this.#mayHaveTurn(owner, ofOwnerMax)) return 'owner';
    return this.#running < this.#bounds.turnsMax ? this.#begin(owner) : 'others';
  }

  #mayHaveTurn(owner: Owner, ofOwnerMax: number): boolean {
    return owner === undefined || (this.#turnsOf.get(owner) ?? 0) < ofOwnerMax;
  }

  #wait(owner: Owner, options: TurnOptions = {}): Promise<Disposable | undefined> {
    const { waitMsMax = Number.POSITIVE_INFINITY, pendingOfOwnerMax, turnsOfOwnerMax } = this.#bounds;
    const { signal, ofOwnerMax = turnsOfOwnerMax, line = owner } = options;
    const waitForOwnMsMax = options.waitForOwnMsMax ?? this.#bounds.waitForOwnMsMax ?? waitMsMax;
    const waiting = this.#queue.sizeOf(line);
    if (waiting >= pendingOfOwnerMax) throw new NoTurn('owner', `${waiting} of the same owner are already waiting`);
    return new Promise((resolve, reject) => {
      let timer: NodeJS.Timeout | undefined;
      const settle = (turn: Disposable | undefined) => {
        clearTimeout(timer);
        signal?.removeEventListener('abort', cancel);
        resolve(turn);
      };
      const cancel = () => {
        this.#queue.remove(place);
        settle(undefined);
      };
      const giveUp = () => {
        reject(new NoTurn(this.#mayHaveTurn(owner, ofOwnerMax) ? 'others' : 'owner', 'no turn was free in time'));
        cancel();
      };
      const onTime = () => {
        if (waitForOwnMsMax < waitMsMax && this.#mayHaveTurn(owner, ofOwnerMax)) timer = setTimeout(giveUp, waitMsMax - waitForOwnMsMax);
        else giveUp();
      };
      const place = this.#queue.push(line, { owner, ofOwnerMax, start: settle });
      if (Number.isFinite(waitForOwnMsMax)) timer = setTimeout(onTime, waitForOwnMsMax);
      signal?.addEventListener('abort', cancel, { once: true });
    });
  }

  #begin(owner: Owner): Disposable {
    this.#running += 1;
    if (owner !== undefined) this.#turnsOf.set(owner, (this.#turnsOf.get(owner) ?? 0) + 1);
    const beganAtMs = performance.now();
    return { [Symbol.dispose]: () => this.#end(owner, performance.now() - beganAtMs) };
  }

  #end(owner: Owner, tookMs: number): void {
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

  /** Gives the free turn to the first waiter of the next owner that may have it. */
  #startNext(): void {
    const waiter = this.#queue.shift((_, { owner, ofOwnerMax }) => this.#mayHaveTurn(owner, ofOwnerMax));
    // The turn begins here and not when its work runs, which is later: nobody else may take it in between.
    waiter?.start(this.#begin(waiter.owner));
  }
}
