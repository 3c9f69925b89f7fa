import type { Db, Transaction, Writer } from '../../platform/db/handles.ts';
import { canonicalAddress } from '../../platform/email-addresses.ts';
import { type AuditAuthor, type Origin, recordAudit } from '../audit/audit.ts';
import { endLinks, findLink, insertLink, type Link, type LinkKind, useLink } from './link-queries.ts';
import { PeopleError } from './people-error.ts';
import { closeInvitation, countAsked, findPersonByEmail, findPersonById, type Person } from './person-queries.ts';
import { hashToken, mintToken } from './tokens.ts';

export type { Link, LinkKind } from './link-queries.ts';

export const signInLinkMinutes = 10;
/** A person asks for, in a UTC day. */
const asksMax = 3;

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

/** For everyone who accepts an invitation, by a link or by an account. */
export async function join(tx: Transaction, { id, shelterId }: Person, origin: Origin): Promise<void> {
  await endLinks(tx, id, 'invitation');
  await recordAudit(tx, { personId: id, clientId: null, keyId: null, origin }, 'person.joined', { targetId: id, shelterId });
}

export interface SignInLink {
  readonly person: Person;
  readonly token: string;
  readonly expiresAt: Date;
}

/** For commands alone: who has such a link acts as this person. */
export async function makeSignInLink(tx: Transaction, by: AuditAuthor, address: string): Promise<SignInLink> {
  if (by.personId !== null) throw new PeopleError('not_allowed', 'Only a command makes links to sign in for others.');
  const email = canonicalAddress(address);
  const person = email === undefined ? undefined : await findPersonByEmail(tx, email);
  if (!person) throw new PeopleError('not_found', `Nobody has the address ${address}. 'homeward people list' lists all.`);
  if (person.invitedUntil !== null)
    throw new PeopleError('not_allowed', `${person.email} has not accepted the invitation. Invite them again.`);
  await recordAudit(tx, by, 'person.link_made', { targetId: person.id, shelterId: person.shelterId });
  return { person, ...(await mintSignInLink(tx, person.id)) };
}

/**
 * Counts one more link that the person with this address asks for, and says whose mail to queue. Undefined: nobody has the address, or it was
 * asked for too often; all who ask see the same page. Say so before this has ended: how long it takes tells of the address.
 */
export async function askForSignInLink(db: Writer, address: string): Promise<bigint | undefined> {
  const email = canonicalAddress(address);
  return email === undefined ? undefined : countAsked(db, email, asksMax);
}

/** For the worker, as it sends the mail: the queue has no token. Undefined: the person was removed meanwhile. */
export async function mintMailedLink(tx: Transaction, kind: LinkKind, personId: bigint): Promise<SignInLink | undefined> {
  const person = await findPersonById(tx, personId);
  if (!person) return undefined;
  if (kind === 'sign_in') return person.invitedUntil === null ? { person, ...(await mintSignInLink(tx, personId)) } : undefined;
  if (!person.isOpen || !person.invitedUntil) return undefined;
  return { person, ...(await mint(tx, personId, 'invitation', person.invitedUntil)) };
}

/** Once. Returns who is to be signed in. */
export async function useSignInLink(tx: Transaction, token: string): Promise<Person> {
  const personId = await useToken(tx, token, 'sign_in');
  const person = personId === undefined ? undefined : await findPersonById(tx, personId);
  if (!person) throw new PeopleError('ended', 'This link was used before, or has ended. Ask for another one.');
  return person;
}

const mintSignInLink = (tx: Transaction, personId: bigint) => mint(tx, personId, 'sign_in', { minutes: signInLinkMinutes });

async function mint(
  tx: Transaction,
  personId: bigint,
  kind: LinkKind,
  expiresAt: Date | { readonly minutes: number },
): Promise<{ token: string; expiresAt: Date }> {
  const token = mintToken();
  const hash = hashToken(token);
  if (!hash) throw new Error('a token of another shape');
  return { token, expiresAt: await insertLink(tx, { hash, personId, kind, expiresAt }) };
}

async function useToken(tx: Transaction, token: string, kind: LinkKind): Promise<bigint | undefined> {
  const hash = hashToken(token);
  return hash && useLink(tx, hash, kind);
}
