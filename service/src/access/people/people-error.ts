import type { Transaction } from '../../platform/db/handles.ts';
import type { AuditAuthor } from '../audit/audit.ts';
import { createNumberedClient } from '../clients/clients.ts';
import { findShelterName, insertStaffClient, lockStaffClient } from './session-queries.ts';

/** Why an act on a person, a link or a passkey fails. The message is for the one who asked for it. */
export type PeopleProblem =
  /** The caller may not do so, or not in that shelter. */
  | 'not_allowed'
  | 'not_found'
  /** An address, a name or a role that can't be. */
  | 'invalid'
  /** The address, passkey or account is somebody's already. */
  | 'taken'
  /** The store would have no admin. */
  | 'last_admin'
  /** As many as allowed. */
  | 'limit'
  /** A link or an invitation that was used or has ended. */
  | 'ended';

export class PeopleError extends Error {
  readonly problem: PeopleProblem;

  constructor(problem: PeopleProblem, message: string) {
    super(message);
    this.problem = problem;
  }
}

const nameLengthMax = 180;

/**
 * Orders and photos belong to a client, so the people of a shelter act for one, and those of the store for another. It is made with the
 * first of them. Its bounds hold for them; its rate does not.
 */
export async function ensureStaffClient(tx: Transaction, by: AuditAuthor, shelterId: bigint | null): Promise<void> {
  if ((await lockStaffClient(tx, shelterId)) !== undefined) return;
  await insertStaffClient(tx, shelterId, (await createNumberedClient(tx, by, await nameFor(tx, shelterId), 'business')).id);
}

async function nameFor(tx: Transaction, shelterId: bigint | null): Promise<string> {
  if (shelterId === null) return 'Store';
  const shelter = await findShelterName(tx, shelterId);
  if (shelter === undefined) throw new PeopleError('not_found', `There is no shelter ${shelterId}.`);
  return [...`Shelter ${shelterId}: ${shelter}`].slice(0, nameLengthMax).join('');
}
