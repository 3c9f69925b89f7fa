import type { CatalogueTransaction, ListingWriter } from '../../animals/list-cache/catalogue.ts';
import { type Pet, petFields } from '../../animals/pets/pet-schemas.ts';
import type { ConfirmedStatus } from '../../domain/application-states.ts';
import type { HoldReason, ShownHold } from '../../domain/holds.ts';
import type { OrderStatus } from '../../domain/order-states.ts';
import type { PetStatus } from '../../domain/pet-statuses.ts';
import { type UndoableKind, undoSeconds } from '../../domain/undo.ts';
import { type ActMark, type Db, runningTransaction, type Transaction } from '../../platform/db/handles.ts';
import type { ChangedApplication } from '../applications/application-undoing.ts';

/** The last row of each history. Of a locked animal, and of the applications for it, every later one has a higher id. */
const lastOf = (history: string) => `(select case when is_called then last_value else 0 end from ${history}_id_seq)`;

/** So that two transactions lock them in one order: the order before the animal. */
export async function lockOrder(tx: Transaction, id: bigint): Promise<void> {
  await tx.query({ name: 'lock-order-of-act', text: 'select from orders where id = $1 for update', values: [id] });
}

const holdJson = `case when hold is not null then jsonb_build_object('shown', hold, 'reason', hold_reason, 'until', hold_until,
  'note', hold_note, 'releases', hold_releases) end`;

/** An act on a locked animal begins: notes how it is before. */
export async function insertAct(
  tx: Transaction,
  { kind, petId, personId }: { readonly kind: UndoableKind; readonly petId: bigint; readonly personId: bigint },
): Promise<ActMark & { readonly finalAt: Date }> {
  const { rows } = await tx.query<{ id: bigint; finalAt: Date }>({
    name: 'insert-undoable-act',
    // A millisecond is what JSON says, and what a partner compares with.
    text: `insert into undoable_acts (kind, person_id, pet_id, final_at, former, history_mark, application_mark)
      select $1, $2, id, date_trunc('milliseconds', now()) + make_interval(secs => $4),
          jsonb_build_object('status', status, 'hold', ${holdJson},
            'photos', case when $5::boolean then (select jsonb_agg(to_jsonb(photos)) from photos where pet_id = pets.id) end),
          ${lastOf('history')}, ${lastOf('application_history')}
        from pets where id = $3 returning id, final_at as "finalAt"`,
    values: [kind, personId, petId, undoSeconds, kind === 'removed' || kind === 'photo_removed'],
  });
  const [act] = rows;
  if (!act) throw new Error('a locked animal does not exist');
  return act;
}

/** The act is whole: what is in the histories from now on are changes since. False: it has changed nothing, and is forgotten. */
export async function concludeAct(tx: Transaction, id: bigint): Promise<boolean> {
  const { rowCount } = await tx.query({
    name: 'conclude-undoable-act',
    text: `update undoable_acts set history_mark = ${lastOf('history')}, application_mark = ${lastOf('application_history')} where id = $1 and (
      exists (select from history where history.pet_id = undoable_acts.pet_id and history.id > history_mark and act_id = $1)
      or exists (select from applications join application_history as row on row.application_id = applications.id
        where applications.pet_id = undoable_acts.pet_id and row.id > application_mark and act_id = $1))`,
    values: [id],
  });
  if (rowCount === 1) return true;
  await tx.query({ name: 'forget-undoable-act', text: 'delete from undoable_acts where id = $1', values: [id] });
  return false;
}

/** What somebody has done, for who may undo it. */
export interface UndoableAct {
  readonly id: bigint;
  readonly kind: UndoableKind;
  readonly petId: bigint;
  readonly pet: string;
  /** Where the animal is now. */
  readonly shelterId: bigint;
  readonly personId: bigint;
  /** Null: the name was erased. */
  readonly person: string | null;
  readonly at: Date;
  readonly finalAt: Date;
  readonly isFinal: boolean;
  readonly undoneAt: Date | null;
  readonly historyMark: bigint;
  readonly applicationMark: bigint;
}

