import { actIdsOf, type Db, type Transaction, type Writer } from '../../platform/db/handles.ts';

/** Which messages: of these kinds, about these subjects. */
export interface MailOf {
  readonly kinds: readonly string[];
  readonly subjectIds: readonly bigint[];
}

export interface MailRow {
  readonly kind: string;
  readonly subjectId: bigint;
  readonly isSingle: boolean;
  readonly dueInSeconds: number;
  readonly unlessWithinSeconds: number;
  readonly recipient: string | null;
}

/**
 * Returns those that were queued. A single one is not if one of its kind already waits for its subject. What tells of an act that can be undone
 * is due when the act is final: no worker claims it before.
 */
export async function insertMail(tx: Transaction, rows: readonly MailRow[]): Promise<Array<Pick<MailRow, 'kind' | 'subjectId'>>> {
  const result = await tx.query<Pick<MailRow, 'kind' | 'subjectId'>>({
    name: 'insert-mail',
    // In the order of subjects: two transactions that queue the same single ones wait for each other in one order.
    text: `insert into mail (kind, subject_id, is_single, due_at, waiting_since, recipient, act_id)
      select kind, subject_id, is_single, due, due, recipient, $8
        from unnest($1::text[], $2::bigint[], $3::boolean[], $4::float8[], $5::float8[], $6::text[])
            as queued (kind, subject_id, is_single, seconds, quiet, recipient),
          lateral (select greatest(now() + make_interval(secs => seconds), (
            select max(claimed_at) + interval '1 hour' from mail as last
              where is_single and last.subject_id = queued.subject_id and last.kind = queued.kind and state in ('queued', 'sent')), $7::timestamptz) as due) as time
        where quiet = 0 or not exists (select from mail as last where last.is_single and last.subject_id = queued.subject_id
          and last.kind = queued.kind and last.created_at > now() - make_interval(secs => quiet))
        order by subject_id, kind
      on conflict (kind, subject_id) where is_single and state = 'queued' and attempts = 0 do nothing
      returning kind, subject_id as "subjectId"`,
    values: [
      rows.map(({ kind }) => kind),
      rows.map(({ subjectId }) => subjectId),
      rows.map(({ isSingle }) => isSingle),
      rows.map(({ dueInSeconds }) => dueInSeconds),
      rows.map(({ unlessWithinSeconds }) => unlessWithinSeconds),
      rows.map(({ recipient }) => recipient),
      tx.mark?.finalAt ?? null,
      actIdsOf(tx)[0],
    ],
  });
  return result.rows;
}

/** Locks the single ones that wait until the commit, so that no worker reads what they are about before it. Returns those. */
export async function lockWaiting(tx: Transaction, rows: readonly MailRow[]): Promise<Array<Pick<MailRow, 'kind' | 'subjectId'>>> {
  const result = await tx.query<Pick<MailRow, 'kind' | 'subjectId'>>({
    name: 'lock-waiting-mail',
    text: `select kind, subject_id as "subjectId" from mail
      where is_single and state = 'queued' and attempts = 0
        and (kind, subject_id) in (select * from unnest($1::text[], $2::bigint[]))
      order by subject_id, kind for key share`,
    values: [rows.map(({ kind }) => kind), rows.map(({ subjectId }) => subjectId)],
  });
  return result.rows;
}

/** Those that a worker has are marked, since it must find that out; the others are deleted. */
export async function deleteMail(tx: Transaction, { kinds, subjectIds }: MailOf): Promise<void> {
  await tx.query({
    name: 'delete-mail',
    text: `delete from mail where subject_id = any($2::bigint[]) and kind = any($1::text[]) and (claim is null or due_at <= now())`,
    values: [kinds, subjectIds],
  });
  // All that are left, also those that a worker has claimed or released meanwhile.
  await tx.query({
    name: 'drop-mail',
    text: `update mail set state = 'dropped', ended_at = coalesce(ended_at, now()), failure = null
      where subject_id = any($2::bigint[]) and kind = any($1::text[])`,
    values: [kinds, subjectIds],
  });
}

