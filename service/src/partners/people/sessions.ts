import type { Db, Transaction, Writer } from '../../platform/db/handles.ts';
import { networkOfAddress } from '../../platform/networks.ts';
import { PeopleError } from './people-error.ts';
import type { Person } from './person-queries.ts';
import {
  deleteOldSessions,
  deleteSession,
  deleteSessions,
  findSessionByHash,
  freshMinutes,
  insertSession,
  lockSession,
  type Session,
  type SignInMethod,
  type StaffClient,
  selectSessions,
  touchSession,
} from './session-queries.ts';
import { hashToken, mintToken } from './tokens.ts';

export type { Session, SignInMethod } from './session-queries.ts';

export interface SignedIn {
  readonly session: Session;
  readonly person: Person;
  readonly client: StaffClient;
}

export const sessionDays = 7;
/** Of a person: the oldest ends if there is one more. */
const sessionsMax = 20;

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
  if (replaces) await deleteSession(tx, replaces.personId, replaces.id);
  const session = await insertSession(tx, { personId, hash, method, network: networkOfAddress(from), days: sessionDays, signedInAt });
  if (!session) throw new PeopleError('not_found', 'This person was removed, or has not accepted the invitation.');
  await deleteOldSessions(tx, personId, sessionsMax);
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

/**
 * Whether who was signed in when a request began still is, with the same rights: its body may have taken its time, and what was decided
 * meanwhile counts. The session does not end before the transaction does.
 */
export async function isStillSignedIn(tx: Transaction, { session, person }: Pick<SignedIn, 'session' | 'person'>): Promise<boolean> {
  const now = await lockSession(tx, session.id);
  return now?.role === person.role && now.shelterId === person.shelterId;
}

/** Signed in within the last ten minutes, as acts on people and erasures need it. */
export const isFresh = (session: Session): boolean => session.isFresh;

export const freshMs = freshMinutes * 60_000;

/** The newest first. */
export const listSessions = (db: Db, personId: bigint): Promise<Session[]> => selectSessions(db, personId, sessionsMax);

/** Of this person alone. False: there is no such session. */
export const endSession = (db: Writer, personId: bigint, id: bigint): Promise<boolean> => deleteSession(db, personId, id);

/** Returns how many. `except`: the one that asks for it. */
export const endAllSessions = (db: Writer, personId: bigint, except?: bigint): Promise<number> =>
  deleteSessions(db, personId, except ?? null);
