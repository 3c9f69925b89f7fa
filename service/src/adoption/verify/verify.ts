import { setTimeout as sleep } from 'node:timers/promises';
import { afterOrder } from '../../domain/application-states.ts';
import type { OrderStatus } from '../../domain/order-states.ts';
import type { Db, Snapshotter } from '../../platform/db/handles.ts';
import { int64Max } from '../../platform/db/int64.ts';
import { Replay } from './replay.ts';
import { readLastApplicationId, selectApplicationsOfOrders } from './verify-application-queries.ts';
import { verifyApplications } from './verify-applications.ts';
import {
  findMissingNames,
  type HistoryRow,
  haveEnded,
  readLastPetId,
  readLastRow,
  selectHistory,
  selectOrderStates,
  selectOutbox,
  selectPetStates,
  type VerifiedOrder,
  type VerifiedPet,
} from './verify-queries.ts';

export interface Verification extends VerifiedRange {
  readonly applications: number;
}

interface VerifiedRange {
  readonly animals: number;
  readonly orders: number;
  readonly rows: number;
  /** The first violation; undefined if there is none. */
  readonly violation: string | undefined;
}

const petsPerRange = 1_000;
const rowsPerRange = 10_000;
const transactionsTimeoutMs = 60_000;
const transactionsIntervalMs = 20;

/**
 * Replays the whole history. Checks that no animal ever had two open orders at once, that every transition was legal, and that the
 * current state matches the history, including the shelter that an animal was last moved to, which is also that of its orders. The same
 * for applications, which must also agree with their orders and their animals. Also that what the history and the unpublished events name
 * exists: no foreign key refers to it.
 *
 * Each range of animals is read in its own snapshot, so that none is open for long. That is enough: an animal is compared only with
 * its own orders and its own history, which are all read in the same snapshot, and no check concerns two animals. So each animal was
 * consistent when it was read. Every animal that existed at the start is read, since ids only grow; later ones may be.
 */
export async function verifyHistory(db: Snapshotter, progress: (done: number, of: number) => void): Promise<Verification> {
  const [lastPetId, lastApplicationId] = [await db.snapshot(readLastPetId), await db.snapshot(readLastApplicationId)];
  const report = (petId: bigint, applicationId: bigint) =>
    progress(Number(min(petId, lastPetId) + min(applicationId, lastApplicationId)), Number(lastPetId + lastApplicationId));
  const animals = await verifyAnimals(db, lastPetId, (petId) => report(petId, 0n));
  if (animals.violation) return { ...animals, applications: 0 };
  const { applications, rows, violation } = await verifyApplications(db, (id) => report(lastPetId, id));
  return { ...animals, applications, rows: animals.rows + rows, violation: violation ?? (await findOrphanedEvent(db)) };
}

async function verifyAnimals(db: Snapshotter, lastPetId: bigint, progress: (petId: bigint) => void): Promise<VerifiedRange> {
  let seen: VerifiedRange = { animals: 0, orders: 0, rows: 0, violation: undefined };
  for (let afterPetId = 0n; ; ) {
    const range = (await db.snapshot((tx) => verifyRange(tx, afterPetId))) ?? (await verifyLongHistory(db, afterPetId + 1n));
    seen = {
      animals: seen.animals + range.animals,
      orders: seen.orders + range.orders,
      rows: seen.rows + range.rows,
      violation: range.violation,
    };
    if (range.violation) return seen;
    afterPetId = range.lastPetId;
    progress(afterPetId);
    // One range more than those that have them, for rows of animals that don't exist.
    if (afterPetId > lastPetId) return seen;
  }
}

/** The unpublished events, also those that nobody publishes. Those that are written meanwhile may be read or not. */
async function findOrphanedEvent(db: Snapshotter): Promise<string | undefined> {
  for (let afterId = 0n; ; ) {
    const events = await db.snapshot((tx) => selectOutbox(tx, afterId, rowsPerRange));
    for (const { id, petId, clientId, hasPet, hasClient } of events) {
      if (!hasPet) return `unpublished event ${id}: animal ${petId} does not exist`;
      if (!hasClient) return `unpublished event ${id}: client ${clientId} does not exist`;
    }
    const last = events.at(-1);
    if (!last || events.length < rowsPerRange) return undefined;
    afterId = last.id;
  }
}

interface Range extends VerifiedRange {
  /** All animals up to this one were read. */
  readonly lastPetId: bigint;
}

/**
 * Verifies the animals after one: `petsPerRange`, or fewer if they have more than `rowsPerRange` rows of history. Undefined if the
 * next id alone has more.
 */
async function verifyRange(tx: Db, afterPetId: bigint): Promise<Range | undefined> {
  const found = await selectPetStates(tx, afterPetId, petsPerRange);
  // The last range has all rows that follow, also those of animals that don't exist.
  const lastFoundId = found.length < petsPerRange ? int64Max : (found.at(-1)?.id ?? int64Max);
  const read = await selectHistory(tx, startOf(afterPetId), endOf(lastFoundId), rowsPerRange);
  const last = read.at(-1);
  // The rows of the last animal may not be complete, so it is left to the next range.
  const lastPetId = last && read.length === rowsPerRange ? last.petId - 1n : lastFoundId;
  if (lastPetId <= afterPetId) return undefined;
  const pets = found.filter(({ id }) => id <= lastPetId);
  const rows = read.filter(({ petId }) => petId <= lastPetId);
  const orders = await readOrders(tx, afterPetId, lastPetId);
  const violation = findViolation(pets, orders, rows) ?? (await findUnknownAuthor(tx, rows)) ?? (await findDisownedOrder(tx, orders));
  return { animals: pets.length, orders: orders.length, rows: rows.length, violation, lastPetId };
}

