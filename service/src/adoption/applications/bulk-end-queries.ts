import type { Author } from '../../domain/actor.ts';
import type { Db, Transaction, Writer } from '../../platform/db/handles.ts';
import { columnsWithoutAnswers } from './application-queries.ts';
import type { Application } from './application-schemas.ts';
import type { StaffOf } from './staff-queries.ts';

/** What of a client is ended: for one animal, or for every one; to one shelter, or to every one. */
export interface BulkScope {
  readonly clientId: bigint;
  readonly petId: bigint | null;
  readonly shelterId: bigint | null;
}

export type BulkState = 'ending' | 'reopening' | 'held' | 'telling' | 'done';

export interface BulkEnd extends BulkScope {
  readonly id: bigint;
  readonly state: BulkState;
  readonly createdAt: Date;
  /** Since when it is in this state. */
  readonly changedAt: Date;
  readonly untilId: bigint;
  /** The application that was last worked on in this state. */
  readonly lastId: bigint;
  /** How many waited for a decision when staff asked for it. */
  readonly found: bigint;
  readonly ended: bigint;
  readonly reopened: bigint;
  readonly takenBackAt: Date | null;
  readonly byClientId: bigint | null;
  readonly byPersonId: bigint | null;
  readonly backClientId: bigint | null;
  readonly backPersonId: bigint | null;
}

/** With names, for people. */
export interface NamedBulkEnd extends BulkEnd {
  readonly client: string;
  /** Null: for every animal. */
  readonly pet: string | null;
  /** Null: a command. */
  readonly person: string | null;
}

const columns = `id, client_id as "clientId", pet_id as "petId", shelter_id as "shelterId", state, created_at as "createdAt",
  changed_at as "changedAt", until_id as "untilId", last_id as "lastId", found, ended, reopened, taken_back_at as "takenBackAt",
  by_client_id as "byClientId", by_person_id as "byPersonId", back_client_id as "backClientId", back_person_id as "backPersonId"`;
const namedColumns = `${columns}, (select name from clients where clients.id = client_id) as client,
  (select name from pets where pets.id = pet_id) as pet, (select name from people where people.id = by_person_id) as person`;

/** What staff have not decided on. */
const waiting = ['submitted', 'reviewing'] as const;

/** The columns that the index begins with, and conditions that go on. */
function within({ clientId, petId, shelterId }: BulkScope, values: unknown[]): { by: string; where: string } {
  const equal = (column: string, value: bigint | null) => (value === null ? '' : `${column} = $${values.push(value)}::bigint and`);
  const where = `${equal('pet_id', petId)} ${equal('client_id', clientId)} ${equal('shelter_id', shelterId)}`;
  return { where, by: petId !== null ? 'pet_id' : shelterId !== null ? 'client_id, shelter_id' : 'client_id' };
}

export interface BulkCounts {
  /** What the client is called. Null: there is none. */
  readonly client: string | null;
  readonly submitted: number;
  readonly reviewing: number;
  readonly accepted: number;
}

/** Takes as long as the client has open ones. */
export async function countInScope(db: Db, scope: BulkScope): Promise<BulkCounts> {
  const values: unknown[] = [];
  const { where } = within(scope, values);
  const name = `(select name from clients where id = $${values.push(scope.clientId)}) as client`;
  const counts = ['submitted', 'reviewing', 'accepted'].map(
    (status) => `(select count(*)::int from applications where ${where} status = '${status}') as ${status}`,
  );
  const { rows } = await db.query<BulkCounts>({ text: `select ${[name, ...counts].join(', ')}`, values });
  return rows[0] ?? { client: null, submitted: 0, reviewing: 0, accepted: 0 };
}

/** The next one after the last, without a lock. */
export async function selectNextWaiting(tx: Transaction, job: BulkEnd): Promise<{ id: bigint; petId: bigint } | undefined> {
  const values: unknown[] = [waiting, job.lastId, job.untilId];
  const { where, by } = within(job, values);
  const { rows } = await tx.query<{ id: bigint; petId: bigint }>({
    // In the order of the index, as in pages of applications.
    text: `select found.* from unnest($1::application_status[]) as wanted (status), lateral (select id, pet_id as "petId" from applications
        where ${where} (status, id) > (wanted.status, $2) and status <= wanted.status and id <= $3 order by ${by}, status, id limit 1) as found
      order by id limit 1`,
    values,
  });
  return rows[0];
}

