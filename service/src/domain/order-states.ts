import type { PetStatus } from './pet-statuses.ts';
import { type Scope, scopesThat } from './scopes.ts';

/** An open order reserves its animal: nobody else can order it. */
const open = { isOpen: true, reserves: true } as const;

/**
 * The states of an order, its actions, and how they change the animal. The API, the retention of adopters' data, events, `homeward
 * verify` and the documents all use these two tables.
 */
const table = {
  placed: { ...open, meaning: 'The order waits for the store to approve it, until it expires.', event: 'An order was placed.' },
  approved: { ...open, meaning: 'The store has agreed to the adoption.', event: 'The store approved the adoption.' },
  completed: {
    isOpen: false,
    reserves: true,
    end: 'with adoption',
    meaning: 'The animal was adopted.',
    event: 'The adoption was completed.',
  },
  cancelled: {
    isOpen: false,
    reserves: false,
    end: 'without adoption',
    meaning: 'The client or the store has called the adoption off.',
    event: 'The order was cancelled.',
  },
  expired: {
    isOpen: false,
    reserves: false,
    end: 'without adoption',
    meaning: 'The store did not approve the order in time.',
    event: 'The order was not approved in time.',
  },
  returned: {
    isOpen: false,
    reserves: false,
    end: 'with adoption',
    meaning: 'The adopter has returned the animal.',
    event: 'The animal was returned to the store.',
  },
} as const satisfies Record<string, OrderState>;

export type OrderState = {
  /** For the documents. */
  readonly meaning: string;
  /** What the event says that is named after the status. */
  readonly event: string;
} & (
  | typeof open
  | {
      readonly isOpen: false;
      /** Whether the order has reserved or sold its animal. */
      readonly reserves: boolean;
      /** Decides how long the adopter's data is kept. */
      readonly end: OrderEnd;
    }
);

export type OrderEnd = 'without adoption' | 'with adoption';
export type OrderStatus = keyof typeof table;

export const orderStates: Readonly<Record<OrderStatus, OrderState>> = table;
export const orderStatuses = Object.keys(table) as OrderStatus[];
export const openOrderStatuses = orderStatuses.filter((status) => orderStates[status].isOpen);
export const reservingOrderStatuses = orderStatuses.filter((status) => orderStates[status].reserves);

/** The statuses of orders that have ended, each with the kind of its end. */
export const endedOrderStatuses = orderStatuses.flatMap((status) => {
  const state = orderStates[status];
  return state.isOpen ? [] : [{ status, end: state.end }];
});

export const placing = { to: 'placed', pet: { from: 'available', to: 'pending' } } as const;

export const orderActions = {
  approve: { from: ['placed'], to: 'approved', pet: undefined, by: 'staff', summary: 'The store approves the adoption.' },
  complete: {
    from: ['approved'],
    to: 'completed',
    pet: { from: 'pending', to: 'sold' },
    by: 'staff',
    isUndoable: true,
    summary: 'The adoption is complete: the animal is sold.',
  },
  cancel: {
    from: ['placed', 'approved'],
    to: 'cancelled',
    pet: { from: 'pending', to: 'available' },
    by: 'client',
    summary: 'The client that placed the order, or the store, cancels the adoption.',
  },
  expire: {
    from: ['placed'],
    to: 'expired',
    pet: { from: 'pending', to: 'available' },
    by: 'service',
    summary: 'The worker expires an order that was not approved in time.',
  },
  return: {
    from: ['completed'],
    to: 'returned',
    pet: { from: 'sold', to: 'available' },
    by: 'staff',
    isUndoable: true,
    summary: 'The adopter returns the animal.',
  },
} as const satisfies Record<string, OrderAction>;

export interface OrderAction {
  readonly from: readonly OrderStatus[];
  readonly to: OrderStatus;
  readonly pet: { readonly from: PetStatus; readonly to: PetStatus } | undefined;
  /** Who may request it: staff, or also the client that placed the order. Nobody may request what the service does itself. */
  readonly by: 'staff' | 'client' | 'service';
  /** A person who has done it in the console may undo it for some time: the order has its status before again. */
  readonly isUndoable?: true;
  readonly summary: string;
}

type OrderActionName = keyof typeof orderActions;
/** The actions that callers can request. */
export type CallerAction = {
  [Name in OrderActionName]: (typeof orderActions)[Name]['by'] extends 'service' ? never : Name;
}[OrderActionName];

const isCallerAction = (name: OrderActionName): name is CallerAction => orderActions[name].by !== 'service';
export const callerActions = (Object.keys(orderActions) as OrderActionName[]).filter(isCallerAction);

/** A key needs one of these to request the action. */
export const scopesFor = (name: CallerAction): readonly Scope[] =>
  orderActions[name].by === 'staff' ? scopesThat('manageOrders') : ['orders:write'];

/** The actions that an order with this status allows. */
export const actionsFrom = (status: OrderStatus): CallerAction[] =>
  callerActions.filter((name) => (orderActions[name].from as readonly OrderStatus[]).includes(status));

export const isOpen = (status: string): boolean => (openOrderStatuses as readonly string[]).includes(status);

/**
 * Whether the animal of an order always changes with it. An order that is not open no longer reserves its animal, which may have
 * changed since: staff have set its status, or another order has sold it.
 */
export const alwaysMovesPet = ({ from }: Pick<OrderAction, 'from'>): boolean => from.every(isOpen);

/**
 * How the animal changes with its order between two statuses: `pet` is undefined if it does not. Undefined if there is no such
 * transition. An order comes from null when it is placed.
 */
export function findOrderTransition(
  from: string | null,
  to: string,
): { readonly pet: OrderAction['pet']; readonly always: boolean } | undefined {
  if (from === null) return to === placing.to ? { pet: placing.pet, always: true } : undefined;
  const action = Object.values(orderActions).find((one) => one.to === to && (one.from as readonly string[]).includes(from));
  return action && { pet: action.pet, always: alwaysMovesPet(action) };
}

/** Whether an order may have this status again, since what has led from it was undone. */
export const isOrderUndoing = (from: string, to: string): boolean =>
  Object.values<OrderAction>(orderActions).some(
    (action) => action.isUndoable === true && action.to === from && (action.from as readonly string[]).includes(to),
  );
