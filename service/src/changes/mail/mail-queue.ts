import { createHmac, hkdfSync } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Db, Transaction, Writer } from '../../platform/db/handles.ts';
import { normalizeEmail } from '../../platform/email-addresses.ts';
import type { CountBounds } from './claim-queries.ts';
import {
  deleteCounts,
  deleteEnded,
  deleteMail,
  failExpired,
  insertMail,
  isBeginning,
  type LastMail,
  lockWaiting,
  type MailFailure,
  type MailOf,
  type MailRow,
  selectFailures,
  selectLast,
} from './queue-queries.ts';

/** On one day (UTC). To one address: someone who fills in forms with others' addresses sends them no more. Or, of what staff cause, about one subject. */
export const addressBounds: CountBounds = { confirmations: 3, messages: 10 };

/** Of those to an address, what one client causes: the last confirmation of the day is kept for another client. */
export const askerBounds: CountBounds = { ...addressBounds, confirmations: 2 };

/**
 * On one day (UTC), of what is sent about a shelter: to adopters for what one client submits there, and when that ends without a decision,
 * as when the client withdraws it, so that nobody uses up what is others'; to adopters for what its staff decide; to the shelter itself.
 */
export const shelterBounds = {
  submissions: { confirmations: 1_000, messages: 2_000 },
  endings: { confirmations: 500, messages: 5_000 },
  decisions: { confirmations: 500, messages: 5_000 },
  own: { confirmations: 5, messages: 30 },
} as const satisfies Record<string, CountBounds>;

export type ShelterBound = keyof typeof shelterBounds;

/** In place of a server's code, for staff. */
export const dailyLimit = '4.7.1 daily limit';

/** The key by which addresses are hashed. Derived, so that no other use of the secret has the same one. */
export const addressKeyOf = (secret: Buffer): Buffer => Buffer.from(hkdfSync('sha256', secret, '', 'homeward: addresses of mail, 1', 32));

/** Not a plain hash: addresses can be guessed, and a dump without the key must have no trace of them. */
export const hashAddress = (key: Buffer, address: string): Buffer => createHmac('sha256', key).update(mailboxOf(address)).digest();

/** Of what staff cause: staff who decide to and fro, or a program that does, send no flood. No address is like this. */
export const hashSubject = (key: Buffer, subjectId: bigint): Buffer => createHmac('sha256', key).update(`subject ${subjectId}`).digest();

/** What a shelter, or one client there, has caused. No address is like this. */
export const hashShelter = (
  key: Buffer,
  bound: ShelterBound,
  { id, clientId }: { readonly id: bigint; readonly clientId?: bigint },
): Buffer =>
  createHmac('sha256', key)
    .update(`shelter ${id} ${bound} ${bound === 'submissions' || bound === 'endings' ? clientId : ''}`)
    .digest();

/** What one client has caused to an address that nobody has confirmed. No address is like this. */
export const hashAsked = (key: Buffer, address: string, clientId: bigint): Buffer =>
  createHmac('sha256', key)
    .update(`asked ${clientId} ${mailboxOf(address)}`)
    .digest();

/** Invitations of an address, apart from what it gets as an adopter. No address is like this. */
export const hashInvited = (key: Buffer, address: string): Buffer =>
  createHmac('sha256', key)
    .update(`invited ${mailboxOf(address)}`)
    .digest();

/** Gmail ignores the dots in a name, and has two domains. */
const mailboxOf = (address: string): string =>
  normalizeEmail(address).replace(/^(.+)@(?:gmail|googlemail)\.com$/u, (_, name: string) => `${name.replaceAll('.', '')}@gmail.com`);

const pauseMsMin = 1_000;
const pauseMsMax = 60_000;

/**
 * Between attempts while the server can't be reached, rejects the login, or fails in another way. Shared by the senders: a server may lock out
 * who tries too often. A single fault is followed by no pause: connections break.
 */
export class ServerPause {
  #failures = 0;
  #untilMs = 0;

