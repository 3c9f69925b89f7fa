import { controls, findCharacter, reorderings } from '../../platform/characters.ts';
import type { Db, Transaction, Writer } from '../../platform/db/handles.ts';
import { recordAudit } from '../audit/audit.ts';
import type { PersonCaller } from './caller.ts';
import {
  deletePasskey,
  findPasskeyByCredential,
  insertPasskey,
  type NewPasskey,
  type Passkey,
  selectPasskeys,
  updateCounter,
  updatePasskeyName,
} from './passkey-queries.ts';
import { PeopleError } from './people-error.ts';
import { lockForCount, type Person } from './person-queries.ts';

export type { NewPasskey, Passkey } from './passkey-queries.ts';

/** Of a person. */
export const passkeysMax = 10;
const nameLengthMax = 100;

export const listPasskeys = (db: Db, personId: bigint): Promise<Passkey[]> => selectPasskeys(db, personId, passkeysMax);

/** For the person who has just made it, and is signed in. */
export async function addPasskey(tx: Transaction, by: PersonCaller, passkey: NewPasskey): Promise<Passkey> {
  const name = requireName(passkey.name);
  if (!(await lockForCount(tx, by.personId))) throw new PeopleError('not_found', 'You were removed.');
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

/** False: its counter has not grown, so there is a copy of the authenticator, and nobody is signed in. */
export const recordPasskeyUse = (db: Writer, id: bigint, counter: number): Promise<boolean> => updateCounter(db, id, counter);

/** One's own. False: there is no such passkey. */
export const renamePasskey = async (db: Writer, personId: bigint, id: bigint, name: string): Promise<boolean> =>
  updatePasskeyName(db, personId, id, requireName(name));

/** One's own. False: there is no such passkey. */
export async function removePasskey(tx: Transaction, by: PersonCaller, id: bigint): Promise<boolean> {
  const name = await deletePasskey(tx, by.personId, id);
  if (name === undefined) return false;
  await recordAudit(tx, by, 'passkey.removed', { targetId: by.personId, shelterId: by.shelterId, before: { name } });
  return true;
}

function requireName(text: string): string {
  const name = text.trim();
  const length = [...name].length;
  if (length >= 1 && length <= nameLengthMax && !findCharacter(name, controls + reorderings)) return name;
  throw new PeopleError('invalid', `The name of a passkey has 1–${nameLengthMax} characters that can be shown.`);
}
