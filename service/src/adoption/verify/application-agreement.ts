import { afterOrder, applicationStates, closedBy, closedReasonNames } from '../../domain/application-states.ts';
import type { ApplicationState } from './verify-application-queries.ts';

/** For so long may be undone what a process of the release before left to the worker, which does it within a second. */
const unsettledSecondsMax = 60;

/** Says what an application and its order or its animal say differently; undefined: nothing. */
export function findDisagreement(application: ApplicationState): string | undefined {
  return (
    findMissing(application) ??
    compareReason(application) ??
    compareOrder(application) ??
    compareShelter(application) ??
    findUnsettled(application)
  );
}

function findMissing({ hasClient, clientId, petStatus, petId, hasShelter, shelterId, order, orderId }: ApplicationState) {
  if (!hasClient) return `client ${clientId} does not exist`;
  if (petStatus === null) return `animal ${petId} does not exist`;
  if (!hasShelter) return `shelter ${shelterId} does not exist`;
  return orderId !== null && order === null ? `order ${orderId} does not exist` : undefined;
}

function compareReason({ status, closedReason }: ApplicationState): string | undefined {
  if (status !== 'closed')
    return closedReason === null ? undefined : `it is ${status}, but has the reason ${closedReason} for being closed`;
  if (closedReason === null) return 'it is closed without a reason';
  return (closedReasonNames as readonly string[]).includes(closedReason)
    ? undefined
    : `there is no reason ${closedReason} for being closed`;
}

function compareOrder({ id, status, orderId, order, petId, clientId }: ApplicationState): string | undefined {
  if (order === null) return status === 'accepted' || status === 'completed' ? `it is ${status} without an order` : undefined;
  if (order.applicationId !== id) return `it names order ${orderId}, which was not placed for it`;
  if (order.petId !== petId) return `it asks for animal ${petId}, but order ${orderId} for animal ${order.petId}`;
  if (order.clientId !== clientId) return `it is of client ${clientId}, but order ${orderId} of client ${order.clientId}`;
  const after = afterOrder(order.status)?.to ?? 'accepted';
  // The accepted one may still have to follow its order: findUnsettled decides.
  const agrees = status === 'accepted' || (after === 'closed' ? status !== 'completed' : status === after);
  return agrees ? undefined : `it is ${status}, but its order ${orderId} is ${order.status}`;
}

function compareShelter({ status, shelterId, petId, petShelterId }: ApplicationState): string | undefined {
  // One that has ended stays with the shelter that has decided.
  if (applicationStates[status].phase === 'ended' || shelterId === petShelterId) return undefined;
  return `it belongs to shelter ${shelterId}, but animal ${petId} to shelter ${petShelterId}`;
}

/** It is open, and its order or its animal no longer is. */
function findUnsettled(application: ApplicationState): string | undefined {
  const { status, unsettledSince, unsettledSeconds } = application;
  const ended = applicationStates[status].phase === 'open' ? whatEnded(application) : undefined;
  if (ended === undefined || (unsettledSeconds !== null && unsettledSeconds <= unsettledSecondsMax)) return undefined;
  const left =
    unsettledSince && `; a process of the release before did that at ${unsettledSince.toISOString()}, and no worker has closed it since`;
  return `it is still ${status}, but ${ended}${left ?? ''}`;
}

function whatEnded({ status, order, orderId, petId, petStatus }: ApplicationState): string | undefined {
  if (status === 'accepted') return order && afterOrder(order.status) ? `its order ${orderId} is ${order.status}` : undefined;
  return closedBy[petStatus as keyof typeof closedBy] && `animal ${petId} is ${petStatus}`;
}
