import type { PetStatus } from './pet-statuses.ts';
import { type Scope, staffScopes } from './scopes.ts';

/**
 * The states of an order, its actions, and how they change the animal. The API, `homeward verify` and the documents all
 * use this table.
 */
export const orderStatuses = ['placed', 'approved', 'completed', 'cancelled', 'expired', 'returned'] as const;
export type OrderStatus = (typeof orderStatuses)[number];

/** An open order reserves its animal: nobody else can order it. */
export const openOrderStatuses = ['placed', 'approved'] as const satisfies readonly OrderStatus[];

/** An order with one of these statuses has reserved or sold its animal. */
export const reservingOrderStatuses = [...openOrderStatuses, 'completed'] as const satisfies readonly OrderStatus[];

export const placing = { to: 'placed', pet: { from: 'available', to: 'pending' } } as const;

export const orderActions = {
  approve: { from: ['placed'], to: 'approved', pet: undefined, scope: staffScopes, summary: 'The store approves the adoption.' },
  complete: {
    from: ['approved'],
    to: 'completed',
    pet: { from: 'pending', to: 'sold' },
    scope: staffScopes,
    summary: 'The adoption is complete: the animal is sold.',
  },
  cancel: {
    from: ['placed', 'approved'],
    to: 'cancelled',
    pet: { from: 'pending', to: 'available' },
    scope: 'orders:write',
    summary: 'The client that placed the order, or the store, cancels the adoption.',
  },
  expire: {
    from: ['placed'],
    to: 'expired',
    pet: { from: 'pending', to: 'available' },
    scope: undefined,
    summary: 'The worker expires an order that was not approved in time.',
  },
  return: {
    from: ['completed'],
    to: 'returned',
    pet: { from: 'sold', to: 'available' },
    scope: staffScopes,
    summary: 'The adopter returns the animal.',
  },
} as const satisfies Record<string, OrderAction>;

interface OrderAction {
  readonly from: readonly OrderStatus[];
  readonly to: OrderStatus;
  readonly pet: { readonly from: PetStatus; readonly to: PetStatus } | undefined;
  /** One of them is needed. Undefined if callers can't request the action. */
  readonly scope: Scope | readonly Scope[] | undefined;
  readonly summary: string;
}

export type OrderActionName = keyof typeof orderActions;

/** The actions that callers can request. */
export const callerActions = ['approve', 'complete', 'cancel', 'return'] as const satisfies readonly OrderActionName[];
export type CallerAction = (typeof callerActions)[number];

/** The actions that an order with this status allows. */
export const actionsFrom = (status: OrderStatus): CallerAction[] =>
  callerActions.filter((name) => (orderActions[name].from as readonly OrderStatus[]).includes(status));

export const isOpen = (status: string): boolean => (openOrderStatuses as readonly string[]).includes(status);

/**
 * How the animal changes when its order reaches `status`. `always` is false for a return: the animal may have changed since it was
 * sold.
 */
export function petMoveOf(status: string): { from: PetStatus; to: PetStatus; always: boolean } | undefined {
  if (status === placing.to) return { ...placing.pet, always: true };
  const action = Object.values(orderActions).find(({ to }) => to === status);
  return action?.pet && { ...action.pet, always: action !== orderActions.return };
}

export const isLegalOrderTransition = (from: string | null, to: string): boolean =>
  from === null
    ? to === placing.to
    : Object.values(orderActions).some((action) => action.to === to && (action.from as readonly string[]).includes(from));
