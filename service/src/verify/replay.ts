import { isLegalOrderTransition, isOpen, petMoveOf, placing } from '../domain/order-states.ts';
import { petStatuses, removed } from '../domain/pet-statuses.ts';
import type { HistoryRow } from './verify-queries.ts';

/** One animal's history played again, row by row. What is wrong comes back as a sentence; undefined: nothing is. */
export class Replay {
  readonly #petId: bigint;
  readonly #orders = new Map<bigint, string>();
  #pet: string | null = null;
  /** What the animal must do next, since an order has moved on. */
  #due: { from: string; to: string; order: bigint } | undefined;

  constructor(petId: bigint) {
    this.#petId = petId;
  }

  apply(row: HistoryRow): string | undefined {
    const wrong = row.orderId === null ? this.#applyToPet(row) : this.#applyToOrder(row, row.orderId);
    return wrong && `history row ${row.id} (animal ${this.#petId}${row.orderId === null ? '' : `, order ${row.orderId}`}): ${wrong}`;
  }

  /** Holds the end of the history against what the tables say now. */
  compare(pet: string, orders: ReadonlyArray<{ readonly id: bigint; readonly status: string }>): string | undefined {
    if (this.#due) return `animal ${this.#petId}: order ${this.#due.order} moved on, and the animal did not go to ${this.#due.to}`;
    if (pet !== this.#pet) return `animal ${this.#petId}: its history ends at ${this.#pet}, but it is ${pet}`;
    for (const { id, status } of orders) {
      const replayed = this.#orders.get(id);
      if (replayed !== status) return `order ${id}: its history ends at ${replayed ?? 'nothing'}, but it is ${status}`;
    }
    const present = new Set(orders.map(({ id }) => id));
    const absent = [...this.#orders.keys()].find((id) => !present.has(id));
    return absent === undefined ? undefined : `order ${absent}: it has a history of animal ${this.#petId}, but no such order is there`;
  }

  #applyToPet({ from, to }: HistoryRow): string | undefined {
    if (from !== this.#pet) return `the animal goes from ${from} to ${to}, but was ${this.#pet}`;
    if (this.#due && (from !== this.#due.from || to !== this.#due.to))
      return `order ${this.#due.order} moved on, and the animal went to ${to}`;
    if (!isLegalPetTransition(from, to)) return `an animal can't go from ${from} to ${to}`;
    if (to !== placing.pet.to && this.#openOrders().length > 0) return `the animal goes to ${to} with order ${this.#openOrders()[0]} open`;
    this.#due = undefined;
    this.#pet = to;
    return undefined;
  }

  #applyToOrder({ from, to }: HistoryRow, orderId: bigint): string | undefined {
    const was = this.#orders.get(orderId) ?? null;
    if (from !== was) return `the order goes from ${from} to ${to}, but was ${was}`;
    if (!isLegalOrderTransition(was, to)) return `an order can't go from ${was} to ${to}`;
    if (this.#due) return `order ${this.#due.order} moved on, and the animal did not go to ${this.#due.to}`;
    this.#orders.set(orderId, to);
    const open = this.#openOrders();
    if (open.length > 1) return `orders ${open.join(' and ')} are open at once`;
    if (to === placing.to && this.#pet !== placing.pet.from) return `an animal that is ${this.#pet} is promised`;
    const move = petMoveOf(to);
    // What was returned after staff had moved the animal, or had sold it again, leaves it where it is.
    if (move?.always) this.#due = { from: move.from, to: move.to, order: orderId };
    return undefined;
  }

  #openOrders(): bigint[] {
    return [...this.#orders].filter(([, status]) => isOpen(status)).map(([id]) => id);
  }
}

/** Staff may set any status, so what is left to be illegal is a life before it was added or after it was taken back. */
function isLegalPetTransition(from: string | null, to: string): boolean {
  if (from === removed) return false;
  return to === removed ? from !== null : (petStatuses as readonly string[]).includes(to);
}
