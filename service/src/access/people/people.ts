// People: who they are, and who may change them. Beside this file:
//   sessions.ts    who is signed in, and the tokens of sessions and links; session.isFresh says whether people may be managed
//   links.ts       invitations, links to sign in, and those by which people take up more rights
//   link-budget.ts how often somebody is mailed a link
//   raises.ts      more rights: they wait until the person follows a link
//   passkeys.ts    passkeys, and challenges and states that are used once
//   identities.ts  accounts at providers of OpenID Connect
// What the rules forbid throws a PeopleError, whose message is for the person who asked.
import type { Acting } from '../../domain/actor.ts';
import { isRaise, mayDo, type PersonRights, type Role, rightsOf } from '../../domain/roles.ts';
import { controls, findCharacter, reorderings } from '../../platform/characters.ts';
import type { Db, Transaction, Transactor } from '../../platform/db/handles.ts';
import { canonicalAddress } from '../../platform/email-addresses.ts';
import type { Journal } from '../../platform/journal/journal.ts';
import { type AuditAuthor, changedValues, recordAudit } from '../audit/audit.ts';
import { endLinks } from './link-queries.ts';
import { mint } from './links.ts';
import { ensureStaffClient, PeopleError } from './people-error.ts';
import {
  changePostFromBefore,
  countInvite,
  countPeople,
  deleteSignInsFromBefore,
  findPersonByEmail,
  findPersonById,
  insertPerson,
  isStoreAdmin,
  lockPeople,
  lockPersonByEmail,
  type PeopleFilter,
  type Person,
  removePersonFromBefore,
  removePersonRow,
  reopenInvitation,
  selectPeople,
  updatePerson,
} from './person-queries.ts';
import { journalPost, mayStillManage, offerRaise, withdrawRaise } from './raises.ts';

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
  /** For the path of the link. Shown, never stored and never logged. */
  readonly token: string;
  readonly expiresAt: Date;
}

export const invitationHours = 72;
/** By an admin of a shelter, in a UTC day. */
const invitesMax = 50;
/** Of a shelter, and of the store. */
const peopleMax = 1_000;
/** Of those whom somebody has invited, at once. */
export const invitedShownMax = 100;
const nameLengthMax = 200;

/** Invites someone, with a link to show: for commands, and where there is no mail. */
export async function invitePerson(tx: Transaction, by: Manager, input: NewPerson): Promise<Invitation> {
  const person = await inviteByMail(tx, by, input);
  const { token, expiresAt } = await mint(tx, person, 'invitation');
  return { person, token, expiresAt };
}

/** Invites someone, or again someone who has not joined: what was mailed before ends. The link is made as its message is sent. */
export async function inviteByMail(tx: Transaction, by: Manager, input: NewPerson): Promise<Person> {
  const { role, shelterId } = input;
  const email = requireAddress(input.email);
  const name = requireName(input.name ?? email.slice(0, email.lastIndexOf('@')));
  requireManager(by, shelterId);
  requireRole(role, shelterId);
  await countInvitation(tx, by);
  await ensureStaffClient(tx, by, shelterId);
  // Two at once: the second waits for the first, and then finds the person.
  const invited =
    (await insertPerson(tx, { email, name, role, shelterId, invitedBy: by.personId }, invitationHours)) ??
    (await inviteAgain(tx, by, { email, name, role, shelterId }));
  if ((await countPeople(tx, shelterId, peopleMax + 1)) > peopleMax) {
    throw new PeopleError('limit', `There are ${peopleMax} people already, as many as allowed. Remove those who have left.`);
  }
  await endLinks(tx, invited.id, 'invitation');
  await recordAudit(tx, by, 'person.invited', { targetId: invited.id, shelterId, after: { role, shelterId: idText(shelterId) } });
  return invited;
}

async function countInvitation(db: Transaction, by: Manager): Promise<void> {
  if (by.personId === null || by.shelterId === null || (await countInvite(db, by.personId, invitesMax))) return;
  throw new PeopleError('limit', `You have invited ${invitesMax} people today. Invite others after midnight UTC.`);
}

/**
 * Before an invitation, so that what is said about an address counts as one, though nobody is invited. A manager who may not manage the
 * person of the address learns that it can't be invited, and not whether it works elsewhere or is invited there.
 */
export async function requireInvitable(db: Transactor, by: Manager & Acting, address: string): Promise<void> {
  const found = await findPersonOf(db, address);
  if (!found || isFree(found) || mayDo(by, 'people:manage', found.shelterId)) return;
  await db.transaction((tx) => countInvitation(tx, by), by);
  throw takenElsewhere(found.email);
}

async function inviteAgain(tx: Transaction, by: Manager, { email, name, role, shelterId }: NewPerson & { name: string }): Promise<Person> {
  const found = await lockPersonByEmail(tx, email);
  if (!found) throw new PeopleError('taken', `${email} is being removed at this moment. Try again.`);
  if (!isFree(found)) {
    if (!mayDo(by, 'people:manage', found.shelterId)) throw takenElsewhere(email);
    if (found.invitedUntil === null) throw new PeopleError('taken', `${email} is the address of someone who works here already.`);
  }
  return reopenInvitation(tx, { id: found.id, name, role, shelterId, invitedBy: by.personId }, invitationHours);
}

/** An invitation that nobody has accepted in time is nobody's. */
const isFree = ({ invitedUntil, isOpen }: Person): boolean => invitedUntil !== null && !isOpen;

