import { describe, expect, test } from 'vitest';
import {
  actionsFrom,
  callerActions,
  endedOrderStatuses,
  findOrderTransition,
  openOrderStatuses,
  orderActions,
  orderStatuses,
  reservingOrderStatuses,
  scopesFor,
} from '../../src/domain/order-states.ts';

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
      orderStatuses.filter((to) => findOrderTransition(from, to)).map((to) => `${from} to ${to}`),
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
    expect(findOrderTransition('placed', 'lost')).toBeUndefined();
  });

  test('are changed by staff only, except for a cancellation', () => {
    const staff = ['store:manage', 'shelter:manage'];
    expect(callerActions.map((name) => [name, scopesFor(name)])).toEqual([
      ['approve', staff],
      ['complete', staff],
      ['cancel', ['orders:write']],
      ['return', staff],
    ]);
  });

  test('are open, reserve the animal, or have ended with or without an adoption', () => {
    expect(openOrderStatuses).toEqual(['placed', 'approved']);
    expect(reservingOrderStatuses).toEqual(['placed', 'approved', 'completed']);
    expect(endedOrderStatuses.map(({ status, end }) => `${status} ${end}`)).toEqual([
      'completed with adoption',
      'cancelled without adoption',
      'expired without adoption',
      'returned with adoption',
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
