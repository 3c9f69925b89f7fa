import { actionsFrom, type CallerAction, type OrderStatus, orderActions, placing } from '../../domain/order-states.ts';

/** Says why the status of an order does not allow an action, and what can be done instead. */
export function explainConflict(id: bigint, status: OrderStatus, name: CallerAction): string {
  const { to } = orderActions[name];
  const allowed = actionsFrom(status);
  if (status === to) return `Order ${id} is already ${status}. ${nextSteps(allowed)}`;
  if (canLeadTo(status, name)) {
    return `Order ${id} is ${status === placing.to ? 'still ' : ''}${status}, so it can't be ${to} yet. ${nextSteps(allowed)}`;
  }
  return `Order ${id} is already ${status}, so it can't be ${to}. ${nextSteps(allowed)}`;
}

function nextSteps(allowed: readonly CallerAction[]): string {
  const [first, ...others] = allowed;
  if (!first) return 'No further action is possible.';
  if (others.length === 0) return `It can only be ${orderActions[first].to}.`;
  const list = allowed.join(' or ');
  return `${list[0]?.toUpperCase()}${list.slice(1)} it.`;
}

/** Whether a later status of the order allows the action. The states have no cycle, so this ends. */
const canLeadTo = (status: OrderStatus, name: CallerAction): boolean =>
  actionsFrom(status).some((next) => next === name || canLeadTo(orderActions[next].to, name));