const takenElsewhere = (email: string): PeopleError =>
  new PeopleError('taken', `${email} can't be invited here. Ask the staff of the store.`);

export interface PersonChanges {
  readonly name?: string | undefined;
  readonly role?: Role | undefined;
  readonly shelterId?: bigint | null | undefined;
}

export interface Changed {
  readonly person: Person;
  /** The role or the place is offered, and waits until the person follows a link: everything else has changed at once. */
  readonly isOffered: boolean;
  /** False: the journal's disk is full, and the person is changed all the same. */
  readonly isJournaled: boolean;
}

/** What a person may no longer do ends at once. What it could not do before waits (raises.ts); to give the present role takes that back. */
export async function changePerson(tx: Transaction, journal: Journal, by: Manager, id: bigint, changes: PersonChanges): Promise<Changed> {
  const { person, otherAdmins } = await lockManaged(tx, by, id);
  const { role = person.role, shelterId = person.shelterId } = changes;
  const name = changes.name === undefined ? person.name : requireName(changes.name);
  requireManager(by, shelterId);
  requireRole(role, shelterId);
  const isOffered = isRaise(person, { role, shelterId });
  // Somebody may have the link of the invitation.
  if (isOffered && person.invitedUntil !== null)
    throw new PeopleError('not_allowed', `${person.email} has not accepted the invitation. Invite them again, with the new role.`);
  if (isStoreAdmin(person) && !isStoreAdmin({ role, shelterId })) requireOtherAdmin(otherAdmins);
  if (shelterId !== person.shelterId) await ensureStaffClient(tx, by, shelterId);
  const changed = await updatePerson(tx, id, isOffered ? { ...person, name } : { name, role, shelterId });
  const values = changedValues(valuesOf(person), valuesOf(changed));
  if (values?.after['role'] !== undefined || values?.after['shelterId'] !== undefined) tx.endsAuthority();
  if (values) await recordAudit(tx, by, 'person.changed', { targetId: id, shelterId: person.shelterId, ...values });
  if (isOffered) return { person: await offerRaise(tx, by, changed, { role, shelterId }), isOffered, isJournaled: true };
  const isPostGiven = changes.role !== undefined || changes.shelterId !== undefined;
  const left = isPostGiven ? await withdrawRaise(tx, by, changed) : changed;
  return { person: left, isOffered, isJournaled: journalPost(journal, person, changed) };
}

/**
 * Ends sessions, links and passkeys at once. `others`: of those whom the person has invited. `isJournaled` is false if the journal's disk is
 * full: they are removed all the same.
 */
export async function removePerson(
  tx: Transaction,
  journal: Journal,
  by: Manager,
  id: bigint,
  others: readonly bigint[] = [],
): Promise<{ readonly person: Person; readonly isJournaled: boolean }> {
  const { people, otherAdmins } = await lockManagedPeople(tx, by, [id, ...others]);
  const person = people.find((one) => one.id === id);
  if (!person || people.some((one) => one.id !== id && one.invitedBy !== id)) throw new Error('others whom this person has not invited');
  if (people.some(isStoreAdmin)) requireOtherAdmin(otherAdmins);
  tx.endsAuthority();
  let isJournaled = true;
  for (const { id: removedId, role, shelterId } of people) {
    await removePersonRow(tx, removedId);
    await recordAudit(tx, by, 'person.removed', { targetId: removedId, shelterId, before: { role, shelterId: idText(shelterId) } });
    isJournaled = journal({ act: 'person_removed', person: removedId }) && isJournaled;
  }
  return { person, isJournaled };
}

/** Changes a person again, after a restore. False: there is no such person, or one who was invited or changed later. */
export const reapplyChange = (tx: Transaction, person: Pick<Person, 'id' | 'role' | 'shelterId'>, at: Date): Promise<boolean> =>
  changePostFromBefore(tx, person, at);

/** Ends again, after a restore, what somebody could sign in with. False: there is nothing. */
export const reapplySignInsEnd = (tx: Transaction, id: bigint, at: Date): Promise<boolean> => deleteSignInsFromBefore(tx, id, at);

/** Whom somebody has invited, as far as the manager may remove them: when one is removed, the others may be as false. */
export const listInvited = (db: Db, by: Manager, id: bigint): Promise<Person[]> =>
  selectPeople(db, { invitedBy: id, afterId: 0n, limit: invitedShownMax, ...(by.shelterId !== null && { shelterId: by.shelterId }) });

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
  const { people, otherAdmins } = await lockManagedPeople(tx, by, [id]);
  const [person] = people;
  if (!person) throw new Error('a person who was found is gone');
  return { person, otherAdmins };
}

/** Who manages is locked too, and read again: of two who remove each other, one remains. */
async function lockManagedPeople(tx: Transaction, by: Manager, ids: readonly bigint[]): ReturnType<typeof lockPeople> {
  const found = await lockPeople(tx, ids, by.personId);
  const managed = new Set(found.people.filter(({ shelterId }) => mayDo(by, 'people:manage', shelterId)).map(({ id }) => id));
  // The same for those of another shelter: whether they exist is not said.
  for (const id of ids) if (!managed.has(id)) throw new PeopleError('not_found', `There is no person ${id}.`);
  if (!(await mayStillManage(tx, by.personId, [by.shelterId])))
    throw new PeopleError('not_allowed', 'You do not manage people any more. Nothing was changed.');
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

const idText = (id: bigint | null): string | null => (id === null ? null : String(id));

const valuesOf = ({ name, role, shelterId }: Person) => ({ name, role, shelterId: idText(shelterId) });
