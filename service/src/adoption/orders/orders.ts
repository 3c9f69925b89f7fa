import { requireAccess } from '../../access/admission/access.ts';
import { recordTransitions, type Transition } from '../../animals/history/history.ts';
import type { Catalogue, CatalogueTransaction } from '../../animals/list-cache/catalogue.ts';
import { petStatusChanged } from '../../animals/pets/pet-json.ts';
import type { Pet } from '../../animals/pets/pet-schemas.ts';
import {
  lockPet,
  movePetsWithOrders,
  readShelterId,
  recordSoldHolds,
  reservePet,
  type SettleApplications,
} from '../../animals/pets/pets.ts';
import { type NewEvent, recordEvents } from '../../changes/events/events.ts';
import { type Actor, type Author, managedOrders, theService, type Visibility, visibilityOf } from '../../domain/actor.ts';
import { afterOrder, closedBy } from '../../domain/application-states.ts';
import { actionsFrom, alwaysMovesPet, type CallerAction, type OrderStatus, orderActions, placing } from '../../domain/order-states.ts';
import type { PetStatus } from '../../domain/pet-statuses.ts';
import type { Db, Transaction } from '../../platform/db/handles.ts';
import { isLockedByOther } from '../../platform/db/pool.ts';
import { AppError, type ErrorCode, retryLater } from '../../platform/errors.ts';
import {
  countOpenOrders,
  expireOrders,
  findOpenOrder,
  findOpenOrdersOfPets,
  findOrder,
  findOrderedPets,
  insertApprovedOrder,
  insertOrder,
  isAnyOrderDue,
  isReservedByAnotherOrder,
  lockOrdersOfPetAtOnce,
  moveOrder,
  type OrderBounds,
  openOrdersLock,
  selectOpenOrderIds,
} from './order-queries.ts';
import { explainOrderConflict, type NewOrder, type Order, orderEventJson } from './order-schemas.ts';

export { findOpenOrder, findOpenOrdersOfPets, findOrderedPets };

/** The errors of the operations, for the documents. */
export const orderErrors = {
  place: ['pet_not_found', 'pet_not_available', 'pet_on_hold', 'orders_by_application', 'open_order_limit'],
  get: ['order_not_found'],
  act: ['order_not_found', 'order_state_conflict'],
} as const satisfies Record<string, readonly ErrorCode[]>;

/**
 * Reserves the animal and records the order of a client. Enforces the client's bounds, also for concurrent requests. The actor is
 * the client, or the service if staff place the order for it.
 */
export async function placeOrder(
  tx: CatalogueTransaction,
  order: NewOrder,
  actor: Actor,
  { client, expiresInSeconds }: { client: { clientId: bigint; bounds: OrderBounds }; expiresInSeconds: number },
): Promise<Order> {
  const { clientId, bounds } = client;
  const terms = { lock: openOrdersLock(clientId), managed: managedOrders(actor), findOrderedPets };
  const pet = await reservePet(tx, order.petId, terms);
  const placed = await insertOrder(tx, { ...order, clientId, expiresInSeconds }, bounds);
  if (!placed) throw tooManyOpen(await countOpenOrders(tx, clientId, order.adopter.email), bounds);
  const move = { id: placed.id, petId: order.petId, from: null, to: placing.to, why: 'placed' };
  await recordTransitions(tx, actor, ...transitionsOf(move, placing.pet));
  await recordEvents(tx, orderEvent(placing.to, placed, clientId), petStatusChanged(pet, placing.pet.from));
  return placed;
}

export async function getOrder(db: Db, visibility: Visibility, id: bigint): Promise<Order> {
  const order = await findOrder(db, visibility, id);
  if (!order) throw orderNotFound(String(id));
  return order;
}

/** Places an order for an application that staff have accepted, and approves it. The animal is locked and available, or held and not ordered. */
export async function placeApprovedOrder(
  tx: CatalogueTransaction,
  order: NewOrder & { readonly clientId: bigint; readonly applicationId: bigint },
  actor: Actor,
  { expiresInSeconds, isHeld }: { expiresInSeconds: number; isHeld: boolean },
): Promise<Order> {
  const { petId, clientId, applicationId } = order;
  // A held animal is pending already.
  const petMove = isHeld ? undefined : placing.pet;
  const pets = petMove ? await movePetsWithOrders(tx, [petId], petMove) : [];
  const approved = await insertApprovedOrder(tx, { ...order, expiresInSeconds });
  const { id } = approved;
  const { from, to } = orderActions.approve;
  const why = `application ${applicationId} accepted`;
  await recordTransitions(
    tx,
    actor,
    ...transitionsOf({ id, petId, from: null, to: placing.to, why }, petMove),
    ...transitionsOf({ id, petId, from: from[0], to, why }, undefined),
  );
  await recordEvents(
    tx,
    orderEvent(placing.to, { ...approved, status: placing.to }, clientId),
    ...pets.map((pet) => petStatusChanged(pet, placing.pet.from)),
    orderEvent(to, approved, clientId),
  );
  return approved;
}

