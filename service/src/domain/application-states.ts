import type { OrderEnd, OrderStatus } from './order-states.ts';
import { type Scope, scopesThat } from './scopes.ts';

/** Staff choose among open applications. */
const open = { phase: 'open' } as const;

/**
 * The states of an application, its actions, and how it follows its order and its animal. The API, messages, events, retention,
 * `homeward verify` and the documents all use these tables.
 */
const table = {
  unconfirmed: {
    phase: 'unconfirmed',
    meaning: 'The adopter has not confirmed the e-mail address yet. Staff do not see it, and after three days it is deleted.',
  },
  submitted: { ...open, meaning: "The application waits for the shelter's staff.", event: 'An adopter applied for an animal.' },
  reviewing: { ...open, meaning: 'Staff are considering it.', event: 'Staff began to consider an application.' },
  accepted: {
    ...open,
    meaning: 'Staff have chosen this adopter: an approved order reserves the animal.',
    event: 'Staff chose the adopter; an order reserves the animal.',
  },
  completed: {
    phase: 'ended',
    end: 'with adoption',
    meaning: 'The adopter has adopted the animal.',
    event: 'The adopter adopted the animal.',
  },
  declined: { phase: 'ended', end: 'without adoption', meaning: 'Staff have declined it.', event: 'Staff declined an application.' },
  withdrawn: {
    phase: 'ended',
    end: 'without adoption',
    meaning: 'The adopter, the client or staff have withdrawn it.',
    event: 'An application was withdrawn.',
  },
  closed: {
    phase: 'ended',
    end: 'without adoption',
    meaning: 'It has ended without a decision about the adopter; closedReason says why.',
    event: 'An application ended without a decision about the adopter.',
  },
} as const satisfies Record<string, ApplicationState>;

type ApplicationState = {
  /** For the documents. */
  readonly meaning: string;
} & (
  | { readonly phase: 'unconfirmed' }
  | {
      readonly phase: 'open';
      /** What the event says that is named after the status. */
      readonly event: string;
    }
  | { readonly phase: 'ended'; readonly event: string /** Decides how long the adopter's data is kept. */; readonly end: OrderEnd }
);

export type ApplicationStatus = keyof typeof table;
/** Everybody who may see an application sees these; an unconfirmed one is for its client alone. */
export type ConfirmedStatus = Exclude<ApplicationStatus, 'unconfirmed'>;

export const applicationStates: Readonly<Record<ApplicationStatus, ApplicationState>> = table;
export const applicationStatuses = Object.keys(table) as ApplicationStatus[];
export const unconfirmed = 'unconfirmed' satisfies ApplicationStatus;
export const confirmedStatuses = applicationStatuses.filter((status): status is ConfirmedStatus => status !== unconfirmed);
export const openApplicationStatuses = applicationStatuses.filter((status) => applicationStates[status].phase === 'open');
export const isOpenApplication = (status: ApplicationStatus): boolean => applicationStates[status].phase === 'open';
export const eventOf = (status: ConfirmedStatus): string => table[status].event;

/** The statuses of applications that have ended, each with the kind of its end. */
export const endedApplicationStatuses = applicationStatuses.flatMap((status) => {
  const state = applicationStates[status];
  return state.phase === 'ended' ? [{ status, end: state.end }] : [];
});

export const applicationActions = {
  confirm: {
    from: ['unconfirmed'],
    to: 'submitted',
    done: 'confirmed',
    by: ['adopter'],
    summary: 'The adopter confirms the e-mail address, and staff see the application from then on.',
  },
  review: { from: ['submitted'], to: 'reviewing', done: 'reviewed', by: ['staff'], summary: 'Staff begin to consider the application.' },
  accept: {
    from: ['submitted', 'reviewing'],
    to: 'accepted',
    done: 'accepted',
    by: ['staff'],
    isUndoable: true,
    summary:
      'Staff choose this adopter. An approved order is placed for the animal, which must be available; other applications stay open.',
  },
  decline: {
    from: ['submitted', 'reviewing'],
    to: 'declined',
    done: 'declined',
    by: ['staff'],
    isUndoable: true,
    summary: 'Staff decline the application.',
  },
  reopen: {
    from: ['declined', 'closed'],
    // A link in the hand is not the person.
    lately: { from: 'withdrawn', by: 'adopter', days: 7 },
    to: 'reviewing',
    done: 'reopened',
    by: ['staff'],
    summary:
      'Staff consider an application again that was declined or closed, or that was withdrawn by a link of its adopter in the last 7 days. The animal must be available or pending.',
  },
  withdraw: {
    from: ['submitted', 'reviewing', 'accepted'],
    to: 'withdrawn',
    done: 'withdrawn',
    by: ['client', 'adopter', 'staff'],
    summary: 'The adopter, the client or staff withdraw the application. If it is accepted, its order is cancelled.',
  },
  complete: {
    from: ['accepted'],
    to: 'completed',
    done: 'completed',
    by: ['service'],
    isUndoable: true,
    summary: 'Its order is completed.',
  },
  close: {
    from: ['submitted', 'reviewing', 'accepted'],
    to: 'closed',
    done: 'closed',
    by: ['service'],
    isUndoable: true,
    summary: 'The animal is no longer there for this adopter, or nobody has done anything for a long time.',
  },
} as const satisfies Record<string, ApplicationAction>;

interface Lately {
  readonly from: ConfirmedStatus;
  readonly by: ApplicationParty;
  readonly days: number;
}

export type ApplicationParty = 'client' | 'adopter' | 'staff' | 'service';

