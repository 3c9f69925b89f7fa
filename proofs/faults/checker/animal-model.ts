// One animal as a register: what each operation needs of its state, and what it makes of it.
import {
  type AnimalValue,
  type Attempt,
  type Facts,
  type List,
  type Operation,
  type OrderAction,
  tokenOf,
  type Write,
} from '../history.ts';
import type { State, Step } from './linearizability.ts';

export interface AnimalState extends State {
  /** Undefined: not there yet, or removed. */
  readonly value: AnimalValue | undefined;
  readonly isRemoved: boolean;
  /** The statuses of its orders, by their tokens. */
  readonly orders: ReadonlyMap<string, string>;
  /** The states that a failover may bring back, because nothing was acknowledged since. Empty unless changes may vanish. */
  readonly unconfirmed: readonly AnimalState[];
}

export interface AnimalStep extends Step<AnimalState> {
  /** Undefined for a step that is no request, such as a failover. */
  readonly operation: Operation | undefined;
  readonly text: string;
}

const open = ['placed', 'approved'];
const moves: Record<OrderAction, { readonly from: readonly string[]; readonly to: string; readonly petStatus?: string }> = {
  approve: { from: ['placed'], to: 'approved' },
  complete: { from: ['approved'], to: 'completed', petStatus: 'sold' },
  cancel: { from: open, to: 'cancelled', petStatus: 'available' },
  return: { from: ['completed'], to: 'returned', petStatus: 'available' },
};

export const absent: AnimalState = stateOf({ value: undefined, isRemoved: false, orders: new Map() });

/** The steps of an operation on one animal: its effect, and what each failed attempt says about the animal. */
export function stepsOf(operation: Operation, petId: number, { mayVanish, listsStaleMs }: StepOptions): AnimalStep[] {
  if (operation.kind === 'read' || operation.kind === 'list') return observationsOf(operation, petId, listsStaleMs);
  const failures = operation.attempts.flatMap((attempt) => {
    const holds = whatFailureSays(operation, attempt);
    return holds ? [observer(operation, attempt, `got ${attempt.status} ${attempt.code}`, holds)] : [];
  });
  if (operation.outcome === 'failed') return failures;
  const beginMs = operation.attempts[0]?.beginMs ?? 0;
  // An attempt that was not acknowledged may have been applied before: what is acknowledged then is only confirmed, or applied again.
  const isRepeated = mayVanish && operation.attempts.length > 1;
  const applyConfirmed = (state: AnimalState): AnimalState[] => {
    const after = effectOf(operation, state);
    if (after) return [stateOf(after)];
    return isRepeated && isDone(operation, state) ? [stateOf(state)] : [];
  };
  const applyUnconfirmed = (state: AnimalState): AnimalState[] => {
    const after = effectOf(operation, state);
    return after ? [stateOf(after, [...state.unconfirmed, stateOf(state)])] : [];
  };
  const stepOf = (endMs: number, apply: AnimalStep['apply']): AnimalStep => ({
    operation,
    beginMs,
    endMs,
    isObserver: false,
    text: 'was applied',
    apply,
  });
  if (operation.outcome === 'unknown') return [stepOf(Infinity, mayVanish ? applyUnconfirmed : applyConfirmed), ...failures];
  const confirmed = stepOf(operation.attempts.at(-1)?.endMs ?? Infinity, applyConfirmed);
  return [confirmed, ...(isRepeated ? [stepOf(Infinity, applyUnconfirmed)] : []), ...failures];
}

export interface StepOptions {
  /** What was not acknowledged may vanish in a failover. */
  readonly mayVanish: boolean;
  readonly listsStaleMs: number;
}

/** In which a change that was not acknowledged may vanish. */
export const vanishing = ({ beginMs, endMs }: { beginMs: number; endMs: number }): AnimalStep => ({
  operation: undefined,
  beginMs,
  endMs,
  isObserver: false,
  text: 'a failover',
  apply: (state) => [stateOf(state), ...state.unconfirmed.map((one) => stateOf(one))],
});

/** A standby takes over that lacks the last changes: the animal is as the standby has it. */
export const takeover = (inStandby: AnimalState, { beginMs, endMs }: { beginMs: number; endMs: number }): AnimalStep => ({
  operation: undefined,
  beginMs,
  endMs,
  isObserver: false,
  text: 'the standby took over',
  apply: () => [inStandby],
});

/** What the database says at the end. */
export const finalState = (inDatabase: AnimalState, atMs: number): AnimalStep => ({
  operation: undefined,
  beginMs: atMs,
  endMs: atMs,
  isObserver: true,
  text: `the database at the end has it as ${describeState(inDatabase)}`,
  apply: (state) => (stateOf(state).key === inDatabase.key ? [state] : []),
});

/** Looks up animals by id. */
export function statesIn({ animals, orders }: Facts): (petId: number) => AnimalState {
  const animalsById = new Map(animals.map((animal) => [animal.id, animal]));
  const ordersByPet = Map.groupBy(orders, ({ petId }) => petId);
  return (petId) => {
    const animal = animalsById.get(petId);
    return stateOf({
      value: animal && !animal.isRemoved ? animal : undefined,
      isRemoved: animal?.isRemoved ?? false,
      orders: new Map(ordersByPet.get(petId)?.map(({ adopterEmail, status }) => [tokenOf(adopterEmail), status])),
    });
  };
}

