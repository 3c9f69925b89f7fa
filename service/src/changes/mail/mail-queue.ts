import { setTimeout as sleep } from 'node:timers/promises';
import type { Db, Transaction, Writer } from '../../platform/db/handles.ts';
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
