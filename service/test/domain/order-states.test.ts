import { describe, expect, test } from 'vitest';
import { actionsFrom, callerActions, isLegalOrderTransition, orderActions, orderStatuses } from '../../src/domain/order-states.ts';
import { staffScopes } from '../../src/domain/scopes.ts';

describe('The states of an order', () => {
  test.each([
    ['placed', ['approve', 'cancel']],
    ['approved', ['complete', 'cancel']],
    ['completed', ['return']],
    ['cancelled', []],
    ['expired', []],
    ['returned', []],
  ] as const)('%s allows %j', (status, actions) => {
    expect(actionsFrom(status)).toEqual(actions);
  });

  test('have these transitions and no others', () => {
    const legal = [null, ...orderStatuses].flatMap((from) =>
      orderStatuses.filter((to) => isLegalOrderTransition(from, to)).map((to) => `${from} to ${to}`),
    );
    expect(legal).toEqual([
      'null to placed',
      'placed to approved',
      'placed to cancelled',
      'placed to expired',
      'approved to completed',
      'approved to cancelled',
      'completed to returned',
    ]);
  });

  test('have no transition to an unknown state', () => {
    expect(isLegalOrderTransition('placed', 'lost')).toBe(false);
  });

  test('are changed by staff only, except for a cancellation', () => {
    expect(callerActions.map((name) => [name, orderActions[name].scope])).toEqual([
      ['approve', staffScopes],
      ['complete', staffScopes],
      ['cancel', 'orders:write'],
      ['return', staffScopes],
    ]);
  });

  test('change the animal with the order', () => {
    expect(Object.fromEntries(Object.values(orderActions).map(({ to, pet }) => [to, pet?.to]))).toEqual({
      approved: undefined,
      completed: 'sold',
      cancelled: 'available',
      expired: 'available',
      returned: 'available',
    });
  });
});