/**
 * Performs an action on an order and its animal, if the table of states allows it. The applications for the animal follow, in the same
 * transaction.
 */
export async function actOnOrder(
  tx: CatalogueTransaction,
  id: bigint,
  name: CallerAction,
  actor: Actor,
  settleApplications: SettleApplications,
): Promise<Order> {
  const action = orderActions[name];
  const visible = visibilityOf(actor);
  const moved = await moveOrder(tx, action.by === 'staff' ? managedOrders(actor) : visible, id, action.from, action.to);
  if (!moved) {
    const { petId, ...order } = await getOrder(tx, visible, id);
    if (action.by === 'staff') requireAccess(actor, 'manageOrders', { petId, shelterId: await readShelterId(tx, petId) });
    throw conflict(order, name);
  }
  const { from, clientId, ...order } = moved;
  const { petId } = order;
  const petMove = action.pet && (alwaysMovesPet(action) || (await isStill(action.pet.from, tx, id, petId))) ? action.pet : undefined;
  const pets = petMove ? await movePetsWithOrders(tx, [petId], petMove) : [];
  const move = { id, petId, from, to: action.to, why: action.to };
  await recordTransitions(tx, actor, ...transitionsOf(move, petMove && { ...petMove, to: pets[0]?.status ?? petMove.to }));
  await recordEvents(tx, orderEvent(action.to, order, clientId), ...(petMove ? statusEvents(pets, petMove.from) : []));
  await recordSoldHolds(tx, pets, actor);
  if (concernsApplications(order, petMove?.to)) await settleApplications(tx, petId, actor);
  return order;
}

/**
 * An order, with its animal, is as before an act that was undone. One that the act had placed is cancelled. The order was locked before the
 * animal. The caller restores the animal and the application.
 */
export async function restoreOrder(
  tx: CatalogueTransaction,
  { id, petId, from, to }: { readonly id: bigint; readonly petId: bigint; readonly from: OrderStatus; readonly to: OrderStatus | null },
  author: Author,
): Promise<void> {
  const restored = to ?? orderActions.cancel.to;
  const moved = await moveOrder(tx, 'all', id, [from], restored);
  if (!moved) throw new Error(`order ${id} is not ${from}, though its history says so`);
  const { from: _, clientId, ...order } = moved;
  await recordTransitions(tx, author, ...transitionsOf({ id, petId, from, to: restored, why: 'undone' }, undefined));
  await recordEvents(tx, orderEvent(restored, order, clientId));
}

/** The one that the order was placed for, or all if the animal is sold. */
const concernsApplications = ({ applicationId, status }: Order, pet: PetStatus | undefined): boolean =>
  (applicationId !== null && afterOrder(status) !== undefined) || (pet !== undefined && closedBy[pet] !== undefined);

/** Expires a batch of overdue orders and releases their animals. None was placed for an application: those are approved. Returns how many. */
export async function expireDueOrders(db: Db, catalogue: Catalogue, batchSizeMax: number): Promise<number> {
  // Checked outside a transaction: a worker without work makes one small statement.
  if (!(await isAnyOrderDue(db))) return 0;
  return catalogue.transaction(async (tx) => {
    const expired = await expireOrders(tx, batchSizeMax);
    const { from, to, pet } = orderActions.expire;
    if (expired.length === 0) return 0;
    const pets = await movePetsWithOrders(
      tx,
      expired.map(({ order }) => order.petId),
      pet,
    );
    const statuses = new Map(pets.map(({ id, status }) => [id, status]));
    const moves = expired.map(({ order: { id, petId } }) => ({ id, petId, from: from[0], to, why: 'not approved in time' }));
    const transitions = moves.flatMap((move) => transitionsOf(move, { ...pet, to: statuses.get(move.petId) ?? pet.to }));
    await recordTransitions(tx, theService, ...transitions);
    await recordEvents(tx, ...expired.map(({ order, clientId }) => orderEvent(to, order, clientId)), ...statusEvents(pets, pet.from));
    return expired.length;
  }, theService);
}

