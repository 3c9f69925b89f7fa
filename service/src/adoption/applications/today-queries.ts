import type { ConfirmedStatus } from '../../domain/application-states.ts';
import type { Db } from '../../platform/db/handles.ts';
import type { StaffOf } from './staff-queries.ts';

export interface WaitingApplication {
  readonly id: bigint;
  readonly petId: bigint;
  readonly pet: string;
  /** Null: erased. */
  readonly adopter: string | null;
  readonly since: Date;
}

/** Of more than these, the first by number are looked at. */
const examinedMax = 1_000;

/** Applications about which nobody has done anything for `days`, oldest first. */
export async function selectWaitingApplications(
  db: Db,
  staffOf: StaffOf,
  { status, days }: { readonly status: ConfirmedStatus; readonly days: number },
  limit: number,
): Promise<WaitingApplication[]> {
  const values: unknown[] = [limit, days, status];
  const { where, by } = ofShelter(staffOf, values);
  const { rows } = await db.query<WaitingApplication>({
    text: withNames(`select id, pet_id, adopter_name, acted_at as since from (
        select id, pet_id, adopter_name, acted_at from applications
          where ${where} (status, id) > ($3::application_status, 0) and status <= $3::application_status
          order by ${by} status, id limit ${examinedMax}) as first
      where acted_at <= now() - make_interval(days => $2)`),
    values,
  });
  return rows;
}

/** Which message says that an application has this status. */
export interface Told {
  readonly status: ConfirmedStatus;
  readonly kind: string;
}

/** Applications whose adopters don't know where they stand, since the message about that has failed within `days`. */
export async function selectUntold(
  db: Db,
  staffOf: StaffOf,
  { told, days }: { readonly told: readonly Told[]; readonly days: number },
  limit: number,
): Promise<WaitingApplication[]> {
  const values: unknown[] = [limit, days, told.map(({ status }) => status), told.map(({ kind }) => kind)];
  const { where, by } = ofShelter(staffOf, values);
  const kinds = 'unnest($3::application_status[], $4::text[]) as told (status, kind)';
  const hasFailed = `state = 'failed' and ended_at > now() - make_interval(days => $2)`;
  // The store has few messages that have lately failed; a shelter has few applications that have lately changed.
  const failures =
    staffOf === 'all'
      ? `(select * from mail where ${hasFailed} order by ended_at desc limit ${examinedMax}) as failed
          join applications as applicant on applicant.id = subject_id join ${kinds} on told.status = applicant.status and told.kind = failed.kind`
      : `${kinds} cross join lateral (select id, pet_id, adopter_name from applications
            where ${where} (status, id) < (told.status, 9223372036854775807) and status >= told.status
            order by ${by} status desc, id desc limit ${examinedMax}) as applicant
          join mail as failed on subject_id = applicant.id and failed.kind = told.kind and ${hasFailed}`;
  const { rows } = await db.query<WaitingApplication>({
    text: withNames(`select applicant.id, pet_id, adopter_name, failed.ended_at as since from ${failures}
      where adopter_name is not null and not exists (select from mail as later
        where later.subject_id = failed.subject_id and later.kind = failed.kind and later.id > failed.id and later.state in ('sent', 'failed'))`),
    values,
  });
  return rows;
}

/** The name of each in a look-up of its own: a join might read all animals. */
const withNames = (
  applications: string,
) => `with waiting as materialized (select * from (${applications}) as found order by since, id limit $1)
  select id, pet_id as "petId", (select name from pets where pets.id = pet_id) as pet, adopter_name as adopter, since
  from waiting order by since, id`;

/** The columns before the status in the index. */
function ofShelter(staffOf: StaffOf, values: unknown[]): { where: string; by: string } {
  if (staffOf === 'all') return { where: '', by: '' };
  return { where: `shelter_id = $${values.push(staffOf)}::bigint and`, by: 'shelter_id,' };
}
