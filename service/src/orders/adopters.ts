import type { Db, Transaction, Transactor } from '../db/handles.ts';
import type { OrderStatus } from '../domain/order-states.ts';
import { recordEvents } from '../events/events.ts';
import { eraseAdoptersFromResponses } from '../idempotency/idempotency.ts';
import type { Journal } from '../journal/journal.ts';
import { lockPets } from '../pets/pets.ts';
import {
  eraseAdopters,
  findOrderOfAdopter,
  type KnownAdopter,
  lockClosedOrdersOfAdopter,
  lockOrdersFromBefore,
  lockOrdersToErase,
  selectOpenOrderIds,
} from './order-queries.ts';
import { orderEvent } from './orders.ts';

/** How long the adopter's data are kept after an order ended; undefined: for as long as the order is. */
export interface Retention {
  /** Of orders that came to nothing. */
  readonly adopterDays: number;
  /** Of completed adoptions, also returned ones: a shelter needs to reach its adopters. */
  readonly adoptionDays: number | undefined;
}

const openShownMax = 1_000;
const cameToNothing = ['cancelled', 'expired'] as const satisfies readonly OrderStatus[];
const adopted = ['completed', 'returned'] as const satisfies readonly OrderStatus[];

/** Erases a batch of adopters whose time is over. Returns how many. */
export async function eraseOldAdopters(
  db: Transactor,
  journal: Journal,
  { adopterDays, adoptionDays }: Retention,
  batchSizeMax: number,
): Promise<number> {
  return db.transaction(async (tx) => {
    const found: KnownAdopter[] = [];
    const find = async (statuses: readonly OrderStatus[], days: number) => {
      for (const status of statuses) found.push(...(await lockOrdersToErase(tx, status, days, batchSizeMax - found.length)));
    };
    await find(cameToNothing, adopterDays);
    if (adoptionDays !== undefined) await find(adopted, adoptionDays);
    return (await erase(tx, journal, found)).orders;
  });
}

export interface Erased {
  readonly orders: number;
  /** Stored responses that named the adopter. */
  readonly responses: number;
}

/** Of one order, in whatever state. Undefined where there is none. */
export async function eraseAdopterOf(db: Transactor, journal: Journal, id: bigint): Promise<Erased | undefined> {
  return db.transaction(async (tx) => {
    const order = await findOrderOfAdopter(tx, id);
    return order && erase(tx, journal, [order]);
  });
}

/** Of every order of an address that is not open any more. An open one keeps its adopter: the store could reach nobody. */
export async function eraseAdopterByEmail(
  db: Transactor,
  journal: Journal,
  email: string,
  batchSizeMax: number,
): Promise<Erased & { open: bigint[] }> {
  const total = { orders: 0, responses: 0 };
  for (;;) {
    const erased = await db.transaction(async (tx) => erase(tx, journal, await lockClosedOrdersOfAdopter(tx, email, batchSizeMax)));
    // An erased order is found no more.
    if (erased.orders === 0) return { ...total, open: await selectOpenOrdersOfAdopter(db, email) };
    total.orders += erased.orders;
    total.responses += erased.responses;
  }
}

const selectOpenOrdersOfAdopter = (db: Db, email: string) =>
  selectOpenOrderIds(db, { clientId: undefined, email }, { afterId: 0n, limit: openShownMax });

/** After a restore: as it was done at `at`. False where none of the orders is here, or those that are were placed later. */
export async function reapplyErasure(tx: Transaction, ids: readonly bigint[], at: Date): Promise<boolean> {
  const found = await lockOrdersFromBefore(tx, ids, at);
  await erase(tx, () => {}, found);
  return found.length > 0;
}

/**
 * From the orders and from the responses stored for retries. The orders stay. Its event is written under the animals' locks, as
 * every event of an animal's orders is, so that they are told in order.
 */
async function erase(tx: Transaction, journal: Journal, found: readonly KnownAdopter[]): Promise<Erased> {
  if (found.length === 0) return { orders: 0, responses: 0 };
  await lockPets(
    tx,
    found.map(({ petId }) => petId),
  );
  const ids = found.map(({ id }) => id);
  const erased = await eraseAdopters(tx, ids);
  const responses = await eraseAdoptersFromResponses(tx, ids);
  await recordEvents(tx, ...erased.map(({ order, clientId }) => orderEvent('adopter_erased', order, clientId)));
  journal({ act: 'adopters_erased', orders: ids });
  return { orders: erased.length, responses };
}