/**
 * Locks the orders of a locked animal. Does not wait for one that is being changed: that may wait for the animal, which would be a
 * deadlock.
 */
export async function lockOrdersOfPet(tx: Transaction, { id, name }: Pet): Promise<void> {
  try {
    await lockOrdersOfPetAtOnce(tx, id);
  } catch (error) {
    if (!isLockedByOther(error)) throw error;
    throw retryLater(`An order of ${name} (id ${id}) is being changed. Retry in 1 s.`, error);
  }
}

/** Cancels every open order of a client, of an adopter's e-mail address, or of both. Returns how many. */
export async function cancelOpenOrders(
  db: Db,
  catalogue: Catalogue,
  whose: { clientId: bigint | undefined; email: string | undefined },
  {
    batchSizeMax,
    progress,
    settleApplications,
  }: { batchSizeMax: number; progress(done: number): void; settleApplications: SettleApplications },
): Promise<number> {
  let cancelled = 0;
  for (let afterId = 0n; ; ) {
    const ids = await selectOpenOrderIds(db, whose, { afterId, limit: batchSizeMax });
    const last = ids.at(-1);
    if (last === undefined) return cancelled;
    for (const id of ids) if (await cancelIfOpen(catalogue, id, settleApplications)) progress(++cancelled);
    afterId = last;
  }
}

/** Each order in a separate transaction: one transaction that locks several animals could deadlock with another. */
async function cancelIfOpen(catalogue: Catalogue, id: bigint, settleApplications: SettleApplications): Promise<boolean> {
  return catalogue
    .transaction((tx) => actOnOrder(tx, id, 'cancel', theService, settleApplications), theService)
    .then(() => true, ignoreConflict);
}

function ignoreConflict(error: unknown): false {
  if (error instanceof AppError && error.code === 'order_state_conflict') return false;
  throw error;
}

export const orderNotFound = (id: string) => new AppError('order_not_found', `You have no order with id ${id.slice(0, 40)}.`);

/** False if staff have changed the animal's status since, or another order has reserved it. It is then left unchanged. */
async function isStill(status: PetStatus, tx: Transaction, orderId: bigint, petId: bigint): Promise<boolean> {
  const locked = await lockPet(tx, petId);
  return locked?.pet.status === status && !(await isReservedByAnotherOrder(tx, petId, orderId));
}

/** A held animal has not changed. */
const statusEvents = (pets: readonly Pet[], from: PetStatus): NewEvent[] =>
  pets.filter(({ status }) => status !== from).map((pet) => petStatusChanged(pet, from));

/** The history row of the order, followed by the row of its animal if the animal changes too. */
function transitionsOf(
  { id, petId, ...move }: { id: bigint; petId: bigint; from: string | null; to: string; why: string },
  pet: { from: string; to: string } | undefined,
): Transition[] {
  const ofOrder = { kind: 'order_status', petId, orderId: id, ...move } as const;
  return pet ? [ofOrder, { kind: 'pet_status', petId, ...pet, why: `order ${id} ${move.to}` }] : [ofOrder];
}

/** An event about an order. It never contains the adopter, since receivers may log and store events anywhere. */
export const orderEvent = (what: OrderStatus | 'adopter_erased', order: Order, clientId: bigint): NewEvent => ({
  type: `order.${what}`,
  petId: order.petId,
  clientId,
  data: `{"order":${orderEventJson(order)}}`,
});

function tooManyOpen({ ofClient, ofAdopter }: { ofClient: number; ofAdopter: number }, bounds: OrderBounds): AppError {
  const what =
    ofClient >= bounds.openOrders
      ? `This client has ${ofClient} open orders; ${bounds.openOrders} are allowed.`
      : `This client has ${ofAdopter} open orders for this adopter's e-mail address; ${bounds.openOrdersOfAdopter} are allowed.`;
  return new AppError('open_order_limit', `${what} Wait until the store completes some, or cancel orders that are no longer wanted.`);
}

function conflict({ id, status }: Pick<Order, 'id' | 'status'>, name: CallerAction): AppError {
  // The order reached the required status after the update had looked for it. A retry will succeed.
  const message = actionsFrom(status).includes(name)
    ? `Order ${id} has just become ${status}. Retry the request.`
    : explainOrderConflict(id, status, name);
  return new AppError('order_state_conflict', message);
}
