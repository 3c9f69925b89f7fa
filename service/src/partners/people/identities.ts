import type { Db, Transaction } from '../../platform/db/handles.ts';
import { canonicalAddress } from '../../platform/email-addresses.ts';
import type { Origin } from '../audit/audit.ts';
import { findPersonByIdentity, insertIdentity } from './identity-queries.ts';
import { join } from './links.ts';
import { PeopleError } from './people-error.ts';
import { closeInvitation, lockPersonByEmail, type Person } from './person-queries.ts';

/** An account at a provider of OpenID Connect. Only the two together name somebody. */
export interface Identity {
  readonly issuer: string;
  readonly subject: string;
}

export const findByIdentity = (db: Db, { issuer, subject }: Identity): Promise<Person | undefined> =>
  findPersonByIdentity(db, issuer, subject);

/**
 * Accepts the invitation that was sent to this address, and binds the account to its person. `email` is one that the provider says is verified.
 * Once the invitation is accepted or has ended, an account with the same address is nobody.
 */
export async function bindIdentity(tx: Transaction, { issuer, subject }: Identity, email: string, origin: Origin): Promise<Person> {
  const address = canonicalAddress(email);
  const found = address === undefined ? undefined : await lockPersonByEmail(tx, address);
  const person = found && (await closeInvitation(tx, found.id));
  if (!person) throw new PeopleError('not_found', 'Nobody with this account was invited, or the invitation has ended.');
  if (!(await insertIdentity(tx, issuer, subject, person.id))) throw new PeopleError('taken', "This account is somebody else's.");
  await join(tx, person, origin);
  return person;
}
