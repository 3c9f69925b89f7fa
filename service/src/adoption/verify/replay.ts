import { endsHold, heldStatus, holdChanges } from '../../domain/holds.ts';
import { findOrderTransition, isOpen, isOrderUndoing, orderActions, placing } from '../../domain/order-states.ts';
import { mayHaveOutcome, outcomeKind, outcomes, outcomeUndoing, undoneKind } from '../../domain/outcomes.ts';
import { petStatuses, removed } from '../../domain/pet-statuses.ts';
import type { ShelterMove } from '../../domain/shelters.ts';
import { restoredKind, undoSeconds } from '../../domain/undo.ts';
import type { HistoryRow, VerifiedOrder, VerifiedPet } from './verify-queries.ts';

interface ReplayedHold {
  readonly reason: string;
  readonly until: Date | null;
  /** Whether its end makes the animal available, unless an order is open. */
  releases: boolean;
}

/** An animal and its orders before an act that can be undone. */
interface Before {
  readonly actId: bigint;
  readonly at: Date;
  readonly pet: string | null;
  readonly hold: ReplayedHold | undefined;
  readonly outcomeAt: Date | undefined;
  readonly orders: ReadonlyMap<bigint, string>;
}

/** An act takes some time before it says until when it can be undone, and its undoing before it is written. */
const undoneMsMax = (undoSeconds + 60) * 1_000;

/** Replays the history of one animal, row by row. The methods return what is wrong as a sentence, or undefined. */
export class Replay {
  readonly #petId: bigint;
  readonly #orders = new Map<bigint, string>();
  readonly #open = new Set<bigint>();
  #pet: string | null = null;
  /** The shelter that the animal was last moved to; undefined: it was never moved. */
  #shelter: bigint | undefined;
  /** When the animal got an outcome, if that was the last that happened to it. */
  #outcomeAt: Date | undefined;
  #hold: ReplayedHold | undefined;
  /** The status change that the animal's next row must have, because an order has changed. */
  #due: { from: string; to: string; order: bigint } | undefined;
  /** Of the last minutes, without those that were undone: the last act is undone first, if nothing has followed it. */
  #acts: Before[] = [];
  /** What the rows at present restore. */
  #undoing: Before | undefined;

  constructor(petId: bigint) {
    this.#petId = petId;
  }

  apply(row: HistoryRow): string | undefined {
    const violation = row.undoesActId === null ? this.#applyAct(row) : this.#applyUndoing(row, row.undoesActId);
    return (
      violation && `history row ${row.id} (animal ${this.#petId}${row.orderId === null ? '' : `, order ${row.orderId}`}): ${violation}`
    );
  }