/** Undefined: there is one that ends or reopens applications of this client. */
export async function insertBulkEnd(tx: Transaction, scope: BulkScope, by: Author, found: number): Promise<bigint | undefined> {
  const { rows } = await tx.query<{ id: bigint }>({
    name: 'insert-bulk-end',
    text: `insert into bulk_ends (client_id, pet_id, shelter_id, by_client_id, by_person_id, found, until_id)
      values ($1, $2, $3, $4, $5, $6, (select coalesce(max(id), 0) from applications))
      on conflict (client_id) where state in ('ending', 'reopening') do nothing returning id`,
    values: [scope.clientId, scope.petId, scope.shelterId, by.clientId, by.personId, found],
  });
  return rows[0]?.id;
}

export async function lockBulkEnd(tx: Transaction, id: bigint): Promise<BulkEnd | undefined> {
  const { rows } = await tx.query<BulkEnd>({
    name: 'lock-bulk-end',
    text: `select ${columns} from bulk_ends where id = $1 for update`,
    values: [id],
  });
  return rows[0];
}

/** The newest of these staff first; of the store's staff all. */
export async function selectBulkEnds(db: Db, staffOf: StaffOf, limit: number): Promise<NamedBulkEnd[]> {
  const { rows } = await db.query<NamedBulkEnd>({
    text: `select ${namedColumns} from bulk_ends where $1::bigint is null or shelter_id = $1 order by id desc limit $2`,
    values: [staffOf === 'all' ? null : staffOf, limit],
  });
  return rows;
}

export async function findBulkEnd(db: Db, staffOf: StaffOf, id: bigint): Promise<NamedBulkEnd | undefined> {
  const { rows } = await db.query<NamedBulkEnd>({
    text: `select ${namedColumns} from bulk_ends where id = $2 and ($1::bigint is null or shelter_id = $1)`,
    values: [staffOf === 'all' ? null : staffOf, id],
  });
  return rows[0];
}

/** Another state, in which the work begins from the start. */
export async function moveBulkEnd(tx: Transaction, id: bigint, state: BulkState): Promise<void> {
  await tx.query({
    name: 'move-bulk-end',
    text: 'update bulk_ends set state = $2, changed_at = now(), last_id = 0 where id = $1',
    values: [id, state],
  });
}

/** From now on adopters are told. False: it is not held any more, or not for so long. */
export async function beginTelling(tx: Transaction, id: bigint, heldSeconds: number): Promise<boolean> {
  const { rowCount } = await tx.query({
    name: 'begin-bulk-telling',
    text: `update bulk_ends set state = 'telling', changed_at = now(), last_id = 0
      where id = $1 and state = 'held' and changed_at <= now() - make_interval(secs => $2)`,
    values: [id, heldSeconds],
  });
  return rowCount === 1;
}

/** False: another job ends or reopens applications of the client. */
export async function markTakenBack(tx: Transaction, id: bigint, { clientId, personId }: Author): Promise<boolean> {
  const { rowCount } = await tx.query({
    name: 'take-bulk-end-back',
    text: `update bulk_ends as job set state = 'reopening', changed_at = now(), last_id = 0, taken_back_at = now(), back_client_id = $2,
        back_person_id = $3
      where id = $1 and not exists (select from bulk_ends as other
        where other.client_id = job.client_id and other.id <> job.id and other.state in ('ending', 'reopening'))`,
    values: [id, clientId, personId],
  });
  return rowCount === 1;
}

/** Of the locked job: this one was looked at. */
export async function noteEnded(tx: Transaction, jobId: bigint, applicationId: bigint, isEnded: boolean): Promise<void> {
  await tx.query({
    name: isEnded ? 'note-bulk-ended' : 'note-bulk-skipped',
    text: isEnded
      ? `with added as (insert into bulk_ended (bulk_end_id, application_id) values ($1, $2))
          update bulk_ends set last_id = $2, ended = ended + 1 where id = $1`
      : 'update bulk_ends set last_id = $2 where id = $1',
    values: [jobId, applicationId],
  });
}