const columns = `act.id, act.kind, act.pet_id as "petId", pets.name as pet, pets.shelter_id as "shelterId", act.person_id as "personId",
  people.name as person, act.at, act.final_at as "finalAt", act.final_at <= clock_timestamp() as "isFinal", act.undone_at as "undoneAt",
  act.history_mark as "historyMark", act.application_mark as "applicationMark"`;
const withNames = 'join pets on pets.id = act.pet_id left join people on people.id = act.person_id';

export async function findAct(db: Db, id: bigint): Promise<UndoableAct | undefined> {
  const { rows } = await db.query<UndoableAct>({
    name: 'undoable-act',
    text: `select ${columns} from undoable_acts as act ${withNames} where act.id = $1`,
    values: [id],
  });
  return rows[0];
}

/** Of a row of a history: an act that was undone since, and its undoing, have changed nothing. */
const isInForce =
  'not exists (select from undoable_acts as other where other.id = coalesce(row.act_id, row.undoes_act_id) and other.undone_at is not null)';
/** Of more acts within two minutes, the last are looked at. */
const readMax = 50;
const isPending = 'undone_at is null and final_at > clock_timestamp()';

/** What can still be undone of a person, and of an animal, the last first: of each animal what was done last, if nothing has followed it. */
export async function selectActsOf(
  db: Db,
  { personId, petId }: { readonly personId: bigint; readonly petId: bigint | null },
  limit: number,
): Promise<UndoableAct[]> {
  const { rows } = await db.query<UndoableAct>({
    name: 'undoable-acts-of',
    text: `select ${columns} from undoable_acts as act ${withNames} where act.id in (
        select max(id) from ((select id, pet_id from undoable_acts where person_id = $1 and ${isPending} order by final_at desc limit ${readMax})
          union all (select id, pet_id from undoable_acts where pet_id = $2 and ${isPending} order by final_at desc limit ${readMax})) as found
          group by pet_id)
        and not exists (select from history as row where row.pet_id = act.pet_id and row.id > act.history_mark and ${isInForce})
      order by act.id desc limit $3`,
    values: [personId, petId, limit],
  });
  return rows;
}

/** What can be undone at this moment, of everybody: of a shelter, or of all. The last first. */
export async function selectPendingActs(db: Db, shelterId: bigint | null, limit: number): Promise<UndoableAct[]> {
  const { rows } = await db.query<UndoableAct>({
    name: 'pending-undoable-acts',
    // Few: those of the last two minutes.
    text: `select ${columns} from (select * from undoable_acts where ${isPending} order by final_at desc) as act
      ${withNames} where $1::bigint is null or pets.shelter_id = $1 order by act.id desc limit $2`,
    values: [shelterId, limit],
  });
  return rows;
}

/** What the act has done to orders and applications: the status that each had, and has now. */
export interface ChangedOrder {
  readonly id: bigint;
  /** Null: the act has placed it. */
  readonly from: OrderStatus | null;
  readonly to: OrderStatus;
}

/** Each once: an act may take an order two steps. */
export async function selectChangedOrders(tx: Transaction, { id, petId }: Pick<UndoableAct, 'id' | 'petId'>): Promise<ChangedOrder[]> {
  const { rows } = await tx.query<ChangedOrder>({
    name: 'orders-of-act',
    text: `select order_id as id, (array_agg(from_status order by id))[1] as "from", (array_agg(to_status order by id desc))[1] as "to"
      from (select * from history where pet_id = $2 order by pet_id desc, id desc limit 1000) as row
      where act_id = $1 and order_id is not null group by order_id order by order_id`,
    values: [id, petId],
  });
  return rows;
}

/** Whether the act has changed the animal itself, or its photos. */
export async function hasChangedPet(tx: Transaction, { id, petId, historyMark }: UndoableAct): Promise<boolean> {
  const { rows } = await tx.query<{ found: boolean }>({
    name: 'pet-of-act',
    text: `select exists (select from (select * from history where pet_id = $2 and id <= $3 order by pet_id desc, id desc limit 100) as row
      where act_id = $1 and order_id is null) as found`,
    values: [id, petId, historyMark],
  });
  return rows[0]?.found === true;
}

