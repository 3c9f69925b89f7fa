import { type ApplicationStatus, applicationStatuses, confirmedStatuses, unconfirmed } from '../../domain/application-states.ts';
import type { Db } from '../../platform/db/handles.ts';
import type { Application } from './application-schemas.ts';

/** Without the answers, which may be long. Also for statements that write. */
export const columnsWithoutAnswers = `id, client_id as "clientId", pet_id as "petId", shelter_id as "shelterId", order_id as "orderId", status,
  closed_reason as "closedReason", is_mailed as "isMailed", is_confirmed as "isConfirmed", link_number as "linkNumber",
  coalesce(reopen_until > now(), false) as "isReopenable", created_at as "createdAt", updated_at as "updatedAt", message, note,
  case when adopter_name is null then null
    else json_build_object('name', adopter_name, 'email', adopter_email, 'phone', adopter_phone) end as adopter`;
export const applicationColumns = `${columnsWithoutAnswers}, answers::json as answers`;

/**
 * Whose applications a reader sees: those of a client, also unconfirmed ones, and as staff those of every shelter or of one. Null: none.
 */
export interface ApplicationReader {
  readonly clientId: bigint | null;
  readonly staffOf: 'all' | bigint | null;
}

export interface ApplicationFilter {
  readonly petId: bigint | undefined;
  readonly shelterId: bigint | undefined;
  readonly status: ApplicationStatus | undefined;
}

/**
 * One keyset page. It is read from an index for each status, so that it costs as much at the front of a list as far behind. What the
 * client has submitted and what staff see are two parts.
 */
export async function selectApplications(
  db: Db,
  reader: ApplicationReader,
  filter: ApplicationFilter,
  page: { afterId: bigint | undefined; limit: number },
): Promise<Application[]> {
  const values: unknown[] = [page.afterId ?? 0n, page.limit];
  const parts = partsOf(reader, filter).map((part) => partOfPage(part, values));
  if (parts.length === 0) return [];
  const { rows } = await db.query<Application>({
    text: `with page as materialized (${parts.join(' union ')} order by id limit $2)
      select ${columnsWithoutAnswers} from applications where id in (select id from page) order by id`,
    values,
  });
  return rows;
}

interface Part {
  /** The columns that the index begins with, before the status. */
  readonly by: Readonly<Record<string, bigint>>;
  /** Columns that are compared row by row. */
  readonly also: Readonly<Record<string, bigint>>;
  readonly statuses: readonly ApplicationStatus[];
}

function partsOf({ clientId, staffOf }: ApplicationReader, { petId, shelterId, status }: ApplicationFilter): Part[] {
  const parts: Part[] = [];
  const only = (all: readonly ApplicationStatus[]) => all.filter((one) => status === undefined || one === status);
  const ofPet = petId === undefined ? undefined : { pet_id: petId };
  const ofShelter = shelterId === undefined ? {} : { shelter_id: shelterId };
  if (clientId !== null) {
    const ofClient = { client_id: clientId };
    parts.push({
      by: ofPet ?? { ...ofClient, ...ofShelter },
      also: ofPet ? { ...ofClient, ...ofShelter } : {},
      // Those of all are among what the store's staff see.
      statuses: only(staffOf === 'all' ? [unconfirmed] : applicationStatuses),
    });
  }
  if (staffOf !== null && (staffOf === 'all' || shelterId === undefined || shelterId === staffOf)) {
    const seen = staffOf === 'all' ? ofShelter : { shelter_id: staffOf };
    parts.push({ by: ofPet ?? seen, also: ofPet ? seen : {}, statuses: only(confirmedStatuses) });
  }
  return parts.filter(({ statuses }) => statuses.length > 0);
}

/**
 * The order names the columns of the index, and the status is compared and not equated: otherwise the planner might read another index in
 * the order of id. The scan ends at `status <=`: a comparison of rows ends one only at its first column.
 */
function partOfPage({ by, also, statuses }: Part, values: unknown[]): string {
  const parameter = (value: unknown) => `$${values.push(value)}`;
  const equal = Object.entries({ ...by, ...also }).map(([column, value]) => `${column} = ${parameter(value)} and `);
  const order = [...Object.keys(by), 'status', 'id'].join(', ');
  return `(select found.id from unnest(${parameter(statuses)}::application_status[]) as wanted (status), lateral (select id from applications
    where ${equal.join('')}(status, id) > (wanted.status, $1) and status <= wanted.status order by ${order} limit $2) as found)`;
}

export async function findApplication(db: Db, reader: ApplicationReader, id: bigint): Promise<Application | undefined> {
  const { rows } = await db.query<Application>({
    name: 'application',
    text: `select ${applicationColumns} from applications where id = $1
      and (client_id = $2::bigint or (status <> '${unconfirmed}' and ($3::boolean or shelter_id = $4::bigint)))`,
    values: [id, reader.clientId, reader.staffOf === 'all', reader.staffOf === 'all' ? null : reader.staffOf],
  });
  return rows[0];
}

/** An application with the names of what it is about, for people. */
export interface NamedApplication extends Application {
  readonly pet: string;
  readonly client: string;
  readonly shelter: string;
}

/** Adds the names. The animals may have been removed since. */
export async function addNames(db: Db, applications: readonly Application[]): Promise<NamedApplication[]> {
  const { rows } = await db.query<Pick<NamedApplication, 'id' | 'pet' | 'client' | 'shelter'>>({
    text: `select applications.id, pets.name as pet, clients.name as client, shelters.name as shelter from applications
        join pets on pets.id = pet_id join clients on clients.id = applications.client_id
        join shelters on shelters.id = applications.shelter_id
      where applications.id = any($1::bigint[])`,
    values: [applications.map(({ id }) => id)],
  });
  const names = new Map(rows.map((row) => [row.id, row]));
  return applications.flatMap((application) => {
    const found = names.get(application.id);
    return found ? [{ ...application, ...found }] : [];
  });
}
