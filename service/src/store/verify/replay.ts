import { findOrderTransition, isOpen, placing } from '../../domain/order-states.ts';
import { petStatuses, removed } from '../../domain/pet-statuses.ts';
import type { ShelterMove } from '../../domain/shelter-moves.ts';
import type { HistoryRow, OrderState, PetState } from './verify-queries.ts';

/** Replays the history of one animal, row by row. The methods return what is wrong as a sentence, or undefined. */
export class Replay {
  readonly #petId: bigint;
  readonly #orders = new Map<bigint, string>();
  readonly #open = new Set<bigint>();
  #pet: string | null = null;
  /** The shelter that the animal was last moved to; undefined: it was never moved. */
  #shelter: bigint | undefined;
  /** The status change that the animal's next row must have, because an order has changed. */
  #due: { from: string; to: string; order: bigint } | undefined;

  constructor(petId: bigint) {
    this.#petId = petId;
  }

  apply(row: HistoryRow): string | undefined {
    const violation = row.orderId === null ? this.#applyToPet(row) : this.#applyToOrder(row, row.orderId);
    return (
      violation && `history row ${row.id} (animal ${this.#petId}${row.orderId === null ? '' : `, order ${row.orderId}`}): ${violation}`
    );
  }

  /** Compares the end of the history with the current rows. */
  compare({ status: pet, shelterId }: PetState, orders: readonly OrderState[]): string | undefined {
    if (this.#due) return `animal ${this.#petId}: ${this.#missingChange(this.#due)}`;
    if (pet !== this.#pet) return `animal ${this.#petId}: its history ends with ${named(this.#pet)}, but its status is ${pet}`;
    if (this.#shelter !== undefined && this.#shelter !== shelterId)
      return `animal ${this.#petId}: it was last moved to shelter ${this.#shelter}, but it is in shelter ${shelterId}`;
    for (const { id, status, shelterId: ofOrder } of orders) {
      if (ofOrder !== shelterId) return `order ${id}: it belongs to shelter ${ofOrder}, but animal ${this.#petId} to shelter ${shelterId}`;
      const replayed = this.#orders.get(id);
      if (replayed !== status) return `order ${id}: its history ends with ${named(replayed ?? null)}, but its status is ${status}`;
    }
    const present = new Set(orders.map(({ id }) => id));
    const absent = [...this.#orders.keys()].find((id) => !present.has(id));
    return absent === undefined ? undefined : `order ${absent}: it is in the history of animal ${this.#petId}, but it does not exist`;
  }

  #applyToPet({ from, to, move }: HistoryRow): string | undefined {
    if (from !== this.#pet) return `the animal changes from ${named(from)} to ${to}, but its status was ${named(this.#pet)}`;
    if (this.#due && (from !== this.#due.from || to !== this.#due.to))
      return `order ${this.#due.order} changed, and the animal changed to ${to} instead of ${this.#due.to}`;
    if (!isLegalPetTransition(from, to)) return `an animal can't change from ${named(from)} to ${to}`;
    if (to !== placing.pet.to && this.#open.size > 0) return `the animal changes to ${to} while order ${[...this.#open][0]} is open`;
    this.#due = undefined;
    this.#pet = to;
    return move && this.#applyMove(move);
  }

  #applyMove(move: ShelterMove): string | undefined {
    const was = this.#shelter;
    this.#shelter = move.to;
    return was === undefined || was === move.from
      ? undefined
      : `the animal was moved from shelter ${move.from}, but it had been moved to shelter ${was}`;
  }

  #applyToOrder({ from, to }: HistoryRow, orderId: bigint): string | undefined {
    const was = this.#orders.get(orderId) ?? null;
    if (from !== was) return `the order changes from ${named(from)} to ${to}, but its status was ${named(was)}`;
    const transition = findOrderTransition(was, to);
    if (!transition) return `an order can't change from ${named(was)} to ${to}`;
    if (this.#due) return this.#missingChange(this.#due);
    this.#orders.set(orderId, to);
    if (isOpen(to)) this.#open.add(orderId);
    else this.#open.delete(orderId);
    if (this.#open.size > 1) return `orders ${[...this.#open].join(' and ')} are open at once`;
    if (to === placing.to && this.#pet !== placing.pet.from)
      return `an order was placed for an animal that is ${this.#pet ?? 'not added yet'}`;
    const { pet, always } = transition;
    if (pet && always) this.#due = { ...pet, order: orderId };
    return undefined;
  }

  #missingChange({ order, to }: { order: bigint; to: string }): string {
    return `order ${order} changed, but the animal did not change to ${to}`;
  }
}

/** Staff may set any status, so a change is illegal only before the animal was added or after it was removed. */
function isLegalPetTransition(from: string | null, to: string): boolean {
  if (from === removed) return false;
  return to === removed ? from !== null : (petStatuses as readonly string[]).includes(to);
}

const named = (status: string | null): string => status ?? 'nothing';