export async function selectChangedApplications(
  db: Db,
  { id, petId, applicationMark }: Pick<UndoableAct, 'id' | 'petId' | 'applicationMark'>,
): Promise<ChangedApplication[]> {
  const { rows } = await db.query<{ id: bigint; clientId: bigint; from: ConfirmedStatus }>({
    name: 'applications-of-act',
    text: `select applications.id, applications.client_id as "clientId", row.from_status as "from"
      from applications cross join lateral (select from_status, act_id from application_history
        where application_id = applications.id and application_history.id <= $3 order by application_history.id desc limit 1) as row
      where applications.pet_id = $2 and act_id = $1 order by applications.id`,
    values: [id, petId, applicationMark],
  });
  return rows;
}

/** Requires the lock of the animal. Two people who undo one act take turns. */
export async function lockAct(tx: Transaction, id: bigint): Promise<UndoableAct | undefined> {
  await tx.query({ name: 'lock-undoable-act', text: 'select from undoable_acts where id = $1 for no key update', values: [id] });
  // By a statement of its own, which sees what the one before has waited for.
  return findAct(tx, id);
}

/** A change since, of the animal or of an application for it. */
export interface LaterChange {
  readonly at: Date;
  /** Null: it is in the history of the animal. */
  readonly applicationId: bigint | null;
  /** In that history. */
  readonly rowId: bigint;
}

/**
 * What was changed since, the last first; acts that were undone since have changed nothing. A new application changes nothing either, unless
 * its adopter is one of those whose applications would be open again.
 */
export async function selectLaterChanges(
  db: Db,
  { petId, historyMark, applicationMark }: UndoableAct,
  { reopened, limit }: { readonly reopened: readonly bigint[]; readonly limit: number },
): Promise<LaterChange[]> {
  const { rows } = await db.query<LaterChange>({
    name: 'changes-since-act',
    text: `select at, null::bigint as "applicationId", id as "rowId" from history as row where pet_id = $1 and id > $2 and ${isInForce}
      union all
      select row.at, applications.id, row.id from applications join application_history as row on row.application_id = applications.id
        where applications.pet_id = $1 and row.id > $3 and ${isInForce} and (from_status is not null or exists (
          select from applications as ended where ended.id = any($4::bigint[])
            and ended.client_id = applications.client_id and ended.adopter_address = applications.adopter_address))
      order by at desc limit $5`,
    values: [petId, historyMark, applicationMark, reopened, limit],
  });
  return rows;
}

/**
 * Deletes the messages that the act has queued. False: a worker has claimed one. It claims what is due by PostgreSQL's clock, which is when the
 * act is final, and skips what is locked: so either the undoing locks a message first, and the worker never gets it, or the claim is seen here.
 */
export async function deleteMailOfAct(tx: Transaction, id: bigint, applicationIds: readonly bigint[]): Promise<boolean> {
  const { rows } = await tx.query<{ id: bigint; isClaimed: boolean }>({
    name: 'lock-mail-of-act',
    text: `select id, attempts > 0 or state = 'sent' as "isClaimed" from mail where subject_id = any($2::bigint[]) and act_id = $1 order by id for update`,
    values: [id, applicationIds],
  });
  if (rows.some(({ isClaimed }) => isClaimed)) return false;
  await tx.query({
    name: 'delete-mail-of-act',
    text: 'delete from mail where id = any($1::bigint[])',
    values: [rows.map((row) => row.id)],
  });
  return true;
}

/** An animal as it is, listed or not. */
export interface PetNow {
  readonly pet: Pet;
  readonly isListed: boolean;
  readonly hold: HoldNow | null;
}

interface HoldNow {
  readonly shown: ShownHold;
  readonly reason: HoldReason;
  readonly until: string | null;
}

const petColumns = petFields.map(({ name, column }) => `pets.${column} as "${name}"`).join(', ');

