import { expect, test } from 'vitest';
import { explainOrderConflict } from '../../../src/adoption/orders/order-schemas.ts';
import { actionsFrom, callerActions, orderStatuses } from '../../../src/domain/order-states.ts';

test('every action that a status does not allow has a sentence that says why and what is possible', () => {
  const sentences = orderStatuses.flatMap((status) =>
    callerActions.filter((name) => !actionsFrom(status).includes(name)).map((name) => explainOrderConflict(3n, status, name)),
  );
  expect(sentences).toEqual([
    "Order 3 is still placed, so it can't be completed yet. Approve or cancel it.",
    "Order 3 is still placed, so it can't be returned yet. Approve or cancel it.",
    'Order 3 is already approved. Complete or cancel it.',
    "Order 3 is approved, so it can't be returned yet. Complete or cancel it.",
    "Order 3 is already completed, so it can't be approved. It can only be returned.",
    'Order 3 is already completed. It can only be returned.',
    "Order 3 is already completed, so it can't be cancelled. It can only be returned.",
    "Order 3 is already cancelled, so it can't be approved. No further action is possible.",
    "Order 3 is already cancelled, so it can't be completed. No further action is possible.",
    'Order 3 is already cancelled. No further action is possible.',
    "Order 3 is already cancelled, so it can't be returned. No further action is possible.",
    "Order 3 is already expired, so it can't be approved. No further action is possible.",
    "Order 3 is already expired, so it can't be completed. No further action is possible.",
    "Order 3 is already expired, so it can't be cancelled. No further action is possible.",
    "Order 3 is already expired, so it can't be returned. No further action is possible.",
    "Order 3 is already returned, so it can't be approved. No further action is possible.",
    "Order 3 is already returned, so it can't be completed. No further action is possible.",
    "Order 3 is already returned, so it can't be cancelled. No further action is possible.",
    'Order 3 is already returned. No further action is possible.',
  ]);
});
