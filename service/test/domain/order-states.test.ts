import { describe, expect, test } from 'vitest';
import { actionsFrom, callerActions, isLegalOrderTransition, orderActions, orderStatuses } from '../../src/domain/order-states.ts';

describe('The life of an order', () => {
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

  test('has these transitions and no others', () => {
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

  test('leads from nowhere to a state that is none', () => {
    expect(isLegalOrderTransition('placed', 'lost')).toBe(false);
  });

  test('is in the hands of staff, but for the cancellation', () => {
    expect(callerActions.map((name) => [name, orderActions[name].scope])).toEqual([
      ['approve', 'store:manage'],
      ['complete', 'store:manage'],
      ['cancel', 'orders:write'],
      ['return', 'store:manage'],
    ]);
  });

  test('moves the animal with it', () => {
    expect(Object.fromEntries(Object.values(orderActions).map(({ to, pet }) => [to, pet?.to]))).toEqual({
      approved: undefined,
      completed: 'sold',
      cancelled: 'available',
      expired: 'available',
      returned: 'available',
    });
  });
});
