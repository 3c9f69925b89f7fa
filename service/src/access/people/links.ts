import type { Db, Transaction } from '../../platform/db/handles.ts';
import { canonicalAddress } from '../../platform/email-addresses.ts';
import type { Journal } from '../../platform/journal/journal.ts';
import { type AuditAuthor, type Origin, recordAudit } from '../audit/audit.ts';
import { endLinks, findLink, insertLink, type Link, type LinkKind, lockLinkOwner, useLink } from './link-queries.ts';
import { PeopleError } from './people-error.ts';
import { closeInvitation, findPersonByEmail, findPersonById, lockPersonByEmail, type Person } from './person-queries.ts';
import { mayStillManage, takeUpRaise } from './raises.ts';
import { hashToken, mintToken } from './sessions.ts';

export type { Link, LinkKind } from './link-queries.ts';

export const signInLinkMinutes = 10;

/** Changes nothing: programs that scan mail open links, too. Undefined: there is no such link, or its person was removed. */
export async function peekLink(db: Db, token: string): Promise<{ readonly link: Link; readonly person: Person } | undefined> {
  const hash = hashToken(token);
  return hash && findLink(db, hash);
}

/** Accepts the invitation: only the first of several at once does. Also ends what else was mailed for it. */
export async function useInvitation(tx: Transaction, token: string, origin: Origin): Promise<Person> {
  const personId = await useToken(tx, token, 'invitation');
  const person = personId === undefined ? undefined : await closeInvitation(tx, personId);
  if (!person) throw new PeopleError('ended', 'This invitation was used before, or has ended. Ask for another one.');
  await join(tx, person, origin);
  return person;
}

/** For everyone who accepts an invitation, by a link or by an account. It ends with the rights of who has sent it. */
export async function join(tx: Transaction, { id, shelterId, invitedBy }: Person, origin: Origin): Promise<void> {
  if (!(await mayStillManage(tx, invitedBy, [shelterId])))
    throw new PeopleError('ended', 'This invitation has ended: who sent it does not manage people here any more. Ask for another one.');
  await endLinks(tx, id, 'invitation');
  await recordAudit(tx, { personId: id, clientId: null, keyId: null, origin }, 'person.joined', { targetId: id, shelterId });
}

/** A link for the command or the message that shows it: it is not stored, and never logged. */
export interface MintedLink {
  readonly person: Person;
  readonly kind: LinkKind;
  readonly token: string;
  readonly expiresAt: Date;
}

/** For commands alone: who has such a link acts as this person. If more rights wait for the person, the link is the one that gives them. */
export async function makeSignInLink(tx: Transaction, by: AuditAuthor, address: string): Promise<MintedLink> {
  if (by.personId !== null) throw new PeopleError('not_allowed', 'Only a command makes links to sign in for others.');
  const email = canonicalAddress(address);
  const person = email === undefined ? undefined : await lockPersonByEmail(tx, email);
  if (!person) throw new PeopleError('not_found', `Nobody has the address ${address}. 'homeward people list' lists all.`);
  if (person.invitedUntil !== null)
    throw new PeopleError('not_allowed', `${person.email} has not accepted the invitation. Invite them again.`);
  await recordAudit(tx, by, 'person.link_made', { targetId: person.id, shelterId: person.shelterId });
  return mint(tx, person, person.raise?.isOpen ? 'raise' : 'sign_in');
}

/** Whose mail to queue, once LinkBudget has granted it. Undefined: nobody who has joined has the address. How long it takes tells of the address. */
export async function findLinkOwner(db: Db, address: string): Promise<bigint | undefined> {
  const email = canonicalAddress(address);
  const person = email === undefined ? undefined : await findPersonByEmail(db, email);
  return person?.invitedUntil === null ? person.id : undefined;
}

/** For the worker, as it sends the mail: the queue has no token. Undefined: there is nothing to follow any more. */
export async function mintMailedLink(tx: Transaction, kind: LinkKind, personId: bigint): Promise<MintedLink | undefined> {
  const person = await findPersonById(tx, personId);
  if (!person) return undefined;
  const isOpen = { sign_in: person.invitedUntil === null, invitation: person.isOpen, raise: person.raise?.isOpen === true };
  return isOpen[kind] ? mint(tx, person, kind) : undefined;
}

/** Once. Returns who is to be signed in. The other links to sign in end with it. */
export async function useSignInLink(tx: Transaction, token: string): Promise<Person> {
  const personId = await useToken(tx, token, 'sign_in');
  const person = personId === undefined ? undefined : await findPersonById(tx, personId);
  if (!person) throw new PeopleError('ended', 'This link was used before, or has ended. Ask for another one.');
  await endLinks(tx, person.id, 'sign_in');
  return person;
}

/** Gives the person the rights that wait. Everything that it could sign in with until then ends, and only this browser is signed in. */
export async function useRaise(
  tx: Transaction,
  journal: Journal,
  token: string,
  origin: Origin,
): Promise<{ readonly person: Person; readonly isJournaled: boolean }> {
  const personId = await useToken(tx, token, 'raise');
  const person = personId === undefined ? undefined : await findPersonById(tx, personId);
  const raised = person && (await takeUpRaise(tx, journal, person, origin));
  if (!raised) throw new PeopleError('ended', 'This link was used before, or has ended. Ask the admin who has given you the role.');
  return raised;
}

/** Of a kind that is open for this person. */
export async function mint(tx: Transaction, person: Person, kind: LinkKind): Promise<MintedLink> {
  const token = mintToken();
  const hash = hashToken(token);
  if (!hash) throw new Error('a token of another shape');
  const ends = { sign_in: { minutes: signInLinkMinutes }, invitation: person.invitedUntil, raise: person.raise?.until };
  const expiresAt = ends[kind];
  if (!expiresAt) throw new Error(`a link of the kind ${kind} without an end`);
  return { person, kind, token, expiresAt: await insertLink(tx, { hash, personId: person.id, kind, expiresAt }) };
}

/** Its person is locked before it: so is it by those who end links. */
async function useToken(tx: Transaction, token: string, kind: LinkKind): Promise<bigint | undefined> {
  const hash = hashToken(token);
  if (!hash) return undefined;
  await lockLinkOwner(tx, hash);
  return useLink(tx, hash, kind);
}

/** Where links lead: invitations, links to sign in, and those by which people take up more rights. Proxies keep these paths out of their logs. */
export const linkPaths: Readonly<Record<LinkKind, string>> = {
  sign_in: '/link/:token',
  invitation: '/invitation/:token',
  raise: '/link/new-role/:token',
};

export const linkUrl = (consoleUrl: string, kind: LinkKind, token: string): string => consoleUrl + linkPaths[kind].replace(':token', token);
