export interface ListNode<T> {
  readonly value: T;
  previous: ListNode<T> | undefined;
  next: ListNode<T> | undefined;
}

/**
 * A list in which the first is found, and any is removed, in constant time. A Map in the order of insertion does not
 * do: to find its first entry it skips all that were deleted before, thousands in a long queue.
 */
export class LinkedList<T> {
  #first: ListNode<T> | undefined;
  #last: ListNode<T> | undefined;

  get first(): T | undefined {
    return this.#first?.value;
  }

  push(value: T): ListNode<T> {
    const link: ListNode<T> = { value, previous: this.#last, next: undefined };
    if (this.#last) this.#last.next = link;
    else this.#first = link;
    this.#last = link;
    return link;
  }

  /** `link` must be one of this chain's. */
  remove({ previous, next }: ListNode<T>): void {
    if (previous) previous.next = next;
    else this.#first = next;
    if (next) next.previous = previous;
    else this.#last = previous;
  }
}
