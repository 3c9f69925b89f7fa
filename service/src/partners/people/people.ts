// People: who they are, and who may change them. Beside this file:
//   sessions.ts    openSession, findSession, listSessions, endSession, endAllSessions; session.isFresh says whether people may be managed
//   links.ts       peekLink, useInvitation, makeSignInLink, askForSignInLink, useSignInLink
//   passkeys.ts    listPasskeys, addPasskey, findPasskey, recordPasskeyUse, renamePasskey, removePasskey
//   identities.ts  findByIdentity, bindIdentity: accounts at providers of OpenID Connect
//   used-values.ts useOnce: challenges and states
//   caller.ts      callerOf: a person as the operations know callers, from findSession's result and the address of the request
// What the rules forbid throws a PeopleError, whose message is for the person who asked.
import { mayDo, type PersonRights, type Role, rightsOf } from '../../domain/roles.ts';
import { controls, findCharacter, reorderings } from '../../platform/characters.ts';
import type { Db, Transaction } from '../../platform/db/handles.ts';
import { canonicalAddress } from '../../platform/email-addresses.ts';
import type { Journal } from '../../platform/journal/journal.ts';
import { type AuditAuthor, changedValues, recordAudit } from '../audit/audit.ts';
import { endLinks, insertLink } from './link-queries.ts';
import { PeopleError } from './people-error.ts';
import {
  countInvite,
  countPeople,
  findPersonByEmail,
  findPersonById,
  insertPerson,
  lockPerson,
  lockPersonByEmail,
  type PeopleFilter,
  type Person,
  removePersonFromBefore,
  removePersonRow,
  reopenInvitation,
  selectPeople,
  updatePerson,
} from './person-queries.ts';
import { ensureStaffClient } from './staff-clients.ts';
import { hashToken, mintToken } from './tokens.ts';

export type { PeopleFilter, Person } from './person-queries.ts';

/** Who manages people: a person in the console, or a command. */
export type Manager = AuditAuthor & Pick<PersonRights, 'shelterId' | 'acts'>;

export interface NewPerson {
  readonly email: string;
  /** What comes before the @, unless it is given. */
  readonly name?: string | undefined;
  readonly role: Role;
  /** Null: for the store itself. */
  readonly shelterId: bigint | null;
}

export interface Invitation {
  readonly person: Person;
  /** For the path of the link. Shown or mailed, never stored and never logged. */
  readonly token: string;
  readonly expiresAt: Date;
}

export const invitationHours = 72;
/** By an admin of a shelter, in a UTC day. */
const invitesMax = 50;
/** Of a shelter, and of the store. */
const peopleMax = 1_000;
const nameLengthMax = 200;

/** Invites someone, or again someone who has not joined: what was mailed before ends. */
export async function invitePerson(tx: Transaction, by: Manager, input: NewPerson): Promise<Invitation> {
  const { role, shelterId } = input;
  const email = requireAddress(input.email);
  const name = requireName(input.name ?? email.slice(0, email.lastIndexOf('@')));
  requireManager(by, shelterId);
  requireRole(role, shelterId);
  if (by.personId !== null && by.shelterId !== null && !(await countInvite(tx, by.personId, invitesMax))) {
    throw new PeopleError('limit', `You have invited ${invitesMax} people today. Invite others after midnight UTC.`);
  }
  await ensureStaffClient(tx, by, shelterId);
  // Two at once: the second waits for the first, and then finds the person.
  const invited =
    (await insertPerson(tx, { email, name, role, shelterId }, invitationHours)) ??
    (await inviteAgain(tx, by, { email, name, role, shelterId }));
  if ((await countPeople(tx, shelterId, peopleMax + 1)) > peopleMax) {
    throw new PeopleError('limit', `There are ${peopleMax} people already, as many as allowed. Remove those who have left.`);
  }
  await endLinks(tx, invited.id, 'invitation');
  const link = await addLink(tx, invited, invited.invitedUntil);
  await recordAudit(tx, by, 'person.invited', { targetId: invited.id, shelterId, after: { role, shelterId: idText(shelterId) } });
  return { person: invited, ...link };
}

async function inviteAgain(
  tx: Transaction,
  by: Manager,
  { email, name, role, shelterId }: Required<NewPerson> & { name: string },
): Promise<Person> {
  const found = await lockPersonByEmail(tx, email);
  if (!found) throw new PeopleError('taken', `${email} is being removed at this moment. Try again.`);
  if (found.invitedUntil === null || !mayDo(by, 'people:manage', found.shelterId)) {
    throw new PeopleError('taken', `${email} is the address of someone who works here already.`);
  }
  await reopenInvitation(tx, found.id, invitationHours);
  const updated = await updatePerson(tx, found.id, { name, role, shelterId });
  if (!updated) throw new Error('a locked person is gone');
  return updated;
}

