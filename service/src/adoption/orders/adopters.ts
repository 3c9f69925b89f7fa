import { eraseAdoptersFromResponses } from '../../access/idempotency/idempotent-route.ts';
import { lockPetRows } from '../../animals/pets/pets.ts';
import { recordEvents } from '../../changes/events/events.ts';
import { theService } from '../../domain/actor.ts';
import { endedOrderStatuses, type OrderEnd } from '../../domain/order-states.ts';
import type { Db, Transaction, Transactor } from '../../platform/db/handles.ts';
import type { Journal } from '../../platform/journal/journal.ts';
import {
  eraseAdopters,
  lockClosedOrdersOfAdopter,
  lockOrdersFromBefore,
  lockOrdersOfApplication,
  lockOrdersToErase,
  lockOrderToErase,
  type OrderToErase,
  selectOpenOrderIds,
} from './order-queries.ts';
import { orderEvent } from './orders.ts';

/** How many days after the end of an order the adopter's data is erased. */
export interface Retention {
  /** For orders that ended without an adoption. */
  readonly adopterDays: number;
  /** For those that ended with one. Undefined: never, since a shelter may need to contact its adopters. */
  readonly adoptionDays: number | undefined;
}

/**
 * Erases the adopters from the applications that the orders were placed for. Called while the orders and their animals are locked, and
 * before the orders are erased. Returns how many stored responses contained them.
 */
export type EraseApplicants = (tx: Transaction, orderIds: readonly bigint[]) => Promise<number>;

const openShownMax = 1_000;

/** Erases a batch of adopters after the retention period. Returns how many. */
export async function eraseOldAdopters(
  db: Transactor,
  journal: Journal,
  { adopterDays, adoptionDays }: Retention,
  batchSizeMax: number,
  eraseApplicants: EraseApplicants,
): Promise<number> {
  return db.transaction(async (tx) => {
    const daysAfter: Readonly<Record<OrderEnd, number | undefined>> = { 'without adoption': adopterDays, 'with adoption': adoptionDays };
    const found: OrderToErase[] = [];
    for (const { status, end } of endedOrderStatuses) {
      const days = daysAfter[end];
      if (days !== undefined) found.push(...(await lockOrdersToErase(tx, status, days, batchSizeMax - found.length)));
    }
    return (await erase(tx, journal, found, eraseApplicants)).orders;
  }, theService);
}

export interface ErasedOrders {
  readonly orders: number;
  /** Stored responses that contained the adopter's data. */
  readonly responses: number;
}

/** Erases the adopter of one order, whatever its status. Undefined if the order does not exist. */
export async function eraseAdopterOf(
  db: Transactor,
  journal: Journal,
  id: bigint,
  eraseApplicants: EraseApplicants,
): Promise<ErasedOrders | undefined> {
  return db.transaction(async (tx) => {
    const order = await lockOrderToErase(tx, id);
    return order && erase(tx, journal, [order], eraseApplicants);
  }, theService);
}

/** Erases the adopter from locked orders of one application, which is erased too. Their animal is locked. */
export const eraseLockedOrders = (tx: Transaction, journal: Journal, orders: readonly OrderToErase[]): Promise<ErasedOrders> =>
  erase(tx, journal, orders, noApplicants);

export { lockOrdersOfApplication };

/**
 * Erases the adopter from every order with this e-mail address, except open ones: the store must be able to contact the adopter.
 */
export async function eraseAdopterByEmail(
  db: Transactor,
  journal: Journal,
  whose: { readonly email: string /** Null: of all shelters. */; readonly shelterId: bigint | null },
  batchSizeMax: number,
  eraseApplicants: EraseApplicants,
): Promise<ErasedOrders & { open: bigint[] }> {
  const total = { orders: 0, responses: 0 };
  for (;;) {
    const erased = await db.transaction(
      async (tx) => erase(tx, journal, await lockClosedOrdersOfAdopter(tx, whose, batchSizeMax), eraseApplicants),
      theService,
    );
    // Each batch finds only orders that are not erased yet.
    if (erased.orders === 0) return { ...total, open: await selectOpenOrdersOfAdopter(db, whose) };
    total.orders += erased.orders;
    total.responses += erased.responses;
  }
}

const selectOpenOrdersOfAdopter = (db: Db, { email, shelterId }: { readonly email: string; readonly shelterId: bigint | null }) =>
  selectOpenOrderIds(db, { clientId: undefined, email, shelterId }, { afterId: 0n, limit: openShownMax });

/** Reapplies, after a restore, an erasure that was done at `at`. False if none of the orders exists, or all were placed later. */
export async function reapplyErasure(tx: Transaction, ids: readonly bigint[], at: Date): Promise<boolean> {
  const found = await lockOrdersFromBefore(tx, ids, at);
  await erase(tx, () => true, found, noApplicants);
  return found.length > 0;
}

/** The applications are erased by the caller, or by another line of the journal. */
const noApplicants: EraseApplicants = async () => 0;

/**
 * Erases the adopters from the orders and from the responses stored for retries. The events are recorded while the animals are
 * locked, as all events about an animal's orders are, so that they are in order.
 */
async function erase(
  tx: Transaction,
  journal: Journal,
  found: readonly OrderToErase[],
  eraseApplicants: EraseApplicants,
): Promise<ErasedOrders> {
  if (found.length === 0) return { orders: 0, responses: 0 };
  await lockPetRows(
    tx,
    found.map(({ petId }) => petId),
  );
  const ids = found.map(({ id }) => id);
  const ofApplications = await eraseApplicants(tx, ids);
  const erased = await eraseAdopters(tx, ids);
  const responses = ofApplications + (await eraseAdoptersFromResponses(tx, ids));
  await recordEvents(tx, ...erased.map(({ order, clientId }) => orderEvent('adopter_erased', order, clientId)));
  journal({ act: 'adopters_erased', orders: ids });
  return { orders: erased.length, responses };
}
