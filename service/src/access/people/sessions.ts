import { hash, randomBytes } from 'node:crypto';
import { theService } from '../../domain/actor.ts';
import { networkOfAddress } from '../../platform/caller-addresses.ts';
import type { Db, Transaction, Transactor, Writer } from '../../platform/db/handles.ts';
import { recordAudit } from '../audit/audit.ts';
import type { PersonCaller } from '../principals/principals.ts';
import { endLinks } from './link-queries.ts';
import { PeopleError } from './people-error.ts';
import type { Person } from './person-queries.ts';
import {
  addFailedSignIns,
  countSignIn,
  deleteOldFailedSignIns,
  deleteOldSessions,
  deleteSession,
  deleteSessions,
  type FailedHour,
  findSessionByHash,
  freshMinutes,
  insertSession,
  otherNetworks,
  type Session,
  type SignInMethod,
  type StaffClient,
  selectFailedSignIns,
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

export type { FailedHour } from './session-queries.ts';

/** The ways in that can fail. */
export const waysIn = ['passkey', 'link', 'invitation', 'raise', 'provider'] as const;
export type WayIn = (typeof waysIn)[number];

/** Of an hour, in the table and in a process that waits to store them. What comes from more networks is counted together. */
export const failedNetworksMax = 200;
export const failedSignInDays = 90;
const storeAfterMs = 5_000;

type Log = { warn(fields: object, text: string): void };

/**
 * Counts sign-ins that failed by network and hour: nobody is signed in, so they have no author in the audit. They are added to the table
 * every five seconds at most, so that an attempt costs no write and takes as long whether or not it is counted. A process that is killed
 * loses the last ones.
 */
export class FailedSignIns implements AsyncDisposable {
  /** Since the process was started, for metrics. */
  readonly totals = new Map<WayIn, number>(waysIn.map((kind) => [kind, 0]));
  readonly #db: Transactor;
  readonly #log: Log;
  /** By kind, then by network. */
  #waiting = new Map<WayIn, Map<string, number>>();
  #networks = 0;
  #timer: NodeJS.Timeout | undefined;
  #storing: Promise<void> = Promise.resolve();

  constructor(db: Transactor, log: Log) {
    this.#db = db;
    this.#log = log;
  }

  /** `address` is that of the request. */
  count(kind: WayIn, address: string): void {
    this.totals.set(kind, (this.totals.get(kind) ?? 0) + 1);
    this.#add(kind, networkOfAddress(address), 1);
    this.#timer ??= setTimeout(() => void this.store(), storeAfterMs).unref();
  }

  /** Adds what has been counted to the table. If that fails, it waits for the next time. */
  store(): Promise<void> {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#storing = this.#storing.then(() => this.#store());
    return this.#storing;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.store();
  }

  #add(kind: WayIn, network: string, count: number): void {
    const counts = this.#waiting.get(kind) ?? new Map<string, number>();
    this.#waiting.set(kind, counts);
    const place = counts.has(network) || this.#networks < failedNetworksMax ? network : otherNetworks;
    if (!counts.has(place)) this.#networks += 1;
    counts.set(place, (counts.get(place) ?? 0) + count);
  }

  async #store(): Promise<void> {
    const counts = [...this.#waiting].flatMap(([kind, networks]) => [...networks].map(([network, count]) => ({ kind, network, count })));
    if (counts.length === 0) return;
    this.#waiting = new Map();
    this.#networks = 0;
    try {
      await this.#db.transaction((tx) => addFailedSignIns(tx, counts, failedNetworksMax), theService);
    } catch (err) {
      for (const { kind, network, count } of counts) this.#add(kind, network, count);
      this.#timer ??= setTimeout(() => void this.store(), storeAfterMs).unref();
      this.#log.warn({ err }, 'could not store the counts of failed sign-ins: they wait');
    }
  }
}

/** The newest hour first, and in it the most. */
export const listFailedSignIns = (db: Db, since: Date, limit: number): Promise<FailedHour[]> => selectFailedSignIns(db, since, limit);

/** Returns how many rows. */
export const sweepFailedSignIns = (db: Writer, sizeMax: number): Promise<number> => deleteOldFailedSignIns(db, failedSignInDays, sizeMax);
