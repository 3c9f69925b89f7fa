import { type ApplicationStatus, openApplicationStatuses, unconfirmed } from '../../domain/application-states.ts';
import type { Db, Transaction } from '../../platform/db/handles.ts';
import { columnsWithoutAnswers } from './application-queries.ts';
import type { Application } from './application-schemas.ts';

const isOpen = `status in (${openApplicationStatuses.map((status) => `'${status}'`).join(', ')})`;

/** An application from which the adopter is erased. */
export interface FoundApplicant {
  readonly id: bigint;
  readonly petId: bigint;
}

/**
 * Applications that reached this status more than `retentionDays` ago and have answers, oldest first. Not locked: their animals are locked
 * before them. One status at a time: for two, the index could not provide the order.
 */
export const selectOld = (db: Db, status: ApplicationStatus, retentionDays: number, limit: number): Promise<FoundApplicant[]> =>
  selectWhere(db, `${isOld} order by updated_at limit $3`, [status, retentionDays, limit]);

/** Locks those of them that are still so. Requires the animals' locks; applications of other animals are left out. */
export const lockOld = (
  tx: Transaction,
  {
    status,
    retentionDays,
    ids,
    petIds,
  }: { status: ApplicationStatus; retentionDays: number; ids: readonly bigint[]; petIds: readonly bigint[] },
): Promise<Application[]> =>
  lock(tx, `id = any($3::bigint[]) and pet_id = any($4::bigint[]) and ${isOld}`, [status, retentionDays, ids, petIds]);

const isOld = 'status = $1 and answers is not null and updated_at <= now() - make_interval(days => $2)';

/** A person with an e-mail address, in any case of letters. Its normalized form has the index. */
export interface Addressee {
  readonly email: string;
  readonly address: string;
  /** In whose applications; null: in all. */
  readonly shelterId: bigint | null;
}

/** A batch of applications of this address that are not open. */
export const selectEnded = (db: Db, { email, address, shelterId }: Addressee, limit: number): Promise<FoundApplicant[]> =>
  selectWhere(db, `${isOfAddressee} and not ${isOpen} limit $4`, [email, address, shelterId, limit]);

/** Locks those of them that are still not open. Requires the animals' locks. */
export const lockEnded = (tx: Transaction, { email, address, shelterId }: Addressee, ids: readonly bigint[]): Promise<Application[]> =>
  lock(tx, `id = any($4::bigint[]) and ${isOfAddressee} and not ${isOpen}`, [email, address, shelterId, ids]);

const isOfAddressee = 'adopter_address = $2 and lower(adopter_email) = lower($1) and ($3::bigint is null or shelter_id = $3)';

export async function selectOpen(db: Db, { email, address, shelterId }: Addressee, limit: number): Promise<bigint[]> {
  const found = await selectWhere(db, `${isOfAddressee} and ${isOpen} order by id + 0 limit $4`, [email, address, shelterId, limit]);
  return found.map(({ id }) => id);
}

/** Addresses that differ by their tag alone. They may be of the same person. */
export async function selectOtherSpellings(db: Db, { email, address, shelterId }: Addressee, limit: number): Promise<string[]> {
  const { rows } = await db.query<{ email: string }>({
    text: `select distinct lower(adopter_email) as email from applications
      where adopter_address = $2 and lower(adopter_email) <> lower($1) and ($3::bigint is null or shelter_id = $3) order by email limit $4`,
    values: [email, address, shelterId, limit],
  });
  return rows.map((row) => row.email);
}

/** Locks the applications with these statuses whose last order is one of these. Requires the locks of orders and animals. */
export const lockOfOrders = (
  tx: Transaction,
  orderIds: readonly bigint[],
  statuses: readonly ApplicationStatus[],
): Promise<Application[]> =>
  lock(tx, 'order_id = any($1::bigint[]) and status = any($2::application_status[]) and adopter_address is not null', [orderIds, statuses]);

/** An application as an operator is asked about it. Unconfirmed ones too; the animal may have been removed. */
export interface NamedApplicant extends FoundApplicant {
  readonly status: ApplicationStatus;
  readonly orderId: bigint | null;
  readonly pet: string;
  readonly adopter: { readonly name: string; readonly email: string } | null;
}

export async function findNamedApplicant(db: Db, id: bigint): Promise<NamedApplicant | undefined> {
  const { rows } = await db.query<NamedApplicant>({
    text: `select applications.id, pet_id as "petId", pets.name as pet, applications.status, order_id as "orderId",
        case when adopter_name is null then null else json_build_object('name', adopter_name, 'email', adopter_email) end as adopter
      from applications join pets on pets.id = pet_id where applications.id = $1`,
    values: [id],
  });
  return rows[0];
}

/** The application that an order was placed for, if it still has its adopter. */
export async function findApplicantOfOrder(db: Db, orderId: bigint): Promise<bigint | undefined> {
  const { rows } = await db.query<{ id: bigint }>({
    text: `select applications.id from orders join applications on applications.id = orders.application_id
      where orders.id = $1 and adopter_address is not null`,
    values: [orderId],
  });
  return rows[0]?.id;
}

/** Those that were submitted before `at`, with a minute of tolerance for clock skew. */
export const selectFromBefore = (tx: Transaction, ids: readonly bigint[], at: Date): Promise<FoundApplicant[]> =>
  selectWhere(tx, `id = any($1::bigint[]) and created_at <= $2::timestamptz + interval '1 minute'`, [ids, at]);

/** Requires the animals' locks. */
export const lockApplicants = (tx: Transaction, ids: readonly bigint[]): Promise<Application[]> =>
  lock(tx, 'id = any($1::bigint[])', [ids]);

async function selectWhere(db: Db, conditions: string, values: readonly unknown[]): Promise<FoundApplicant[]> {
  const text = `select id, pet_id as "petId" from applications where ${conditions}`;
  return (await db.query<FoundApplicant>({ text, values: [...values] })).rows;
}

async function lock(tx: Transaction, conditions: string, values: readonly unknown[]): Promise<Application[]> {
  const text = `select ${columnsWithoutAnswers} from applications where ${conditions} order by id for update`;
  return (await tx.query<Application>({ text, values: [...values] })).rows;
}

/** Erases everything of the adopter, also what staff have written. Returns the applications from which something was erased. */
export const eraseAll = (tx: Transaction, ids: readonly bigint[]): Promise<Application[]> =>
  erase(
    tx,
    `adopter_name = null, adopter_email = null, adopter_address = null, adopter_phone = null, answers = null, note = null, message = null`,
    'adopter_address is not null or answers is not null',
    ids,
  );

/** Erases all but name and e-mail address. */
export const eraseAnswers = (tx: Transaction, ids: readonly bigint[]): Promise<Application[]> =>
  erase(tx, 'adopter_phone = null, answers = null, note = null, message = null', 'answers is not null', ids);

async function erase(tx: Transaction, assignments: string, unless: string, ids: readonly bigint[]): Promise<Application[]> {
  const { rows } = await tx.query<Application>({
    text: `update applications set ${assignments} where id = any($1::bigint[]) and (${unless}) returning ${columnsWithoutAnswers}`,
    values: [ids],
  });
  return rows.sort((a, b) => (a.id < b.id ? -1 : 1));
}

/** They have neither history nor events. */
export async function deleteUnconfirmedApplicants(tx: Transaction, ids: readonly bigint[]): Promise<number> {
  const { rowCount } = await tx.query({
    text: `delete from applications where id = any($1::bigint[]) and status = '${unconfirmed}'`,
    values: [ids],
  });
  return rowCount ?? 0;
}