export function describeState({ value, isRemoved, orders }: AnimalState): string {
  const about = value ? `${value.status}, named "${value.name}", category ${value.categoryId}` : isRemoved ? 'removed' : 'not there';
  const openOnes = [...orders].filter(([, status]) => open.includes(status)).map(([token, status]) => `order ${token} ${status}`);
  return [about, ...openOnes].join(', ');
}

const isSame = (a: AnimalValue, b: AnimalValue) => a.name === b.name && a.categoryId === b.categoryId && a.status === b.status;
const hasOpenOrder = ({ orders }: AnimalState) => [...orders.values()].some((status) => open.includes(status));

function stateOf(
  { value, isRemoved, orders }: Omit<AnimalState, 'key' | 'unconfirmed'>,
  unconfirmed: readonly AnimalState[] = [],
): AnimalState {
  const about = value ? JSON.stringify([value.name, value.categoryId, value.status]) : isRemoved ? 'removed' : 'absent';
  const ownOrders = [...orders].map(([token, status]) => `${token}=${status}`).sort();
  const key = [about, ...ownOrders, ...unconfirmed.map((one) => `<${one.key}>`)].join(' ');
  return { key, value, isRemoved, orders, unconfirmed };
}

/** Undefined: the operation can't be applied in this state. */
function effectOf(operation: Write, state: AnimalState): Omit<AnimalState, 'key' | 'unconfirmed'> | undefined {
  const { value, isRemoved, orders } = state;
  if (operation.kind === 'create') return value || isRemoved ? undefined : { value: operation.asked, isRemoved, orders };
  if (!value) return undefined;
  switch (operation.kind) {
    case 'change': {
      const isForbidden = operation.asked.status !== value.status && hasOpenOrder(state);
      return isSame(value, operation.expected) && !isForbidden ? { value: operation.asked, isRemoved, orders } : undefined;
    }
    case 'remove':
      return isSame(value, operation.expected) && !hasOpenOrder(state) ? { value: undefined, isRemoved: true, orders } : undefined;
    case 'place':
      if (value.status !== 'available' || orders.has(operation.orderToken)) return undefined;
      return { value: { ...value, status: 'pending' }, isRemoved, orders: new Map([...orders, [operation.orderToken, 'placed']]) };
    case 'act': {
      const { from, to, petStatus = value.status } = moves[operation.action];
      if (!from.includes(orders.get(operation.orderToken) ?? '')) return undefined;
      return { value: { ...value, status: petStatus }, isRemoved, orders: new Map([...orders, [operation.orderToken, to]]) };
    }
  }
}

/** Whether the operation was applied last. */
function isDone(operation: Write, { value, isRemoved, orders }: AnimalState): boolean {
  switch (operation.kind) {
    case 'create':
    case 'change':
      return value !== undefined && isSame(value, operation.asked);
    case 'remove':
      return isRemoved;
    case 'place':
      return orders.has(operation.orderToken);
    case 'act':
      return orders.get(operation.orderToken) === moves[operation.action].to;
  }
}

/** What must be true of the animal at some time during a failed attempt. Undefined: nothing is known. */
function whatFailureSays(operation: Write, { outcome, code }: Attempt): ((state: AnimalState) => boolean) | undefined {
  if (outcome !== 'failed') return undefined;
  switch (code ?? '') {
    case 'pet_not_found':
      return ({ value }) => value === undefined;
    case 'pet_has_open_order':
      return hasOpenOrder;
    case 'pet_not_available':
      return ({ value }) => value !== undefined && value.status !== 'available';
    case 'precondition_failed':
      return 'expected' in operation ? ({ value }) => value !== undefined && !isSame(value, operation.expected) : undefined;
    case 'order_state_conflict':
      return operation.kind === 'act'
        ? ({ orders }) => !moves[operation.action].from.includes(orders.get(operation.orderToken) ?? '')
        : undefined;
    case 'order_not_found':
      return operation.kind === 'act' ? ({ orders }) => !orders.has(operation.orderToken) : undefined;
    default:
      return undefined;
  }
}

function observationsOf(operation: Extract<Operation, { kind: 'read' | 'list' }>, petId: number, listsStaleMs: number): AnimalStep[] {
  const attempt = operation.attempts.at(-1);
  if (operation.outcome !== 'ok' || !attempt) return [];
  if (operation.kind === 'read')
    return [observer(operation, attempt, showing(operation.value), ({ value }) => shows(operation.value, value))];
  const seen = operation.values?.find(({ id }) => id === petId);
  const step = observer(operation, attempt, showing(seen, operation.status), ({ value }) => shows(seen, selected(operation, value)));
  return [{ ...step, beginMs: step.beginMs - listsStaleMs }];
}

const selected = ({ status }: List, value: AnimalValue | undefined) =>
  status === undefined || value?.status === status ? value : undefined;
const shows = (seen: AnimalValue | null | undefined, value: AnimalValue | undefined) =>
  seen && value ? isSame(seen, value) : !seen && !value;
const showing = (seen: AnimalValue | null | undefined, status?: string) =>
  seen ? `showed it as ${seen.status}, named "${seen.name}"` : `did not show it${status === undefined ? '' : ` among the ${status} ones`}`;

function observer(operation: Operation, { beginMs, endMs }: Attempt, text: string, holds: (state: AnimalState) => boolean): AnimalStep {
  return { operation, beginMs, endMs, isObserver: true, text, apply: (state) => (holds(state) ? [state] : []) };
}
