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
