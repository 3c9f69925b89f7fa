import { type MoveColumns, readMove, type ShelterMove } from '../../domain/shelters.ts';
import type { Db } from '../../platform/db/handles.ts';

/** What the replay reads of a history row. */
export interface HistoryRow {
  readonly id: bigint;
  readonly petId: bigint;
  readonly orderId: bigint | null;
  readonly clientId: bigint | null;
  readonly keyId: bigint | null;
  readonly personId: bigint | null;
  readonly from: string | null;
  readonly to: string;
  /** The shelters, if the animal was moved. */
  readonly move: ShelterMove | undefined;
  readonly kind: string | null;
  readonly at: Date;
  /** Of kind pet_held. */
  readonly holdReason: string | null;
  readonly holdUntil: Date | null;
  /** Of kind pet_outcome. */
  readonly outcome: string | null;
  /** The act that it is part of, and that it undoes part of. */
  readonly actId: bigint | null;
  readonly undoesActId: bigint | null;
}

export interface VerifiedPet {
  readonly id: bigint;
  readonly status: string;
  readonly shelterId: bigint;
  /** Null: it is not held. */
  readonly holdReason: string | null;
  readonly holdReleases: boolean | null;
  /** Until when its outcome can be undone. */
  readonly undoableUntil: Date | null;
}

export interface VerifiedOrder extends Pick<VerifiedPet, 'id' | 'status' | 'shelterId'> {
  readonly petId: bigint;
  readonly applicationId: bigint | null;
}

/** A row of an animal, after which a query continues. */
export interface RowOfPet {
  readonly petId: bigint;
  readonly id: bigint;
}

/** Animals in order of id, after `afterId`. */
export async function selectPetStates(db: Db, afterId: bigint, limit: number): Promise<VerifiedPet[]> {
  const { rows } = await db.query<VerifiedPet>({
    name: 'verify-pets',
    text: `select id, case when removed_at is null then status::text else 'removed' end as status, shelter_id as "shelterId",
        hold_reason as "holdReason", hold_releases as "holdReleases", undoable_until as "undoableUntil"
      from pets where id > $1 order by id limit $2`,
    values: [afterId, limit],
  });
  return rows;
}

/** The orders of a range of animals after one order, sorted by animal. */
export async function selectOrderStates(db: Db, after: RowOfPet, lastPetId: bigint, limit: number): Promise<VerifiedOrder[]> {
  const { rows } = await db.query<VerifiedOrder>({
    name: 'verify-orders',
    text: `select id, pet_id as "petId", status, shelter_id as "shelterId", application_id as "applicationId" from orders
      where (pet_id, id) > ($1, $2) and pet_id <= $3 order by pet_id, id limit $4`,
    values: [after.petId, after.id, lastPetId, limit],
  });
  return rows;
}

/** The history of a range of animals after one row, sorted by animal and time. */
export async function selectHistory(db: Db, after: RowOfPet, last: RowOfPet, limit: number): Promise<HistoryRow[]> {
  const { rows } = await db.query<Omit<HistoryRow, 'move'> & MoveColumns>({
    name: 'verify-history',
    text: `select id, pet_id as "petId", order_id as "orderId", client_id as "clientId", key_id as "keyId", person_id as "personId", from_status as "from",
        to_status as "to", kind, from_shelter_id as "fromShelterId", to_shelter_id as "toShelterId", at,
        hold_reason as "holdReason", hold_until as "holdUntil", outcome, act_id as "actId", undoes_act_id as "undoesActId"
      from history where (pet_id, id) > ($1, $2) and (pet_id, id) <= ($3, $4) order by pet_id, id limit $5`,
    values: [after.petId, after.id, last.petId, last.id, limit],
  });
  return rows.map(({ fromShelterId, toShelterId, ...row }) => ({
    ...row,
    move: readMove({ fromShelterId, toShelterId }),
  }));
}

/** What a row of a history names without a foreign key. */
interface NamingRow {
  readonly id: bigint;
  readonly orderId: bigint | null;
  readonly clientId: bigint | null;
  readonly keyId: bigint | null;
  readonly personId: bigint | null;
}

const names = { client: 'clientId', key: 'keyId', person: 'personId', order: 'orderId' } as const satisfies Record<string, keyof NamingRow>;

/** The first of the rows that names a client, a key or an order that does not exist. No foreign key of a history refers to them. */
export async function findMissingNames(db: Db, rows: readonly NamingRow[], nameOf: (rowId: bigint) => string): Promise<string | undefined> {
  const idsOf = (column: (typeof names)[keyof typeof names]) => [...new Set(rows.flatMap((row) => row[column] ?? []))];
  // Each looks up its own row: "limit 1" keeps the planner from joining a whole table.
  const missing = await db.query<{ what: keyof typeof names; id: bigint }>({
    name: 'verify-named',
    text: [
      ['client', 'clients'],
      ['key', 'api_keys'],
      ['person', 'people'],
      ['order', 'orders'],
    ]
      .map(
        ([what, table], i) => `select '${what}' as what, named.id from unnest($${i + 1}::bigint[]) as named (id)
          left join lateral (select id from ${table} where ${table}.id = named.id limit 1) as found on true where found.id is null`,
      )
      .join(' union all '),
    values: [idsOf('clientId'), idsOf('keyId'), idsOf('personId'), idsOf('orderId')],
  });
  const [first] = missing.rows;
  if (!first) return undefined;
  const row = rows.find((one) => one[names[first.what]] === first.id);
  return row && `${nameOf(row.id)}: ${first.what} ${first.id} does not exist`;
}

/** An event that is not published, and whether its animal and its client exist. No foreign key refers to them. */
export interface OutboxRow {
  readonly id: bigint;
  readonly petId: bigint;
  readonly clientId: bigint | null;
  readonly hasPet: boolean;
  readonly hasClient: boolean;
}

/** In order of id, after `afterId`. */
export async function selectOutbox(db: Db, afterId: bigint, limit: number): Promise<OutboxRow[]> {
  const { rows } = await db.query<OutboxRow>({
    name: 'verify-outbox',
    text: `select id, pet_id as "petId", client_id as "clientId", exists (select from pets where pets.id = pet_id) as "hasPet",
        client_id is null or exists (select from clients where clients.id = client_id) as "hasClient"
      from outbox where id > $1 order by id limit $2`,
    values: [afterId, limit],
  });
  return rows;
}

export async function readLastPetId(db: Db): Promise<bigint> {
  const { rows } = await db.query<{ last: bigint | null }>({ text: 'select max(id) as last from pets' });
  return rows[0]?.last ?? 0n;
}

/** The last row of an animal, and the transactions (as xid8) before which none can be in progress that writes a row before that one. */
export async function readLastRow(db: Db, petId: bigint): Promise<{ id: bigint; nextTransaction: string }> {
  const { rows } = await db.query<{ id: bigint; nextTransaction: string }>({
    text: `select coalesce(max(id), 0) as id, pg_snapshot_xmax(pg_current_snapshot())::text as "nextTransaction" from history where pet_id = $1`,
    values: [petId],
  });
  const [row] = rows;
  if (!row) throw new Error('an aggregate returned no row');
  return row;
}

/** Whether all transactions before this one have ended. */
export async function haveEnded(db: Db, nextTransaction: string): Promise<boolean> {
  const { rows } = await db.query<{ ended: boolean }>({
    text: 'select pg_snapshot_xmin(pg_current_snapshot()) >= $1::xid8 as ended',
    values: [nextTransaction],
  });
  return rows[0]?.ended ?? false;
}
