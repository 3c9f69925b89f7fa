import { hash, randomBytes } from 'node:crypto';
import { networkOfAddress } from '../../platform/caller-addresses.ts';
import type { Db, Transaction, Writer } from '../../platform/db/handles.ts';
import { recordAudit } from '../audit/audit.ts';
import type { PersonCaller } from '../principals/principals.ts';
import { endLinks } from './link-queries.ts';
import { PeopleError } from './people-error.ts';
import type { Person } from './person-queries.ts';
import {
  countSignIn,
  deleteOldSessions,
  deleteSession,
  deleteSessions,
  findSessionByHash,
  freshMinutes,
  insertSession,
  type Session,
  type SignInMethod,
  type StaffClient,
  selectSessions,
  touchSession,
} from './session-queries.ts';

export type { Session, SignInMethod } from './session-queries.ts';

export interface SignedIn {
  readonly session: Session;
  readonly person: Person;
  readonly client: StaffClient;
  /** The client of the shelter is suspended, and its people with it. */
  readonly isSuspended: boolean;
}

export const sessionDays = 7;
/** Of a person: the oldest ends if there is one more. */
const sessionsMax = 20;
/** Of a person, in an hour: each leaves a row in the audit, which nobody can delete. */
const signInsMax = 60;

/**
 * Each sign-in has a session with a token that nobody knew before it, so that nobody can have planted it. `replaces` is the session that the
 * browser had until then, which ends. `from` is the address of the request. `signedInAt`: when the person has shown who it is; undefined: now.
 */
export async function openSession(
  tx: Transaction,
  personId: bigint,
  {
    from,
    method,
    replaces,
    signedInAt,
  }: { from: string; method: SignInMethod; replaces?: Pick<Session, 'id' | 'personId'> | undefined; signedInAt?: Date | undefined },
): Promise<{ token: string; session: Session }> {
  const token = mintToken();
  const hash = hashToken(token);
  if (!hash) throw new Error('a token of another shape');
  const person = await countSignIn(tx, personId);
  if (!person) throw new PeopleError('not_found', 'This person was removed, or has not accepted the invitation.');
  const { shelterId, count, minutesLeft } = person;
  if (count > signInsMax)
    throw new PeopleError('limit', `You have signed in ${signInsMax} times in an hour. Sign in again in ${minutesLeft} min.`);
  if (replaces) await deleteSession(tx, replaces.personId, replaces.id);
  const network = networkOfAddress(from);
  const session = await insertSession(tx, { personId, hash, method, network, days: sessionDays, signedInAt });
  await deleteOldSessions(tx, personId, sessionsMax);
  const author = { personId, clientId: null, keyId: null, origin: { network } };
  await recordAudit(tx, author, 'session.started', { targetId: personId, shelterId, after: { method } });
  return { token, session };
}

/** The one query of a page. Undefined: the session has ended, or its person was removed. */
export async function findSession(db: Db & Writer, token: string): Promise<SignedIn | undefined> {
  const hash = hashToken(token);
  const found = hash && (await findSessionByHash(db, hash));
  if (!found) return undefined;
  const { isSeenLongAgo, ...signedIn } = found;
  if (isSeenLongAgo) await touchSession(db, signedIn.session.id);
  return signedIn;
}

export const freshMs = freshMinutes * 60_000;

/** The newest first. */
export const listSessions = (db: Db, personId: bigint): Promise<Session[]> => selectSessions(db, personId, sessionsMax);

/** Of this person alone. `by` is in the session `own`. False: there is no such session. */
export async function endSession(tx: Transaction, by: PersonCaller, own: bigint, id: bigint): Promise<boolean> {
  const ended = await deleteSession(tx, by.personId, id);
  if (!ended) return false;
  tx.endsAuthority();
  const { method, network } = ended;
  const before = { method, network, from: id === own ? 'itself' : 'another session' };
  await recordAudit(tx, by, 'session.ended', { targetId: by.personId, shelterId: by.shelterId, before });
  return true;
}

/** Returns how many. `except`: the one that asks for it. */
export async function endAllSessions(tx: Transaction, by: PersonCaller, except?: bigint): Promise<number> {
  const sessions = await deleteSessions(tx, by.personId, except ?? null);
  await endLinks(tx, by.personId, 'sign_in');
  tx.endsAuthority();
  if (sessions > 0)
    await recordAudit(tx, by, 'session.ended', { targetId: by.personId, shelterId: by.shelterId, before: { sessions, from: 'all' } });
  return sessions;
}

/** 256 random bits: that of a session or of a link. Only its hash is stored. */
export const mintToken = (): string => randomBytes(32).toString('base64url');

const shape = /^[\w-]{43}$/;

/** Undefined: it can't be a token, so that nothing is looked up. */
export const hashToken = (token: string): Buffer | undefined => (shape.test(token) ? hash('sha256', token, 'buffer') : undefined);
