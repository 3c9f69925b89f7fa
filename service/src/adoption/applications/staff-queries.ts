import {
  type ApplicationParty,
  type ApplicationStatus,
  type ConfirmedStatus,
  confirmedStatuses,
  openApplicationStatuses,
} from '../../domain/application-states.ts';
import type { Db } from '../../platform/db/handles.ts';
import { applicationColumns, columnsWithoutAnswers } from './application-queries.ts';
import type { Application } from './application-schemas.ts';

/** Whose applications staff see: those to every shelter, or to one. */
export type StaffOf = 'all' | bigint;

/** With what staff call the animal, its shelter and the client. */
export interface ListedApplication extends Application {
  readonly pet: string;
  readonly shelter: string;
  /** Who has sent it. */
  readonly client: string;
}

export interface StaffApplicationPage {
  readonly statuses: readonly ConfirmedStatus[];
  /** Undefined: of every animal. */
  readonly petId?: bigint | undefined;
  /** The application that the page begins after. */
  readonly cursor: bigint | undefined;
  readonly limit: number;
  readonly isNewestFirst?: boolean;
  readonly hasAnswers?: boolean;
}

const idMax = 9_223_372_036_854_775_807n;

/** One keyset page, read from an index for each status, as `selectApplications` is. */
export async function selectListedApplications(db: Db, staffOf: StaffOf, page: StaffApplicationPage): Promise<ListedApplication[]> {
  const { statuses, petId, cursor, limit, isNewestFirst = false, hasAnswers = false } = page;
  const [way, after, until] = isNewestFirst ? ['desc', '<', '>='] : ['asc', '>', '<='];
  const values: unknown[] = [cursor ?? (isNewestFirst ? idMax : 0n), limit, statuses];
  const { where, by } = ofStaff(staffOf, petId, values);
  const order = [...by, 'status', 'id'].map((column) => `${column} ${way}`).join(', ');
  const { rows } = await db.query<ListedApplication>({
    text: `with page as materialized (
        select found.id from unnest($3::application_status[]) as wanted (status), lateral (select id from applications
          where ${where} (status, id) ${after} (wanted.status, $1) and status ${until} wanted.status order by ${order} limit $2) as found
        order by id ${way} limit $2)
      select ${named('select id from page', hasAnswers)} order by listed.id ${way}`,
    values,
  });
  return rows;
}

/** Those of them that are of these staff, newest first. */
export async function selectApplicationsById(db: Db, staffOf: StaffOf, ids: readonly bigint[]): Promise<ListedApplication[]> {
  const values: unknown[] = [ids, confirmedStatuses];
  const { where } = ofStaff(staffOf, undefined, values);
  const found = `select id from applications where ${where} id = any($1::bigint[]) and status = any($2::application_status[])`;
  const { rows } = await db.query<ListedApplication>({ text: `select ${named(found, false)} order by listed.id desc`, values });
  return rows;
}

/** How many there are of each status, at most `max` of each. */
export async function countListedApplications(
  db: Db,
  staffOf: StaffOf,
  petId: bigint | undefined,
  max: number,
): Promise<ReadonlyMap<ApplicationStatus, number>> {
  const values: unknown[] = [confirmedStatuses, max];
  const { where, by } = ofStaff(staffOf, petId, values);
  const { rows } = await db.query<{ status: ApplicationStatus; count: number }>({
    text: `select wanted.status, (select count(*)::int from (select from applications
        where ${where} (status, id) > (wanted.status, 0) and status <= wanted.status
        order by ${[...by, 'status', 'id'].join(', ')} limit $2) as found) as count
      from unnest($1::application_status[]) as wanted (status)`,
    values,
  });
  return new Map(rows.map(({ status, count }) => [status, count]));
}

/** Undefined: there is none of these staff. */
export async function findListedApplication(db: Db, staffOf: StaffOf, id: bigint): Promise<ListedApplication | undefined> {
  const values: unknown[] = [id, confirmedStatuses];
  const { where } = ofStaff(staffOf, undefined, values);
  const { rows } = await db.query<ListedApplication>({
    text: `select ${named(`select id from applications where ${where} id = $1 and status = any($2::application_status[])`, true)}`,
    values,
  });
  return rows[0];
}

/** Each row in look-ups of its own: a join might read whole tables. */
const named = (ids: string, hasAnswers: boolean) => `listed.*, (select name from pets where pets.id = listed."petId") as pet,
    (select name from shelters where shelters.id = listed."shelterId") as shelter,
    (select name from clients where clients.id = listed."clientId") as client
  from (${ids}) as wanted cross join lateral (
    select ${hasAnswers ? applicationColumns : columnsWithoutAnswers} from applications where applications.id = wanted.id offset 0) as listed`;

/** Conditions that go on, and the columns that their index begins with. */
function ofStaff(staffOf: StaffOf, petId: bigint | undefined, values: unknown[]): { where: string; by: string[] } {
  const equal = (column: string, value: bigint) => `${column} = $${values.push(value)}::bigint and`;
  const ofShelter = staffOf === 'all' ? '' : equal('shelter_id', staffOf);
  if (petId !== undefined) return { where: `${equal('pet_id', petId)} ${ofShelter}`, by: ['pet_id'] };
  return { where: ofShelter, by: staffOf === 'all' ? [] : ['shelter_id'] };
}

/** A step in the life of an application, with the name of who took it. */
export interface ApplicationMoment {
  readonly at: Date;
  /** Null: it was sent. */
  readonly from: ConfirmedStatus | null;
  readonly to: ConfirmedStatus;
  readonly by: ApplicationParty;
  /** Who did it in the console. Null: a program, a command, the adopter, or nobody. */
  readonly personId: bigint | null;
  readonly person: string | null;
  /** Where the person works. Null: for the store. */
  readonly personShelterId: bigint | null;
  readonly isProgram: boolean;
}

/** The last `limit` ones, newest first. */
export async function selectApplicationMoments(db: Db, id: bigint, limit: number): Promise<ApplicationMoment[]> {
  const { rows } = await db.query<ApplicationMoment>({
    name: 'moments-of-application',
    text: `select at, from_status as "from", to_status as "to", by, person_id as "personId", people.name as person,
        people.shelter_id as "personShelterId", key_id is not null as "isProgram"
      from application_history left join people on people.id = person_id
      where application_id = $1 order by application_history.id desc limit $2`,
    values: [id, limit],
  });
  return rows;
}

export interface OpenApplicant {
  readonly id: bigint;
  /** Null: erased. */
  readonly adopter: string | null;
  /** Whether the adopter is told by e-mail, if mail is on. */
  readonly isMailed: boolean;
}

/** With an open application for the animal. */
export async function selectOpenApplicants(db: Db, staffOf: StaffOf, petId: bigint, limit: number): Promise<OpenApplicant[]> {
  const { rows } = await db.query<OpenApplicant>({
    name: 'open-applicants-of-pet',
    text: `select found.* from unnest($2::application_status[]) as wanted (status), lateral (
        select id, adopter_name as adopter, is_mailed as "isMailed" from applications
          where pet_id = $1 and applications.status = wanted.status and ($3::bigint is null or shelter_id = $3) order by id limit $4) as found
      order by found.id limit $4`,
    values: [petId, openApplicationStatuses, staffOf === 'all' ? null : staffOf, limit],
  });
  return rows;
}

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