/** A row whose client or key does not exist. An order that does not exist is found by the replay. */
const findUnknownAuthor = (tx: Db, rows: readonly HistoryRow[]): Promise<string | undefined> =>
  findMissingNames(
    tx,
    rows.map((row) => ({ ...row, orderId: null })),
    (row) => `history row ${row}`,
  );

/** An order that was placed for an application which says otherwise. What the application names is compared there. */
async function findDisownedOrder(tx: Db, orders: readonly VerifiedOrder[]): Promise<string | undefined> {
  const placed = orders.flatMap((order) => (order.applicationId === null ? [] : { ...order, applicationId: order.applicationId }));
  if (placed.length === 0) return undefined;
  const found = new Map((await selectApplicationsOfOrders(tx, placed)).map((one) => [one.orderId, one]));
  for (const { id, status, applicationId } of placed) {
    const { status: ofApplication, namedOrderId } = found.get(id) ?? {};
    if (!ofApplication) return `order ${id}: application ${applicationId} does not exist`;
    // An application that was accepted again names its last order.
    const mayBeEarlier = namedOrderId !== null && afterOrder(status as OrderStatus)?.to === 'closed';
    if (namedOrderId !== id && !mayBeEarlier)
      return `order ${id}: it is ${status}, but application ${applicationId} names ${namedOrderId ? `order ${namedOrderId}` : 'no order'}`;
  }
  return undefined;
}

function findViolation(pets: readonly VerifiedPet[], orders: readonly VerifiedOrder[], rows: readonly HistoryRow[]): string | undefined {
  const replays = new Map(pets.map(({ id }) => [id, new Replay(id)]));
  for (const row of rows) {
    const replay = replays.get(row.petId);
    const violation = replay ? replay.apply(row) : `history row ${row.id}: animal ${row.petId} does not exist`;
    if (violation) return violation;
  }
  const ordersByPet = Map.groupBy(orders, ({ petId }) => petId);
  for (const pet of pets) {
    const violation = replays.get(pet.id)?.compare(pet, ordersByPet.get(pet.id) ?? []);
    if (violation) return violation;
  }
  const orphan = orders.find(({ petId }) => !replays.has(petId));
  return orphan && `order ${orphan.id}: animal ${orphan.petId} does not exist`;
}

/**
 * Verifies one animal whose history is too long for one snapshot. Rows are only ever added. Once every transaction has ended that was
 * open when the last row was read, no row before that one can follow, and all of them can be read in any number of snapshots. Only
 * the rows after it have to be read together with the current state.
 */
async function verifyLongHistory(db: Snapshotter, petId: bigint): Promise<Range> {
  const settled = await db.snapshot((tx) => readLastRow(tx, petId));
  await untilEnded(db, settled.nextTransaction);
  const replay = new Replay(petId);
  const seen = { animals: 1, orders: 0, rows: 0, lastPetId: petId };
  let lastId = 0n;
  const apply = (rows: readonly HistoryRow[]): string | undefined => {
    for (const row of rows) {
      seen.rows += 1;
      lastId = row.id;
      const violation = replay.apply(row);
      if (violation) return violation;
    }
    return undefined;
  };
  while (lastId < settled.id) {
    const { rows, violation } = await db.snapshot(async (tx) => {
      const read = await selectHistory(tx, { petId, id: lastId }, { petId, id: settled.id }, rowsPerRange);
      return { rows: read, violation: apply(read) ?? (await findUnknownAuthor(tx, read)) };
    });
    if (violation) return { ...seen, violation };
    if (rows.length === 0) break;
  }
  return db.snapshot(async (tx) => {
    for (;;) {
      const rows = await selectHistory(tx, { petId, id: lastId }, endOf(petId), rowsPerRange);
      const violation = apply(rows) ?? (await findUnknownAuthor(tx, rows));
      if (violation) return { ...seen, violation };
      if (rows.length < rowsPerRange) break;
    }
    const [pet] = await selectPetStates(tx, petId - 1n, 1);
    const orders = await readOrders(tx, petId - 1n, petId);
    const violation = pet?.id === petId ? replay.compare(pet, orders) : `animal ${petId}: it has a history, but does not exist`;
    return { ...seen, orders: orders.length, violation: violation ?? (await findDisownedOrder(tx, orders)) };
  });
}

async function untilEnded(db: Snapshotter, nextTransaction: string): Promise<void> {
  for (const deadlineMs = performance.now() + transactionsTimeoutMs; performance.now() < deadlineMs; await sleep(transactionsIntervalMs)) {
    if (await db.snapshot((tx) => haveEnded(tx, nextTransaction))) return;
  }
  throw new Error(`a transaction that writes has been open for ${transactionsTimeoutMs / 1_000} s. Verify again when it has ended.`);
}

/** Reads in batches, since one animal may have many. */
async function readOrders(tx: Db, afterPetId: bigint, lastPetId: bigint): Promise<VerifiedOrder[]> {
  const orders: VerifiedOrder[] = [];
  for (let after = startOf(afterPetId); ; ) {
    const batch = await selectOrderStates(tx, after, lastPetId, rowsPerRange);
    orders.push(...batch);
    const last = batch.at(-1);
    if (!last || batch.length < rowsPerRange) return orders;
    after = last;
  }
}

/** Before the first row of the animals after this one. */
const startOf = (afterPetId: bigint) => ({ petId: afterPetId, id: int64Max });
const endOf = (petId: bigint) => ({ petId, id: int64Max });
const min = (a: bigint, b: bigint) => (a < b ? a : b);