export async function noteReopened(tx: Transaction, jobId: bigint, applicationId: bigint, failure: string | null): Promise<void> {
  await tx.query({
    name: 'note-bulk-reopened',
    text: `with one as (update bulk_ended set is_reopened = $3::text is null, failure = $3 where bulk_end_id = $1 and application_id = $2)
      update bulk_ends set last_id = $2, reopened = reopened + case when $3::text is null then 1 else 0 end where id = $1`,
    values: [jobId, applicationId, failure],
  });
}

/** The next that the job has ended, with what has become of it since, without a lock. */
export async function selectNextEnded(
  tx: Transaction,
  { id, lastId }: BulkEnd,
): Promise<Pick<Application, 'id' | 'closedReason'> | undefined> {
  const { rows } = await tx.query<Pick<Application, 'id' | 'closedReason'>>({
    name: 'next-bulk-ended',
    text: `select application_id as id, (select closed_reason from applications where applications.id = application_id) as "closedReason"
      from bulk_ended where bulk_end_id = $1 and application_id > $2 and not is_reopened order by application_id limit 1`,
    values: [id, lastId],
  });
  return rows[0];
}

/** A batch of those whose adopters are to be told: what staff have reopened by hand meanwhile is not among them. */
export async function selectToTell(tx: Transaction, { id, lastId }: BulkEnd, limit: number): Promise<Application[]> {
  const { rows } = await tx.query<Application>({
    name: 'bulk-ended-to-tell',
    text: `with ended as materialized (select application_id from bulk_ended where bulk_end_id = $1 and application_id > $2 and not is_reopened
          order by application_id limit $3)
      select ${columnsWithoutAnswers} from applications where id in (select application_id from ended) order by id`,
    values: [id, lastId, limit],
  });
  return rows;
}

export async function noteTold(tx: Transaction, jobId: bigint, lastId: bigint): Promise<void> {
  await tx.query({ name: 'note-bulk-told', text: 'update bulk_ends set last_id = $2 where id = $1', values: [jobId, lastId] });
}

/** A job that has something to do, the one that has waited longest. Workers take turns; each step locks it. */
export async function takeBulkEnd(db: Writer, heldSeconds: number): Promise<bigint | undefined> {
  const { rows } = await db.write<{ id: bigint }>({
    name: 'take-bulk-end',
    text: `update bulk_ends set worked_at = clock_timestamp() where id = (
        select id from bulk_ends where state <> 'done' and (state <> 'held' or changed_at <= now() - make_interval(secs => $1))
          order by worked_at limit 1 for update skip locked) returning id`,
    values: [heldSeconds],
  });
  return rows[0]?.id;
}

export interface NotReopened {
  readonly id: bigint;
  readonly failure: string;
}

export async function selectNotReopened(db: Db, jobId: bigint, limit: number): Promise<NotReopened[]> {
  const { rows } = await db.query<NotReopened>({
    text: `select application_id as id, failure from bulk_ended where bulk_end_id = $1 and failure is not null order by application_id limit $2`,
    values: [jobId, limit],
  });
  return rows;
}

/** Deletes a batch of rows of jobs that were done `days` ago, and then the jobs. Returns how many rows. */
export async function deleteOldBulkEnds(db: Writer, days: number, limit: number): Promise<number> {
  const old = `state = 'done' and changed_at < now() - make_interval(days => $1)`;
  const ended = await db.write({
    name: 'delete-old-bulk-ended',
    text: `delete from bulk_ended where (bulk_end_id, application_id) in (
      select bulk_end_id, application_id from bulk_ended where bulk_end_id in (select id from bulk_ends where ${old}) limit $2)`,
    values: [days, limit],
  });
  const jobs = await db.write({
    name: 'delete-old-bulk-ends',
    text: `delete from bulk_ends where ${old} and not exists (select from bulk_ended where bulk_end_id = bulk_ends.id)`,
    values: [days],
  });
  return (ended.rowCount ?? 0) + (jobs.rowCount ?? 0);
}