export async function readPetNow(tx: Transaction, id: bigint): Promise<PetNow> {
  const { rows } = await tx.query<Pet & { isListed: boolean; hold: HoldNow | null }>({
    name: 'pet-now',
    text: `select ${petColumns}, removed_at is null as "isListed", ${holdJson} as hold from pets where id = $1`,
    values: [id],
  });
  const [row] = rows;
  if (!row) throw new Error('an animal of an act does not exist');
  const { isListed, hold, ...pet } = row;
  return { pet, isListed, hold };
}

/** The locked animal is as before the act: listed, with its status and its hold. */
export async function restorePet(tx: CatalogueTransaction, actId: bigint, { pet: before, isListed }: PetNow): Promise<Pet> {
  const status = await readFormerStatus(tx, actId);
  const statement = {
    name: 'restore-pet',
    text: `update pets set status = (former ->> 'status')::pet_status, removed_at = null, undoable_until = null, hold = former #>> '{hold,shown}',
        hold_reason = former #>> '{hold,reason}', hold_until = (former #>> '{hold,until}')::timestamptz, hold_note = former #>> '{hold,note}',
        hold_releases = (former #>> '{hold,releases}')::boolean, updated_at = now()
      from (select former from undoable_acts where id = $2) as act
      where pets.id = $1 returning ${petColumns}, ${runningTransaction} as "transactionId"`,
    values: [before.id, actId],
  };
  // Only listings show a hold or a photo; the status is in every list.
  const [after] =
    isListed && before.status === status
      ? await tx.writeListing<Pet>(statement, ({ id, ...state }) => ({
          of: 'animal',
          petId: id,
          state,
          place: undefined,
          terms: undefined,
        }))
      : await tx.writePets<Pet>(statement, (pet) => ({ id: pet.id, before: isListed ? before : undefined, after: pet }));
  if (!after) throw new Error('a locked animal does not exist');
  return after;
}

async function readFormerStatus(tx: Transaction, actId: bigint): Promise<PetStatus | undefined> {
  const { rows } = await tx.query<{ status: PetStatus }>({
    name: 'former-status',
    text: `select former ->> 'status' as status from undoable_acts where id = $1`,
    values: [actId],
  });
  return rows[0]?.status;
}

/** The photos that the act has removed, with their places. Returns how many. Their files are kept for a day after any removal. */
export async function restorePhotos(tx: ListingWriter, actId: bigint): Promise<number> {
  const restored = await tx.writeListing<{ petId: bigint }>(
    {
      name: 'restore-photos',
      text: `insert into photos overriding system value
        select photo.* from undoable_acts, jsonb_array_elements(nullif(former -> 'photos', 'null')) as stored (photo),
          jsonb_populate_record(null::photos, stored.photo || jsonb_build_object('claim', null, 'claimed_until', null, 'updated_at', now())) as photo
          where undoable_acts.id = $1 and not exists (select from photos where photos.id = photo.id)
        returning pet_id as "petId", ${runningTransaction} as "transactionId"`,
      values: [actId],
    },
    ({ petId }) => ({ of: 'photos', petId }),
  );
  return restored.length;
}

/** The last statement: until its commit nobody else has undone it, and it is not final. False: it is. */
export async function markUndone(tx: Transaction, id: bigint, personId: bigint): Promise<boolean> {
  const { rowCount } = await tx.query({
    name: 'mark-act-undone',
    text: 'update undoable_acts set undone_at = now(), undone_by = $2 where id = $1 and undone_at is null and final_at > clock_timestamp()',
    values: [id, personId],
  });
  return rowCount === 1;
}

/** Of acts that have been final for so many days, and what the feed has noted of them. Returns how many. */
export async function deleteOldActs(tx: Transaction, days: number, limit: number): Promise<number> {
  const { rows } = await tx.query<{ id: bigint }>({
    name: 'delete-old-acts',
    text: `with old as materialized (select id from undoable_acts where final_at < now() - make_interval(days => $1)
        order by final_at limit $2 for update skip locked)
      delete from undoable_acts where id in (select id from old) returning id`,
    values: [days, limit],
  });
  await tx.query({
    name: 'delete-events-of-acts',
    text: 'delete from act_events where act_id = any($1::bigint[])',
    values: [rows.map(({ id }) => id)],
  });
  return rows.length;
}
