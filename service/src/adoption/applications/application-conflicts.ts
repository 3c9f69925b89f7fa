import {
  type ApplicationCallerAction,
  type ApplicationStatus,
  applicationActions,
  applicationActionsFrom,
  type Standing,
} from '../../domain/application-states.ts';
import { explainStateConflict } from '../../domain/state-conflicts.ts';

const actionOf = (name: string) => applicationActions[name as ApplicationCallerAction];

/** Says why the status of an application does not allow an action, and what can be done instead. */
export const explainConflict = (id: bigint, standing: Standing, name: ApplicationCallerAction): string =>
  explainStateConflict(`Application ${id}`, standing.status, name, {
    actionsFrom: (status) =>
      applicationActionsFrom(status === standing.status ? standing : { status: status as ApplicationStatus, isReopenable: false }),
    statusAfter: (action) => actionOf(action).to,
    doneWord: (action) => actionOf(action).done,
    first: 'submitted' satisfies ApplicationStatus,
  });
