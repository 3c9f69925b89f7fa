/** The states of something and its actions, for messages. */
export interface States {
  /** What a status allows callers to do. */
  actionsFrom(status: string): readonly string[];
  /** The status that an action leads to. */
  statusAfter(action: string): string;
  /** What something is once the action is done, as a message says it: "cancelled". */
  doneWord(action: string): string;
  /** The first one. */
  readonly first: string;
}

/** Says why the status of something does not allow an action, and what can be done instead. `what` is such as "Order 3". */
export function explainStateConflict(what: string, status: string, action: string, states: States): string {
  const done = states.doneWord(action);
  const next = nextSteps(status, states);
  if (status === states.statusAfter(action)) return `${what} is already ${status}. ${next}`;
  if (canLeadTo(status, action, states))
    return `${what} is ${status === states.first ? 'still ' : ''}${status}, so it can't be ${done} yet. ${next}`;
  return `${what} is already ${status}, so it can't be ${done}. ${next}`;
}

function nextSteps(status: string, { actionsFrom, doneWord }: States): string {
  const actions = actionsFrom(status);
  const [first] = actions;
  if (first === undefined) return 'No further action is possible.';
  if (actions.length === 1) return `It can only be ${doneWord(first)}.`;
  const list = [actions.slice(0, -1).join(', '), actions.at(-1)].join(' or ');
  return `${list[0]?.toUpperCase()}${list.slice(1)} it.`;
}

/** Whether a later status allows the action. */
function canLeadTo(status: string, action: string, states: States, seen: readonly string[] = []): boolean {
  if (seen.includes(status)) return false;
  return states
    .actionsFrom(status)
    .some((next) => next === action || canLeadTo(states.statusAfter(next), action, states, [...seen, status]));
}