interface ApplicationAction {
  readonly from: readonly ApplicationStatus[];
  /** Also from this status, for so many days, if this party has led to it. */
  readonly lately?: Lately;
  readonly to: ConfirmedStatus;
  /** What the application is then, as a message says it. */
  readonly done: string;
  readonly by: readonly ApplicationParty[];
  /** With the act of a person in the console that has led to it, it may be undone for some time: the application has its status before again. */
  readonly isUndoable?: true;
  readonly summary: string;
}

export type ApplicationActionName = keyof typeof applicationActions;

/** The actions that an API key can request. */
export type ApplicationCallerAction = Exclude<ApplicationActionName, 'confirm' | 'complete' | 'close'>;
const isCallerAction = (name: ApplicationActionName): name is ApplicationCallerAction =>
  (applicationActions[name].by as readonly ApplicationParty[]).some((party) => party === 'client' || party === 'staff');
export const applicationCallerActions = (Object.keys(applicationActions) as ApplicationActionName[]).filter(isCallerAction);

/** Whether only staff may request it. */
export const isStaffAction = (name: ApplicationActionName): boolean =>
  !(applicationActions[name].by as readonly string[]).includes('client');

/** A key needs one of these to submit and to withdraw. Keys from before there were applications have the second. */
export const applicationWriteScopes = ['applications:write', 'orders:write'] as const satisfies readonly Scope[];

/** A key needs one of these to request the action. */
export const scopesForApplication = (name: ApplicationCallerAction): readonly Scope[] =>
  isStaffAction(name) ? scopesThat('manageOrders') : [...applicationWriteScopes, ...scopesThat('manageOrders')];

/** What decides on the actions that an application allows. */
export interface Standing {
  readonly status: ApplicationStatus;
  /** Whether it may be reopened although it was withdrawn: `reopenDaysAfter`. */
  readonly isReopenable: boolean;
}

const actionOf = (name: ApplicationActionName): ApplicationAction => applicationActions[name];
const latelyOf = (name: ApplicationActionName) => actionOf(name).lately;

export const allowsApplicationAction = ({ status, isReopenable }: Standing, name: ApplicationActionName): boolean =>
  actionOf(name).from.includes(status) || (isReopenable && latelyOf(name)?.from === status);

/** The actions that such an application allows. */
export const applicationActionsFrom = (standing: Standing): ApplicationCallerAction[] =>
  applicationCallerActions.filter((name) => allowsApplicationAction(standing, name));

/** For how many days an application may be reopened that this party has led to this status. Undefined: that does not depend on it. */
export function reopenDaysAfter(status: ConfirmedStatus, by: ApplicationParty): number | undefined {
  const lately = latelyOf('reopen');
  return lately?.from === status && lately.by === by ? lately.days : undefined;
}

/** The statuses that an action leads from, for the documents. */
export const startsOf = (name: ApplicationActionName): ApplicationStatus[] => {
  const { from, lately } = actionOf(name);
  return [...from, ...(lately ? [lately.from] : [])];
};

/** The step before, in a history. */
interface Step {
  readonly by: string;
  /** Until the next one. */
  readonly days: number;
}

/** Whether there is such a transition. An application comes from null when it is submitted or confirmed. */
export const isApplicationTransition = (from: string | null, to: string, before: Step | undefined): boolean =>
  from === null
    ? to === applicationActions.confirm.to
    : Object.values(applicationActions as Record<string, ApplicationAction>).some(
        (action) => action.to === to && ((action.from as readonly string[]).includes(from) || isLately(action.lately, from, before)),
      );

/** Whether an application may have this status again, since what has led from it was undone. */
export const isApplicationUndoing = (from: string | null, to: string): boolean =>
  Object.values<ApplicationAction>(applicationActions).some(
    (action) => action.isUndoable === true && action.to === from && (action.from as readonly string[]).includes(to),
  );

const isLately = (lately: Lately | undefined, from: string, before: Step | undefined): boolean =>
  lately?.from === from && before?.by === lately.by && before.days <= lately.days;

/** Why an application was closed, and what that means for its adopter. */
const reasons = {
  adopted: { meaning: 'Another adopter has adopted the animal.' },
  unavailable: { meaning: 'The animal is no longer up for adoption.' },
  cancelled: { meaning: 'The adoption that had been agreed on was called off.' },
  unanswered: { meaning: 'Nobody has answered for a long time.' },
  ended_together: { meaning: 'Staff have ended all that its client had sent, without looking at each.' },
} as const satisfies Record<string, { readonly meaning: string }>;

export type ClosedReason = keyof typeof reasons;
export const closedReasons: Readonly<Record<ClosedReason, { readonly meaning: string }>> = reasons;
export const closedReasonNames = Object.keys(reasons) as ClosedReason[];

/** What becomes of an accepted application when its order gets this status; undefined: it stays accepted. */
type FollowingEnd = { readonly to: 'completed' } | { readonly to: 'closed'; readonly reason: ClosedReason };
const following = {
  placed: undefined,
  approved: undefined,
  completed: { to: 'completed' },
  cancelled: { to: 'closed', reason: 'cancelled' },
  expired: { to: 'closed', reason: 'cancelled' },
  returned: { to: 'completed' },
} as const satisfies Record<OrderStatus, FollowingEnd | undefined>;

export const afterOrder = (status: OrderStatus): FollowingEnd | undefined => following[status];

/** Why the other open applications of an animal are closed when it gets this status; undefined: they stay open. */
export const closedBy = { available: undefined, pending: undefined, sold: 'adopted', removed: 'unavailable' } as const satisfies Record<
  string,
  ClosedReason | undefined
>;