  /** The server has failed. Failures of several senders at the same time are one. */
  note(): void {
    const nowMs = performance.now();
    if (nowMs < this.#untilMs) return;
    this.#failures += 1;
    if (this.#failures > 1) this.#untilMs = nowMs + Math.min(pauseMsMin * 2 ** (this.#failures - 2), pauseMsMax);
  }

  /** The server works. */
  clear(): void {
    this.#failures = 0;
    this.#untilMs = 0;
  }

  async wait(signal: AbortSignal): Promise<void> {
    const leftMs = this.#untilMs - performance.now();
    if (leftMs > 0) await sleep(leftMs, undefined, { signal }).catch(() => {});
  }
}

export type { LastMail, MailFailure, MailOf } from './queue-queries.ts';

export interface QueuedMail {
  readonly kind: string;
  /** What it is about. */
  readonly subjectId: bigint;
  /** At most one waits for its kind and subject, and at most one an hour is sent. */
  readonly isSingle?: boolean;
  readonly dueInSeconds?: number;
  /** Not queued if another single one was within this time. */
  readonly unlessWithinSeconds?: number;
  /** The address, of a message that tells that it was erased everywhere else. It is forgotten when the message has ended, after a day at most. */
  readonly recipient?: string;
}

/** A worker begins to send within this time after it was allowed to, or not at all. */
export const beginSeconds = 5;
const lookIntervalMs = 50;
const looksMax = (beginSeconds * 1_000) / lookIntervalMs;
/** A worker may claim one each time between the two statements. */
const triesMax = 5;
const endedDays = { sent: 3, dropped: 3, failed: 90 } as const;

/** Sent after the commit, if there is still something to say then. */
export async function queueMail(tx: Transaction, ...mail: readonly QueuedMail[]): Promise<void> {
  let rows: readonly MailRow[] = mail.map(({ isSingle = false, dueInSeconds = 0, unlessWithinSeconds = 0, recipient = null, ...rest }) => ({
    ...rest,
    recipient,
    isSingle,
    dueInSeconds,
    unlessWithinSeconds,
  }));
  for (let tries = 0; rows.length > 0; tries += 1) {
    if (tries === triesMax) throw new Error('workers claim mail faster than it is queued');
    rows = missingFrom(rows, await insertMail(tx, rows)).filter(
      ({ isSingle, unlessWithinSeconds }) => isSingle && unlessWithinSeconds === 0,
    );
    // One already waits. It must not be claimed before this commit, or it would not tell of this change.
    if (rows.length > 0) rows = missingFrom(rows, await lockWaiting(tx, rows));
  }
}

function missingFrom(rows: readonly MailRow[], found: ReadonlyArray<Pick<MailRow, 'kind' | 'subjectId'>>): MailRow[] {
  const keys = new Set(found.map(({ kind, subjectId }) => `${kind} ${subjectId}`));
  return rows.filter(({ kind, subjectId }) => !keys.has(`${kind} ${subjectId}`));
}

/** For an erasure: what is queued is not sent any more, and what was sent or has failed is forgotten. */
export const cancelMail = (tx: Transaction, of: MailOf): Promise<void> => deleteMail(tx, of);

/**
 * After the commit of `cancelMail`: waits until none of these messages begins any more. A worker that was allowed to begin before the
 * commit has done so after `beginSeconds` at the latest, so it takes no longer, and ends sooner if the message has ended.
 */
export async function awaitMailInFlight(db: Db, of: MailOf): Promise<void> {
  for (let looks = 0; looks <= looksMax && (await isBeginning(db, of, beginSeconds)); looks += 1) await sleep(lookIntervalMs);
}

/** For staff: messages that could not be delivered, with their SMTP codes. */
export const findMailFailures = (db: Db, of: MailOf): Promise<MailFailure[]> => selectFailures(db, of);

/** What has become of the newest message of a kind about a subject. */
export const findLastMail = (db: Db, { kind, subjectId }: Pick<QueuedMail, 'kind' | 'subjectId'>): Promise<LastMail | undefined> =>
  selectLast(db, kind, subjectId);

/** A job. Returns how many rows were deleted, or have failed for being too old. */
export async function sweepMail(db: Writer, sizeMax: number): Promise<number> {
  let count = await failExpired(db, sizeMax);
  for (const state of ['sent', 'dropped', 'failed'] as const) count += await deleteEnded(db, state, endedDays[state], sizeMax);
  return count + (await deleteCounts(db, sizeMax));
}
