import type { Db, Transaction } from '../../platform/db/handles.ts';
import { canonicalAddress } from '../../platform/email-addresses.ts';
import { type Origin, recordAudit } from '../audit/audit.ts';
import { findPersonByIdentity, insertIdentity, isIdentified } from './credential-queries.ts';
import { join } from './links.ts';
import { PeopleError } from './people-error.ts';
import { closeInvitation, lockPerson, lockPersonByEmail, type Person } from './person-queries.ts';
import { isOpenSession } from './session-queries.ts';

/** An account at a provider of OpenID Connect. Only the two together name somebody. */
export interface Identity {
  readonly issuer: string;
  readonly subject: string;
}

/** Who signs in with it, locked: what ends all that a person signs in with ends the session, too. */
export async function findByIdentity(tx: Transaction, { issuer, subject }: Identity): Promise<Person | undefined> {
  const found = await findPersonByIdentity(tx, issuer, subject);
  return found && (await lockPerson(tx, found.id)) ? findPersonByIdentity(tx, issuer, subject) : undefined;
}

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

/**
 * Binds the account to the person of a session, if the provider says that the address of that person is verified: more rights have ended the
 * account from before, and nobody is invited twice.
 */
export async function bindOwnIdentity(
  tx: Transaction,
  { issuer, subject }: Identity,
  email: string,
  session: { readonly id: bigint; readonly personId: bigint },
  origin: Origin,
): Promise<Person | undefined> {
  const address = canonicalAddress(email);
  const person = address === undefined ? undefined : await lockPersonByEmail(tx, address);
  if (person?.id !== session.personId || !(await isOpenSession(tx, person.id, session.id))) return undefined;
  if (await isIdentified(tx, person.id)) return undefined;
  if (!(await insertIdentity(tx, issuer, subject, person.id))) return undefined;
  await recordAudit(tx, { personId: person.id, clientId: null, keyId: null, origin }, 'identity.added', {
    targetId: person.id,
    shelterId: person.shelterId,
    after: { issuer },
  });
  return person;
}

export const hasIdentity = (db: Db, personId: bigint): Promise<boolean> => isIdentified(db, personId);
