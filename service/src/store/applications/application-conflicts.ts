import {
  type ApplicationCallerAction,
  type ApplicationStatus,
  applicationActions,
  applicationActionsFrom,
} from '../../domain/application-states.ts';
import { explainConflict as explain, type States } from '../../domain/state-conflicts.ts';

const actionOf = (name: string) => applicationActions[name as ApplicationCallerAction];
const states: States = {
  actionsFrom: (status) => applicationActionsFrom(status as ApplicationStatus),
  statusAfter: (name) => actionOf(name).to,
  doneWord: (name) => actionOf(name).done,
  first: 'submitted' satisfies ApplicationStatus,
};

/** Says why the status of an application does not allow an action, and what can be done instead. */
export const explainConflict = (id: bigint, status: ApplicationStatus, name: ApplicationCallerAction): string =>
  explain(`Application ${id}`, status, name, states);
