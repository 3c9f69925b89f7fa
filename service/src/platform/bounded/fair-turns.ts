/** The values of one owner, oldest first. */
interface Line<Owner, Value> {
  readonly owner: Owner;
  readonly values: LinkedList<Value>;
  size: number;
  /** Its place in the round. */
  turn: ListNode<Line<Owner, Value>>;
}

/** Where a value is in the queue. */
export interface QueuePlace<Owner, Value> {
  readonly line: Line<Owner, Value>;
  readonly node: ListNode<Value>;
}

/**
 * A queue for each owner, first in, first out. The owners are served round robin: however many values an owner has in the queue, the next
 * of another owner waits for at most one of them. The queue itself has no bound: its users compare `size` or `sizeOf` with theirs before they add.
 *
 * Invariant: an owner is in `#lines` and in `#round` exactly while it has a value in the queue.
 */
export class FairQueue<Owner, Value> {
  readonly #lines = new Map<Owner, Line<Owner, Value>>();
  readonly #round = new LinkedList<Line<Owner, Value>>();
  #size = 0;

  get size(): number {
    return this.#size;
  }

  sizeOf(owner: Owner): number {
    return this.#lines.get(owner)?.size ?? 0;
  }

  oldestOf(owner: Owner): Value | undefined {
    return this.#lines.get(owner)?.values.first?.value;
  }

  push(owner: Owner, value: Value): QueuePlace<Owner, Value> {
    const line = this.#lines.get(owner) ?? this.#addLine(owner);
    line.size += 1;
    this.#size += 1;
    return { line, node: line.values.push(value) };
  }

  /** The value must be in the queue. */
  remove({ line, node }: QueuePlace<Owner, Value>): void {
    line.values.remove(node);
    line.size -= 1;
    this.#size -= 1;
    if (line.size > 0) return;
    this.#lines.delete(line.owner);
    this.#round.remove(line.turn);
  }

  /**
   * Takes the oldest value of the next owner that may be served. That owner moves to the end of the round; one that may not be served is
   * skipped and stays where it is.
   */
  shift(mayBeServed: (owner: Owner, oldest: Value) => boolean = () => true): Value | undefined {
    for (let turn = this.#round.first; turn; turn = turn.next) {
      const line = turn.value;
      const node = line.values.first;
      if (!node || !mayBeServed(line.owner, node.value)) continue;
      this.#round.remove(turn);
      line.turn = this.#round.push(line);
      this.remove({ line, node });
      return node.value;
    }
    return undefined;
  }

  #addLine(owner: Owner): Line<Owner, Value> {
    const line = { owner, values: new LinkedList<Value>(), size: 0 } as Line<Owner, Value>;
    line.turn = this.#round.push(line);
    this.#lines.set(owner, line);
    return line;
  }
}

export interface ListNode<T> {
  readonly value: T;
  previous: ListNode<T> | undefined;
  next: ListNode<T> | undefined;
}

/**
 * A doubly linked list: the first node is read, and any node is removed, in constant time. A Map in insertion order is
 * no replacement: to find its first entry it skips every deleted one, which are thousands in a long queue.
 */
export class LinkedList<T> {
  #first: ListNode<T> | undefined;
  #last: ListNode<T> | undefined;

  get first(): ListNode<T> | undefined {
    return this.#first;
  }

  push(value: T): ListNode<T> {
    const node: ListNode<T> = { value, previous: this.#last, next: undefined };
    if (this.#last) this.#last.next = node;
    else this.#first = node;
    this.#last = node;
    return node;
  }

  /** The node must be in this list. */
  remove({ previous, next }: ListNode<T>): void {
    if (previous) previous.next = next;
    else this.#first = next;
    if (next) next.previous = previous;
    else this.#last = previous;
  }
}

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
