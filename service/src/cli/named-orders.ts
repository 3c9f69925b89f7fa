import { actionsFrom, type CallerAction } from '../domain/order-states.ts';
import type { Db } from '../platform/db/handles.ts';
import { findNamedOrder, type NamedOrder } from '../store/orders/order-queries.ts';
import { named } from './names.ts';
import { UsageError } from './output.ts';

export async function getNamedOrder(db: Db, id: bigint): Promise<NamedOrder> {
  const order = await findNamedOrder(db, id);
  if (!order) throw new UsageError(`There is no order ${id}. 'homeward orders list' lists all.`);
  return order;
}

export const petOf = ({ pet, petId }: NamedOrder): string => named(pet, petId);
export const clientOf = ({ client, clientId }: NamedOrder): string => named(client, clientId);

/** An order as `--json` prints it: with the actions that its status allows. */
export const withActions = (order: NamedOrder): NamedOrder & { actions: CallerAction[] } => ({
  ...order,
  actions: actionsFrom(order.status),
});

/** The commands that the order's status allows. */
export const nextCommands = ({ id, status }: NamedOrder): string[] =>
  actionsFrom(status).map((action) => `homeward orders ${action} ${id}`);