  /** Compares the end of the history with the current rows. */
  compare(
    { status: pet, shelterId, holdReason, holdReleases, undoableUntil }: VerifiedPet,
    orders: readonly VerifiedOrder[],
  ): string | undefined {
    if (this.#due) return `animal ${this.#petId}: ${this.#missingChange(this.#due)}`;
    const isHalf = this.#endUndoing();
    if (isHalf) return `animal ${this.#petId}: ${isHalf}`;
    if (pet !== this.#pet) return `animal ${this.#petId}: its history ends with ${named(this.#pet)}, but its status is ${pet}`;
    const held = this.#hold;
    if ((held?.reason ?? null) !== holdReason)
      return `animal ${this.#petId}: by its history it is ${heldFor(held?.reason)}, but it is ${heldFor(holdReason)}`;
    if (held && held.releases !== holdReleases) {
      const end = held.releases ? 'becomes available' : 'stays as it is';
      return `animal ${this.#petId}: by its history it ${end} when its hold ends, but its row says otherwise`;
    }
    if (undoableUntil && !this.#outcomeAt)
      return `animal ${this.#petId}: an outcome can be undone until ${undoableUntil.toISOString()}, but its history does not end with one`;
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

  #applyAct(row: HistoryRow): string | undefined {
    const isHalf = this.#endUndoing();
    if (isHalf) return isHalf;
    const { actId, at } = row;
    // What is not of the last act has followed it, so that it is not undone any more.
    if (actId === null) this.#acts = [];
    else if (actId !== this.#acts.at(-1)?.actId) {
      const recent = this.#acts.filter((act) => at.getTime() - act.at.getTime() < undoneMsMax);
      const hold = this.#hold && { ...this.#hold };
      this.#acts = [...recent, { actId, at, pet: this.#pet, hold, outcomeAt: this.#outcomeAt, orders: new Map(this.#orders) }];
    }
    return row.orderId === null ? this.#applyToPet(row) : this.#applyToOrder(row, row.orderId);
  }

  /** A row that makes an order or the animal as it was before the last act. */
  #applyUndoing({ at, from, to, kind, orderId }: HistoryRow, actId: bigint): string | undefined {
    if (this.#undoing && this.#undoing.actId !== actId) {
      const isHalf = this.#endUndoing();
      if (isHalf) return isHalf;
    }
    if (!this.#undoing) {
      const last = this.#acts.pop();
      if (last?.actId !== actId)
        return `act ${actId} is undone, but ${last ? `act ${last.actId} came later` : 'something has followed it'}`;
      if (at.getTime() - last.at.getTime() > undoneMsMax)
        return `act ${actId} of ${last.at.toISOString()} is undone at ${at.toISOString()}`;
      this.#undoing = last;
    }
    const before = this.#undoing;
    if (orderId !== null) {
      const was = this.#orders.get(orderId) ?? null;
      const wanted = before.orders.get(orderId) ?? orderActions.cancel.to;
      const isLegal = before.orders.has(orderId) ? isOrderUndoing(was ?? '', to) : findOrderTransition(was, to) !== undefined;
      if (from !== was || to !== wanted || !isLegal)
        return `act ${actId} is undone, and order ${orderId} changes from ${named(from)} to ${to} instead of from ${named(was)} to ${wanted}`;
      this.#orders.set(orderId, to);
      if (isOpen(to)) this.#open.add(orderId);
      else this.#open.delete(orderId);
      return undefined;
    }
    if (kind !== restoredKind || from !== this.#pet || to !== before.pet)
      return `act ${actId} is undone, and the animal changes from ${named(from)} to ${to} instead of from ${named(this.#pet)} to ${named(before.pet)}`;
    this.#pet = before.pet;
    this.#hold = before.hold;
    this.#outcomeAt = before.outcomeAt;
    return undefined;
  }

  /** An act is undone as a whole. */
  #endUndoing(): string | undefined {
    const before = this.#undoing;
    if (!before) return undefined;
    this.#undoing = undefined;
    const half = [...this.#orders].find(([id, status]) => status !== (before.orders.get(id) ?? orderActions.cancel.to));
    const isWhole = !half && this.#pet === before.pet && this.#hold?.reason === before.hold?.reason;
    return isWhole ? undefined : `act ${before.actId} is undone, but not as a whole`;
  }

  #applyToPet(row: HistoryRow): string | undefined {
    const { from, to, move } = row;
    if (from !== this.#pet) return `the animal changes from ${named(from)} to ${to}, but its status was ${named(this.#pet)}`;
    const isDue = !this.#due || (from === this.#due.from && (to === this.#due.to || this.#isWithheld(this.#due.to, to)));
    if (this.#due && !isDue) return `order ${this.#due.order} changed, and the animal changed to ${to} instead of ${this.#due.to}`;
    const isUndone = row.kind === undoneKind;
    const violation = isUndone ? this.#checkUndoing(row) : row.kind === outcomeKind && checkOutcome(row);
    if (violation) return violation;
    if (!isUndone && !isLegalPetTransition(from, to)) return `an animal can't change from ${named(from)} to ${to}`;
    if (to !== placing.pet.to && this.#open.size > 0) return `the animal changes to ${to} while order ${[...this.#open][0]} is open`;
    const illegal = this.#applyToHold(row);
    if (illegal) return illegal;
    this.#due = undefined;
    this.#pet = to;
    this.#outcomeAt = row.kind === outcomeKind ? row.at : undefined;
    return move && this.#applyMove(move);
  }

  #checkUndoing({ from, to, at }: HistoryRow): string | undefined {
    if (from !== outcomeUndoing.from || to !== outcomeUndoing.to) return `an outcome is undone from ${named(from)} to ${to}`;
    if (!this.#outcomeAt) return 'an outcome is undone, but the animal had none';
    const days = (at.getTime() - this.#outcomeAt.getTime()) / 86_400_000;
    // The row is written some time after the outcome was found to be undoable.
    return days < outcomeUndoing.days + 1 ? undefined : `an outcome is undone ${Math.floor(days)} days after it was recorded`;
  }

  /** While the animal is held, it stays pending in place of becoming available. */
  #isWithheld(due: string, to: string): boolean {
    return this.#hold !== undefined && due === holdChanges.end.pet.to && to === heldStatus;
  }

  #applyToHold({ kind, from, to, at, holdReason, holdUntil }: HistoryRow): string | undefined {
    const hold = this.#hold;
    if (kind === holdChanges.begin.kind) {
      if (to !== heldStatus || endsHold(from ?? '')) return `the animal is held, and changes from ${named(from)} to ${to}`;
      const releases = hold ? hold.releases : from === holdChanges.begin.pet.from;
      this.#hold = { reason: holdReason ?? '', until: holdUntil, releases };
    } else if (kind === holdChanges.end.kind) {
      if (!hold) return 'a hold ended, but the animal was not held';
      const becomesAvailable = from === heldStatus && hold.releases && this.#open.size === 0;
      const due = becomesAvailable ? holdChanges.end.pet.to : from;
      if (to !== due) return `a hold ended, and the animal changed to ${to} instead of ${named(due)}`;
      this.#hold = undefined;
    } else if (to === removed) {
      this.#hold = undefined;
    } else if (hold && to === holdChanges.end.pet.to) {
      if (hold.until === null || hold.until > at) return `the animal became ${to} while it was held`;
      hold.releases = false;
    } else if (hold && kind === 'pet_status' && to === heldStatus) {
      hold.releases = true;
    }
    return undefined;
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
    // Staff may accept an application while the animal is held: it stays pending.
    const isPlacedOnHold = to === placing.to && this.#hold?.releases === true && this.#pet === heldStatus;
    if (to === placing.to && !isPlacedOnHold && this.#pet !== placing.pet.from)
      return `an order was placed for an animal that is ${this.#pet ?? 'not added yet'}`;
    const { pet, always } = transition;
    if (pet && always && !isPlacedOnHold) this.#due = { ...pet, order: orderId };
    return undefined;
  }

  #missingChange({ order, to }: { order: bigint; to: string }): string {
    return `order ${order} changed, but the animal did not change to ${to}`;
  }
}

function checkOutcome({ from, to, outcome }: HistoryRow): string | undefined {
  if (to !== removed || from === null || !mayHaveOutcome(from)) return `an animal that is ${named(from)} gets an outcome and is ${to}`;
  return outcome !== null && Object.hasOwn(outcomes, outcome) ? undefined : `there is no outcome ${named(outcome)}`;
}

/** Staff may set any status, so a change is illegal only before the animal was added or after it was removed. */
function isLegalPetTransition(from: string | null, to: string): boolean {
  if (from === removed) return false;
  return to === removed ? from !== null : (petStatuses as readonly string[]).includes(to);
}

const heldFor = (reason: string | null | undefined): string => (reason ? `held (${reason})` : 'not held');
const named = (status: string | null): string => status ?? 'nothing';
