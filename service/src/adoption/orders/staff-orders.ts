import { type ActingKey, requireStaff } from '../../access/admission/access.ts';
import type { OrderStatus } from '../../domain/order-states.ts';
import type { Db } from '../../platform/db/handles.ts';
import { findOpenOrdersOfPets } from './order-queries.ts';
import type { Order } from './order-schemas.ts';
import {
  countListedOrders,
  findListedOrder,
  type ListedOrder,
  type OrderMoment,
  type OrdersPage,
  selectListedOrders,
  selectOldPromises,
  selectOrderMoments,
  selectOrdersById,
  selectUnapprovedOrders,
} from './staff-queries.ts';

export type { ListedOrder, OrderMoment };

/** What staff read to decide: those of a shelter see what is its own. */
export const listOrdersForStaff = (db: Db, staff: ActingKey, page: OrdersPage): Promise<ListedOrder[]> =>
  selectListedOrders(db, requireStaff(staff, 'manageOrders'), page);

export const listOrdersById = (db: Db, staff: ActingKey, ids: readonly bigint[]): Promise<ListedOrder[]> =>
  selectOrdersById(db, requireStaff(staff, 'manageOrders'), ids);

/** At most `max` of each status. */
export const countOrdersForStaff = (
  db: Db,
  staff: ActingKey,
  statuses: readonly OrderStatus[],
  max: number,
): Promise<ReadonlyMap<OrderStatus, number>> => countListedOrders(db, requireStaff(staff, 'manageOrders'), statuses, max);

export const findOrderForStaff = (db: Db, staff: ActingKey, id: bigint): Promise<ListedOrder | undefined> =>
  findListedOrder(db, requireStaff(staff, 'manageOrders'), id);

/** The order that reserves an animal. */
export async function findOpenForStaff(db: Db, staff: ActingKey, petId: bigint): Promise<ListedOrder | undefined> {
  const id = (await findOpenOrdersOfPets(db, [petId])).get(petId);
  return id === undefined ? undefined : findOrderForStaff(db, staff, id);
}

/** Of an order that the reader has found, the last `limit` steps, newest first. */
export const listOrderMoments = (db: Db, order: Pick<Order, 'id' | 'petId'>, limit: number): Promise<OrderMoment[]> =>
  selectOrderMoments(db, order, limit);

/** Those that wait to be approved, the next to expire first. */
export const listUnapproved = (db: Db, staff: ActingKey, limit: number): Promise<ListedOrder[]> =>
  selectUnapprovedOrders(db, requireStaff(staff, 'manageOrders'), limit);

/** Those that were approved `days` ago or earlier, and whose animals are still there. */
export const listOldPromises = (
  db: Db,
  staff: ActingKey,
  { days, limit }: { readonly days: number; readonly limit: number },
): Promise<ListedOrder[]> => selectOldPromises(db, requireStaff(staff, 'manageOrders'), days, limit);
