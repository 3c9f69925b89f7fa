import { hash } from 'node:crypto';
import { controls, findCharacter, reorderings } from '../../platform/characters.ts';
import type { Db, Transaction, Writer } from '../../platform/db/handles.ts';
import type { Journal } from '../../platform/journal/journal.ts';
import { type Origin, recordAudit } from '../audit/audit.ts';
import type { PersonCaller } from '../principals/principals.ts';
import {
  deletePasskey,
  deletePasskeyFromBefore,
  findPasskeyByCredential,
  insertPasskey,
  insertUsedValue,
  type NewPasskey,
  type Passkey,
  selectPasskeys,
  updateCounter,
  updatePasskeyName,
} from './credential-queries.ts';
import { PeopleError } from './people-error.ts';
import { lockPerson, type Person } from './person-queries.ts';
import { findEnd } from './session-queries.ts';

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
