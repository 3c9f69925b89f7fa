import type { ApplicationStatus, ClosedReason } from '../../domain/application-states.ts';
import type { Db } from '../../platform/db/handles.ts';

/** What the adopter's messages tell, as it is now. */
export interface MailedApplication {
  readonly status: ApplicationStatus;
  readonly closedReason: ClosedReason | null;
  readonly message: string | null;
  readonly pet: MailedAnimal;
  readonly adopterName: string;
  readonly adopterEmail: string;
  /** Whether its owner has confirmed the address. */
  readonly isConfirmed: boolean;
  /** The number of the links to the adopter's page. */
  readonly linkNumber: bigint;
  readonly clientId: bigint;
  readonly shelter: MailedShelter;
}

export interface MailedAnimal {
  readonly id: bigint;
  readonly name: string;
}

/** As store staff have confirmed it last; null: never, or the shelter no longer says it. */
export interface MailedShelter {
  readonly id: string;
  readonly name: string | null;
  readonly email: string | null;
  readonly phone: string | null;
  readonly website: string | null;
  readonly address: string | null;
  /** What the shelter adds to messages. */
  readonly mailReceived: string | null;
  readonly mailAccepted: string | null;
}

const confirmed = (field: string, column = field) =>
  `'${field}', case when shelters.${column} is not null then confirmed_shelters.${column} end`;
const shelterJson = `json_build_object('id', shelters.id::text, ${['name', 'email', 'phone', 'website', 'address'].map((field) => confirmed(field)).join(', ')},
  ${confirmed('mailReceived', 'mail_received')}, ${confirmed('mailAccepted', 'mail_accepted')})`;
const sheltersWithConfirmed = 'shelters left join confirmed_shelters on confirmed_shelters.shelter_id = shelters.id';

/** Undefined: there is no such application, its adopter was erased, or is not told by e-mail. */
export async function findMailedApplication(db: Db, id: bigint): Promise<MailedApplication | undefined> {
  const { rows } = await db.query<Omit<MailedApplication, 'pet'> & { petId: bigint; petName: string }>({
    name: 'mailed-application',
    text: `select applications.status, closed_reason as "closedReason", message, pets.id as "petId", pets.name as "petName", adopter_name as "adopterName",
        adopter_email as "adopterEmail", is_confirmed as "isConfirmed", link_number as "linkNumber", applications.client_id as "clientId", ${shelterJson} as shelter
      from applications join pets on pets.id = pet_id join (${sheltersWithConfirmed}) on shelters.id = applications.shelter_id
      where applications.id = $1 and is_mailed and adopter_email is not null`,
    values: [id],
  });
  const [row] = rows;
  if (!row) return undefined;
  const { petId, petName, ...application } = row;
  return { ...application, pet: { id: petId, name: petName } };
}

/** What a shelter is told: counts up to `countMax`, and the oldest applications that nobody has answered. No adopter's data. */
export interface ShelterTold {
  readonly shelter: MailedShelter;
  readonly submitted: number;
  readonly unanswered: number;
  readonly oldest: ReadonlyArray<{ readonly id: bigint; readonly pet: MailedAnimal }>;
}

export async function findShelterTold(
  db: Db,
  id: bigint,
  { days, countMax, oldestMax }: { readonly days: number; readonly countMax: number; readonly oldestMax: number },
): Promise<ShelterTold | undefined> {
  const { rows } = await db.query<Omit<ShelterTold, 'oldest'> & { ids: bigint[]; petIds: bigint[]; names: string[] }>({
    name: 'shelter-told',
    // The first by id of each status, as in the index: those are the oldest.
    text: `with waiting as materialized (
        select found.* from unnest('{submitted,reviewing}'::application_status[]) as wanted (status), lateral (
          select id, pet_id, status, acted_at <= now() - make_interval(days => $2) as is_unanswered from applications
            where shelter_id = $1 and applications.status = wanted.status order by shelter_id, status, id limit $3) as found),
      oldest as (
        select waiting.id, pet_id, pets.name from waiting join pets on pets.id = pet_id where is_unanswered order by waiting.id limit $4)
      select ${shelterJson} as shelter,
        (select count(*)::int from waiting where status = 'submitted') as submitted,
        (select count(*)::int from waiting where is_unanswered) as unanswered,
        array(select id from oldest order by id) as ids, array(select pet_id from oldest order by id) as "petIds",
        array(select name from oldest order by id) as names
      from ${sheltersWithConfirmed} where shelters.id = $1`,
    values: [id, days, countMax, oldestMax],
  });
  const [row] = rows;
  if (!row) return undefined;
  const { ids, petIds, names, ...told } = row;
  return { ...told, oldest: ids.map((applicationId, i) => ({ id: applicationId, pet: { id: petIds[i] ?? 0n, name: names[i] ?? '' } })) };
}

export interface Unanswered {
  readonly id: bigint;
  readonly shelterId: bigint;
  readonly actedAt: Date;
}

/** A page of applications that nobody has answered for `days`, and not for a day longer. */
export async function selectJustUnanswered(db: Db, days: number, after: Unanswered | undefined, limit: number): Promise<Unanswered[]> {
  const { rows } = await db.query<Unanswered>({
    name: 'just-unanswered-applications',
    text: `select id, shelter_id as "shelterId", acted_at as "actedAt" from applications
      where status in ('submitted', 'reviewing') and acted_at <= now() - make_interval(days => $1) and acted_at >= now() - make_interval(days => $1 + 1)
        and ($2::timestamptz is null or (acted_at, id) > ($2, $3))
      order by acted_at, id limit $4`,
    values: [days, after?.actedAt ?? null, after?.id ?? 0n, limit],
  });
  return rows;
}
