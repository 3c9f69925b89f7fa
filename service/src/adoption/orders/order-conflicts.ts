import { actionsFrom, type CallerAction, type OrderStatus, orderActions, placing } from '../../domain/order-states.ts';
import { explainStateConflict, type States } from '../../domain/state-conflicts.ts';

const statusAfter = (action: string) => orderActions[action as CallerAction].to;
const states: States = {
  actionsFrom: (status) => actionsFrom(status as OrderStatus),
  statusAfter,
  doneWord: statusAfter,
  first: placing.to,
};

/** Says why the status of an order does not allow an action, and what can be done instead. */
export const explainConflict = (id: bigint, status: OrderStatus, name: CallerAction): string =>
  explainStateConflict(`Order ${id}`, status, name, states);
