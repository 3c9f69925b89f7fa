import { hash } from 'node:crypto';
import { controls, findCharacter, reorderings } from '../../platform/characters.ts';
import type { Db, Transaction, Writer } from '../../platform/db/handles.ts';
import { canonicalAddress } from '../../platform/email-addresses.ts';
import type { Journal } from '../../platform/journal/journal.ts';
import { type Origin, recordAudit } from '../audit/audit.ts';
import type { PersonCaller } from '../principals/principals.ts';
import {
  deletePasskey,
  deletePasskeyFromBefore,
  findPasskeyByCredential,
  findPersonByIdentity,
  insertIdentity,
  insertPasskey,
  insertUsedValue,
  isIdentified,
  type NewPasskey,
  type Passkey,
  selectPasskeys,
  updateCounter,
  updatePasskeyName,
} from './credential-queries.ts';
import { join } from './links.ts';
import { PeopleError } from './people-error.ts';
import { closeInvitation, lockPerson, lockPersonByEmail, type Person } from './person-queries.ts';
import { findEnd, isOpenSession } from './session-queries.ts';

export type { NewPasskey, Passkey } from './credential-queries.ts';

/** Of a person. */
export const passkeysMax = 10;
const nameLengthMax = 100;

export const listPasskeys = (db: Db, personId: bigint): Promise<Passkey[]> => selectPasskeys(db, personId, passkeysMax);

/** For the person who has just made it, and is signed in. */
export async function addPasskey(tx: Transaction, by: PersonCaller, passkey: NewPasskey): Promise<Passkey> {
  const name = requireName(passkey.name);
  if (!(await lockPerson(tx, by.personId))) throw new PeopleError('not_found', 'You were removed.');
  // What ends all that the person signs in with may have had the lock.
  const why = by.authority && (await findEnd(tx, by.authority));
  if (by.authority && why) throw by.authority.error(why);
  const { length } = await selectPasskeys(tx, by.personId, passkeysMax);
  if (length >= passkeysMax) throw new PeopleError('limit', `You have ${passkeysMax} passkeys, as many as allowed. Remove one first.`);
  const added = await insertPasskey(tx, by.personId, { ...passkey, name });
  if (!added) throw new PeopleError('taken', 'This passkey was added before.');
  await recordAudit(tx, by, 'passkey.added', { targetId: by.personId, shelterId: by.shelterId, after: { name } });
  return added;
}

/** Whose it is; undefined: nobody's. `credentialId` is in base64url. */
export const findPasskey = (db: Db, credentialId: string): Promise<{ passkey: Passkey; person: Person } | undefined> =>
  findPasskeyByCredential(db, credentialId);

/**
 * False: its counter has not grown, so there is a copy of the authenticator, and nobody is signed in. That is in the audit. Locks the person,
 * so that what ends all that the person signs in with ends the session, too.
 */
export async function recordPasskeyUse(
  tx: Transaction,
  { passkey, person }: { readonly passkey: Passkey; readonly person: Person },
  counter: number,
  origin: Origin,
): Promise<boolean> {
  if (!(await lockPerson(tx, person.id))) throw new PeopleError('not_found', 'This person was removed.');
  if (await updateCounter(tx, passkey.id, counter)) return true;
  if (!(await findPasskeyByCredential(tx, passkey.credentialId))) throw new PeopleError('not_found', 'This passkey was removed.');
  const author = { personId: person.id, clientId: null, keyId: null, origin };
  const after = { name: passkey.name, counter, stored: passkey.counter };
  await recordAudit(tx, author, 'passkey.rejected', { targetId: person.id, shelterId: person.shelterId, after });
  return false;
}

/** One's own. False: there is no such passkey. */
export const renamePasskey = async (db: Writer, personId: bigint, id: bigint, name: string): Promise<boolean> =>
  updatePasskeyName(db, personId, id, requireName(name));

/**
 * One's own. Undefined: there is no such passkey. `isJournaled` is false if the journal's disk is full: the passkey is removed all the same.
 */
export async function removePasskey(
  tx: Transaction,
  journal: Journal,
  by: PersonCaller,
  id: bigint,
): Promise<{ readonly isJournaled: boolean } | undefined> {
  const name = await deletePasskey(tx, by.personId, id);
  if (name === undefined) return undefined;
  await recordAudit(tx, by, 'passkey.removed', { targetId: by.personId, shelterId: by.shelterId, before: { name } });
  return { isJournaled: journal({ act: 'passkey_removed', passkey: id }) };
}

/** Removes again, after a restore, a passkey that was removed at `at`. False: it is not there, or is newer. */
export const reapplyPasskeyRemoval = (tx: Transaction, id: bigint, at: Date): Promise<boolean> => deletePasskeyFromBefore(tx, id, at);

function requireName(text: string): string {
  const name = text.trim();
  const length = [...name].length;
  if (length >= 1 && length <= nameLengthMax && !findCharacter(name, controls + reorderings)) return name;
  throw new PeopleError('invalid', `The name of a passkey has 1–${nameLengthMax} characters that can be shown.`);
}

/**
 * False: the value was used before. Only what was used is recorded, and only until `expiresAt`: from then on its signature must be invalid,
 * since nobody knows any more that it was used.
 */
export const useOnce = (tx: Transaction, purpose: string, value: string, expiresAt: Date): Promise<boolean> =>
  insertUsedValue(tx, purpose, hash('sha256', value, 'buffer'), expiresAt);

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
