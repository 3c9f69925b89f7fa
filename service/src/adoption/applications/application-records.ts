import { type NewEvent, recordEvents } from '../../changes/events/events.ts';
import type { Author } from '../../domain/actor.ts';
import {
  type ApplicationParty,
  type ApplicationStatus,
  type ClosedReason,
  type ConfirmedStatus,
  reopenDaysAfter,
  unconfirmed,
} from '../../domain/application-states.ts';
import type { Transaction } from '../../platform/db/handles.ts';
import { tellOfStatus } from './application-mail.ts';
import { type Application, applicationEventJson } from './application-schemas.ts';
import { insertApplicationTransitions, moveApplications } from './transition-queries.ts';

/** Who changes an application, as it is recorded. */
export interface Party extends Author {
  readonly by: ApplicationParty;
}

/** What an act does with applications. */
export interface End {
  readonly to: ConfirmedStatus;
  readonly closedReason?: ClosedReason;
  readonly message?: string | undefined;
  readonly orderId?: bigint;
  /** Adopters and shelter are told by another transaction, or not at all. */
  readonly isToldLater?: true;
  /** For people. Never what an adopter or staff have written. */
  readonly why: string;
}

/** Changes locked applications, and records what they were. Returns them in order of id. */
export async function moveAndRecord(tx: Transaction, party: Party, before: readonly Application[], end: End): Promise<Application[]> {
  if (before.length === 0) return [];
  const { to, closedReason = null, message = null, orderId } = end;
  const ids = before.map(({ id }) => id);
  const moved = await moveApplications(tx, ids, { to, closedReason, message, orderId, reopenDays: reopenDaysAfter(to, party.by) });
  const statuses = new Map(before.map(({ id, status }) => [id, status]));
  await record(tx, party, end.why, moved, (id) => statuses.get(id));
  if (!end.isToldLater) await tellOfStatus(tx, moved, party.by);
  return moved;
}

/** Records that an application was submitted. */
export async function recordSubmission(tx: Transaction, party: Party, submitted: Application): Promise<void> {
  await record(tx, party, 'submitted', [submitted], () => undefined);
  await tellOfStatus(tx, [submitted], party.by);
}

async function record(
  tx: Transaction,
  party: Party,
  why: string,
  applications: readonly Application[],
  before: (id: bigint) => ApplicationStatus | undefined,
): Promise<void> {
  // Unconfirmed applications have no history, so it begins with their confirmation.
  const statusBefore = (id: bigint) => (before(id) === unconfirmed ? null : (before(id) ?? null));
  await insertApplicationTransitions(
    tx,
    party,
    party.by,
    applications.map(({ id, orderId, status }) => ({ id, orderId, from: statusBefore(id), to: status, why })),
  );
  await recordEvents(tx, ...applications.map((application) => applicationEvent(confirmed(application.status), application)));
}

/** An event about an application. It never contains the adopter, since receivers may log and store events anywhere. */
export const applicationEvent = (what: ConfirmedStatus | 'adopter_erased', application: Application): NewEvent => ({
  type: `application.${what}`,
  petId: application.petId,
  clientId: application.clientId,
  data: `{"application":${applicationEventJson(application)}}`,
});

function confirmed(status: ApplicationStatus): ConfirmedStatus {
  if (status === unconfirmed) throw new Error('an unconfirmed application has no events');
  return status;
}