/** Whether a worker may just begin to send one of them. */
export async function isBeginning(db: Db, { kinds, subjectIds }: MailOf, seconds: number): Promise<boolean> {
  const { rows } = await db.query<{ found: boolean }>({
    name: 'is-mail-beginning',
    text: `select exists (select from mail where subject_id = any($2::bigint[]) and kind = any($1::text[])
      and claim is not null and begun_at > now() - make_interval(secs => $3)) as found`,
    values: [kinds, subjectIds, seconds],
  });
  return rows[0]?.found === true;
}

export interface MailFailure {
  readonly kind: string;
  readonly subjectId: bigint;
  /** The SMTP code, such as 550 5.1.1. */
  readonly failure: string;
}

/** The last failure of each kind and subject, unless a later message of that kind was sent. */
export async function selectFailures(db: Db, { kinds, subjectIds }: MailOf): Promise<MailFailure[]> {
  const { rows } = await db.query<Omit<MailFailure, 'failure'> & { state: string; failure: string | null }>({
    name: 'mail-failures',
    text: `select distinct on (subject_id, kind) kind, subject_id as "subjectId", failure, state from mail
      where subject_id = any($2::bigint[]) and kind = any($1::text[]) and state in ('sent', 'failed') order by subject_id, kind, id desc`,
    values: [kinds, subjectIds],
  });
  return rows.flatMap(({ state, kind, subjectId, failure }) =>
    state === 'failed' && failure !== null ? [{ kind, subjectId, failure }] : [],
  );
}

export interface LastMail {
  readonly state: 'queued' | 'sent' | 'failed';
  /** When a worker may take it up, or take it over. */
  readonly dueAt: Date;
  readonly endedAt: Date | null;
  readonly failure: string | null;
}

/** Undefined: there was none lately, or it was dropped. */
export async function selectLast(db: Db, kind: string, subjectId: bigint): Promise<LastMail | undefined> {
  const { rows } = await db.query<LastMail>({
    name: 'last-mail',
    text: `select state, due_at as "dueAt", ended_at as "endedAt", failure from mail
      where subject_id = $2 and kind = $1 and state <> 'dropped' order by id desc limit 1`,
    values: [kind, subjectId],
  });
  return rows[0];
}

/** Those that were due and not sent for a day, as while no server can be reached. Returns how many. */
export async function failExpired(db: Writer, limit: number): Promise<number> {
  const { rowCount } = await db.write({
    name: 'fail-expired-mail',
    text: `update mail set state = 'failed', ended_at = now(), claim = null, failure = coalesce(failure, '4.4.7')
      where state = 'queued' and created_at < now() - interval '1 day' and due_at <= now() and id in (
        select id from mail where state = 'queued' and due_at <= now() order by due_at limit $1 for update skip locked)`,
    values: [limit],
  });
  return rowCount ?? 0;
}

/** What has ended, and is no longer shown to anyone. Returns how many. */
export async function deleteEnded(db: Writer, state: 'sent' | 'dropped' | 'failed', days: number, limit: number): Promise<number> {
  const { rowCount } = await db.write({
    name: 'delete-ended-mail',
    text: `delete from mail where id in (
      select id from mail where state = $1 and ended_at < now() - make_interval(days => $2) and (claim is null or due_at <= now())
        order by ended_at limit $3 for update skip locked)`,
    values: [state, days, limit],
  });
  return rowCount ?? 0;
}

/** Of the days before. */
export async function deleteCounts(db: Writer, limit: number): Promise<number> {
  const { rowCount } = await db.write({
    name: 'delete-mail-counts',
    text: `delete from mail_counts where (day, address) in (
      select day, address from mail_counts where day < (now() at time zone 'utc')::date order by day, address limit $1)`,
    values: [limit],
  });
  return rowCount ?? 0;
}
