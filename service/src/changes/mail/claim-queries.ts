import { type Claim, claiming, fenceOf, isClaimed } from '../../platform/db/claims.ts';
import type { Db, Writer } from '../../platform/db/handles.ts';

/** A message that one worker sends. */
export interface MailClaim extends Claim {
  readonly kind: string;
  readonly subjectId: bigint;
  readonly createdAt: Date;
  /** Null: it is read when the message is sent. */
  readonly recipient: string | null;
  /** How many attempts were made, with this one. */
  readonly attempts: number;
  readonly isCounted: boolean;
  /** A later message of its kind about its subject waits or was sent: it says the same, or more. */
  readonly isSuperseded: boolean;
}

/** Of kinds that this release knows. */
export async function isMailDue(db: Db, kinds: readonly string[]): Promise<boolean> {
  const { rows } = await db.query<{ isDue: boolean }>({
    name: 'is-mail-due',
    text: `select exists (select from mail where state = 'queued' and due_at <= now() and kind = any($1::text[])) as "isDue"`,
    values: [kinds],
  });
  return rows[0]?.isDue === true;
}

export async function claimMail(db: Writer, kinds: readonly string[], seconds: number): Promise<MailClaim | undefined> {
  const { rows } = await db.write<MailClaim>({
    name: 'claim-mail',
    text: `${claiming('mail', 'kind = any($2::text[])')}, claim as number, kind, subject_id as "subjectId", created_at as "createdAt", recipient, attempts::int, is_counted as "isCounted",
        exists (select from mail as later where later.subject_id = mail.subject_id and later.kind = mail.kind
          and later.state in ('queued', 'sent') and later.id > mail.id) as "isSuperseded"`,
    values: [seconds, kinds],
  });
  return rows[0];
}

/** Whether the text may be sent now: the claim is in force, and nobody has cancelled the message. */
export async function beginMail(db: Writer, claim: MailClaim, seconds: number): Promise<boolean> {
  const { rowCount } = await db.write({
    name: 'begin-mail',
    text: `update mail set begun_at = now(), due_at = now() + make_interval(secs => $3) where ${isClaimed} and state = 'queued'`,
    values: [...fenceOf(claim), seconds],
  });
  return rowCount === 1;
}

export interface CountBounds {
  readonly messages: number;
  readonly confirmations: number;
}

/** What a message counts against: an address, or whatever else is bounded. */
export interface MailCount {
  readonly of: Buffer;
  readonly isConfirmation: boolean;
  readonly max: CountBounds;
}

/** Counts the message today (UTC), unless that has reached a bound. Returns whether it was counted: for all of them, or for none. */
export async function countMail(db: Writer, claim: MailClaim, counts: readonly MailCount[]): Promise<boolean> {
  const { rowCount } = await db.write({
    name: 'count-mail',
    // One that another sender counts in this moment may be counted here, and not sent: never the other way round.
    text: `with wanted as (
        select (now() at time zone 'utc')::date as day, given.* from unnest($3::bytea[], $4::bigint[], $5::bigint[], $6::bigint[])
          as given (address, confirmations, messages_max, confirmations_max)),
      reached as (
        select from wanted join mail_counts as counts using (day, address)
          where counts.messages >= messages_max or (wanted.confirmations > 0 and counts.confirmations >= confirmations_max)),
      counted as (
        insert into mail_counts as counts (day, address, confirmations, messages)
          select day, address, confirmations, 1 from wanted
            where not exists (select from reached) and exists (select from mail where ${isClaimed} and not is_counted) order by address
        on conflict (day, address) do update
          set confirmations = counts.confirmations + excluded.confirmations, messages = counts.messages + 1
          where exists (select from wanted where wanted.address = excluded.address and counts.messages < messages_max
            and (excluded.confirmations = 0 or counts.confirmations < confirmations_max))
        returning true)
      update mail set is_counted = true where ${isClaimed} and (select count(*) from counted) = (select count(*) from wanted)`,
    values: [
      ...fenceOf(claim),
      counts.map(({ of }) => of),
      counts.map(({ isConfirmation }) => Number(isConfirmation)),
      counts.map(({ max }) => max.messages),
      counts.map(({ max }) => max.confirmations),
    ],
  });
  return rowCount === 1;
}

/** Until some time in the first hour of the next day (UTC): as if it were queued then, since the server has not seen it yet. */
export async function postponeMail(db: Writer, claim: MailClaim): Promise<void> {
  await db.write({
    name: 'postpone-mail',
    text: `update mail set claim = null, due_at = next.at, waiting_since = next.at, created_at = next.at
      from (select (date_trunc('day', now() at time zone 'utc') + interval '1 day') at time zone 'utc' + random() * interval '1 hour' as at) as next
      where ${isClaimed}`,
    values: fenceOf(claim),
  });
}

/** One that was cancelled meanwhile stays so. */
export async function endMail(db: Writer, claim: MailClaim, state: 'sent' | 'failed' | 'dropped', failure: string | null): Promise<void> {
  await db.write({
    name: 'end-mail',
    text: `update mail set claim = null, ended_at = now(), state = case state when 'queued' then $3 else state end,
        failure = case state when 'queued' then $4 end
      where ${isClaimed}`,
    values: [...fenceOf(claim), state, failure],
  });
}

interface Deferral {
  readonly seconds: number;
  /** The server has put off this message alone, which is no fault of the store. */
  readonly isOfRecipient: boolean;
  readonly failure: string | null;
}

/** Lets the next attempt begin later, within a day. Returns whether there will be one. */
export async function deferMail(
  db: Writer,
  claim: MailClaim,
  { seconds, isOfRecipient, failure }: Deferral,
): Promise<'queued' | 'failed' | 'dropped'> {
  const { rows } = await db.write<{ state: 'queued' | 'failed' | 'dropped' }>({
    name: 'defer-mail',
    text: `update mail set claim = null, due_at = next.at,
        waiting_since = case when $4::boolean then next.at else waiting_since end,
        state = case when state = 'queued' and next.is_late then 'failed' else state end,
        ended_at = case when state = 'queued' and next.is_late then now() else ended_at end,
        failure = case when state <> 'queued' then null when next.is_late then coalesce($5, failure, '4.4.7') else coalesce($5, failure) end
      from (select now() + make_interval(secs => $3) as at, created_at + interval '1 day' < now() + make_interval(secs => $3) as is_late
        from mail where ${isClaimed}) as next
      where ${isClaimed} returning state`,
    values: [...fenceOf(claim), seconds, isOfRecipient, failure],
  });
  // The claim was lost: the one that has it now will conclude it.
  return rows[0]?.state ?? 'queued';
}