async function addLink(tx: Transaction, { id: personId }: Person, until: Date | null): Promise<{ token: string; expiresAt: Date }> {
  const token = mintToken();
  const hash = hashToken(token);
  if (!hash || !until) throw new Error('an invitation without an end');
  return { token, expiresAt: await insertLink(tx, { hash, personId, kind: 'invitation', expiresAt: until }) };
}

export interface PersonChanges {
  readonly name?: string | undefined;
  readonly role?: Role | undefined;
  readonly shelterId?: bigint | null | undefined;
}

/** Sessions go on, with the new rights from the next request on. */
export async function changePerson(tx: Transaction, by: Manager, id: bigint, changes: PersonChanges): Promise<Person> {
  const { person, otherAdmins } = await lockManaged(tx, by, id);
  const { role = person.role, shelterId = person.shelterId } = changes;
  const name = changes.name === undefined ? person.name : requireName(changes.name);
  requireManager(by, shelterId);
  requireRole(role, shelterId);
  if (isStoreAdmin(person) && !isStoreAdmin({ ...person, role, shelterId })) requireOtherAdmin(otherAdmins);
  if (shelterId !== person.shelterId) await ensureStaffClient(tx, by, shelterId);
  const changed = await updatePerson(tx, id, { name, role, shelterId });
  if (!changed) throw new Error('a locked person is gone');
  const values = changedValues(valuesOf(person), valuesOf(changed));
  if (values) await recordAudit(tx, by, 'person.changed', { targetId: id, shelterId: person.shelterId, ...values });
  return changed;
}

/**
 * Ends sessions, links and passkeys at once. `isJournaled` is false if the journal's disk is full: the person is removed all the same.
 */
export async function removePerson(
  tx: Transaction,
  journal: Journal,
  by: Manager,
  id: bigint,
): Promise<{ readonly person: Person; readonly isJournaled: boolean }> {
  const { person, otherAdmins } = await lockManaged(tx, by, id);
  if (isStoreAdmin(person)) requireOtherAdmin(otherAdmins);
  await removePersonRow(tx, id);
  const { role, shelterId } = person;
  await recordAudit(tx, by, 'person.removed', { targetId: id, shelterId, before: { role, shelterId: idText(shelterId) } });
  return { person, isJournaled: journal({ act: 'person_removed', person: id }) };
}

/** Removes again, after a restore, someone who was removed at `at`. False: there is no such person, or one was invited later. */
export const reapplyRemoval = (tx: Transaction, id: bigint, at: Date): Promise<boolean> => removePersonFromBefore(tx, id, at);

export const findPerson = (db: Db, id: bigint): Promise<Person | undefined> => findPersonById(db, id);

/** The address may be spelt as people spell it. */
export async function findPersonOf(db: Db, address: string): Promise<Person | undefined> {
  const email = canonicalAddress(address);
  return email === undefined ? undefined : findPersonByEmail(db, email);
}

/** By id, a page at a time. */
export const listPeople = (db: Db, filter: PeopleFilter): Promise<Person[]> => selectPeople(db, filter);

async function lockManaged(tx: Transaction, by: Manager, id: bigint): Promise<{ person: Person; otherAdmins: number }> {
  const found = await lockPerson(tx, id);
  // The same for those of another shelter: whether they exist is not said.
  if (!found || !mayDo(by, 'people:manage', found.person.shelterId)) throw new PeopleError('not_found', `There is no person ${id}.`);
  return found;
}

function requireManager(by: Manager, shelterId: bigint | null): void {
  if (mayDo(by, 'people:manage', shelterId)) return;
  throw new PeopleError(
    'not_allowed',
    shelterId === null ? 'You may not manage the people of the store.' : `You may not manage the people of shelter ${shelterId}.`,
  );
}

function requireRole(role: Role, shelterId: bigint | null): void {
  if (rightsOf(role, shelterId)) return;
  throw new PeopleError('invalid', `The store itself has no ${role}s: name a shelter, or another role.`);
}

function requireOtherAdmin(others: number): void {
  if (others > 0) return;
  throw new PeopleError('last_admin', 'This is the last admin of the store. Make someone else an admin of the store first.');
}

function requireAddress(text: string): string {
  const email = canonicalAddress(text);
  if (email !== undefined) return email;
  throw new PeopleError('invalid', `"${text}" is not an e-mail address.`);
}

function requireName(text: string): string {
  const name = text.trim().normalize('NFC');
  const length = [...name].length;
  if (length === 0 || length > nameLengthMax)
    throw new PeopleError('invalid', `A name has 1–${nameLengthMax} characters. This one has ${length}.`);
  const rejected = findCharacter(name, controls + reorderings);
  if (rejected)
    throw new PeopleError(
      'invalid',
      `A name must not contain control characters or bidirectional overrides. This one contains ${rejected}.`,
    );
  return name;
}

const isStoreAdmin = ({ role, shelterId }: Pick<Person, 'role' | 'shelterId'>): boolean => role === 'admin' && shelterId === null;

const idText = (id: bigint | null): string | null => (id === null ? null : String(id));

const valuesOf = ({ name, role, shelterId }: Person) => ({ name, role, shelterId: idText(shelterId) });
