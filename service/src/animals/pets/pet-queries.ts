import type { Placement } from '../../access/admission/access.ts';
import type { Author, Visibility } from '../../domain/actor.ts';
import type { HoldReason } from '../../domain/holds.ts';
import type { PetStatus } from '../../domain/pet-statuses.ts';
import type { AdoptionMode } from '../../domain/shelters.ts';
import { type AdvisoryLock, type Db, queryTexts, runningTransaction, type TextRow, type Transaction } from '../../platform/db/handles.ts';
import type { CatalogueWriter, ChangeOf, ListingWriter } from '../list-cache/catalogue.ts';
import { type HoldColumns, holdColumns, type StoredHold, splitHold } from './hold-columns.ts';
import { type Pet, petFields } from './pet-schemas.ts';

/** Where an animal is that is added without a shelter. It is there from the start. */
export const firstShelterId = 1n;

/** For the catalogue: the transaction that changed the animal. */
export const transactionId = `${runningTransaction} as "transactionId"`;

export const petColumns = petFields.map(({ name, column }) => (name === column ? column : `${column} as "${name}"`)).join(', ');

/**
 * SQL that builds the data of `pet.created`, with the same bytes as petJson. PostgreSQL builds it, since the id is not known before
 * the statement runs.
 */
const createdEventData = petFields
  .map(
    ({ name, isNumber }, index) =>
      `coalesce('${index === 0 ? '{"pet":{' : ','}"${name}":' || ${isNumber ? `"${name}"` : `to_json("${name}")`}, '')`,
  )
  .concat(`'}}'`)
  .join(' || ');

export interface PetFilter {
  readonly status?: PetStatus | undefined;
  readonly categoryId?: bigint | undefined;
  readonly ids?: readonly bigint[] | undefined;
}

/** An animal as PostgreSQL's text values, in the order of `petFields`. */
export type PetText = TextRow;

/** One keyset page, by id. Each combination of filters is a separate prepared statement, so that each has its own plan. */
export async function selectPets(db: Db, filter: PetFilter, page: PetPosition): Promise<Pet[]> {
  const { rows } = await db.query<Pet>(pageStatement(filter, page));
  return rows;
}

/** The same as text: a page is serialized from it without parsing numbers. */
export const selectPetTexts = (db: Db, filter: PetFilter, page: PetPosition): Promise<PetText[]> =>
  queryTexts(db, pageStatement(filter, page));

interface PetPosition {
  readonly afterId: bigint | undefined;
  readonly limit: number;
}

/**
 * Uses a row comparison and not `status = $3 … order by id`. With the latter, the planner may scan the primary key and skip every
 * animal of another status, if it expects the statuses to be evenly spread. With a row comparison only the index that begins with
 * the filters fits.
 */
function pageStatement({ categoryId, status, ids }: PetFilter, page: PetPosition) {
  const values: unknown[] = [page.afterId ?? 0n, page.limit];
  const filters = [
    { column: 'category_id', value: categoryId },
    { column: 'status', value: status },
  ].flatMap(({ column, value }) => (value === undefined ? [] : { column, parameter: `$${values.push(value)}` }));
  const columnsOf = filters.map(({ column }) => column).join(', ');
  const parametersOf = filters.map(({ parameter }) => parameter).join(', ');
  const select = `select ${petColumns} from pets where removed_at is null and`;
  const name = ['pets', ...filters.map(({ column }) => column)].join('-');
  if (ids) {
    const equal = filters.map(({ column, parameter }) => `and ${column} = ${parameter}`).join(' ');
    return {
      name: `${name}-ids`,
      text: `${select} id > $1 and id = any($${values.push(ids)}::bigint[]) ${equal} order by id limit $2`,
      values,
    };
  }
  if (filters.length === 0) return { name, text: `${select} id > $1 order by id limit $2`, values };
  const text = `${select} (${columnsOf}, id) > (${parametersOf}, $1) and (${columnsOf}) <= (${parametersOf}) order by ${columnsOf}, id limit $2`;
  return { name, text, values };
}

/** Undefined: there is no such animal, or it was removed. */
export async function findPet(db: Db, id: bigint): Promise<Pet | undefined> {
  const { rows } = await db.query<Pet>({
    name: 'pet',
    text: `select ${petColumns} from pets where id = $1 and removed_at is null`,
    values: [id],
  });
  return rows[0];
}

/** An animal with what decides who may order it. */
export interface PetToOrder {
  readonly pet: Pet;
  readonly shelterId: bigint;
  readonly adoption: AdoptionMode;
  /** Undefined: it is not held. */
  readonly hold: StoredHold | undefined;
}

export async function findPetToOrder(db: Db, id: bigint): Promise<PetToOrder | undefined> {
  const { rows } = await db.query<Pet & HoldColumns & Omit<PetToOrder, 'pet' | 'hold'>>({
    name: 'pet-to-order',
    text: `select ${petColumns}, shelter_id as "shelterId", ${adoptionOfPet} as adoption, ${holdColumns}
      from pets where id = $1 and removed_at is null`,
    values: [id],
  });
  const [row] = rows;
  if (!row) return undefined;
  const { hold, rest } = splitHold(row);
  const { shelterId, adoption, ...pet } = rest;
  return { pet, shelterId, adoption, hold };
}

const adoptionOfPet = '(select adoption from shelters where shelters.id = pets.shelter_id)';

/** What decides who may change an animal; undefined: there is no such animal, or it was removed. */
export async function findPlacement(db: Db, petId: bigint): Promise<Placement | undefined> {
  const { rows } = await db.query<Placement>({
    name: 'placement-of-pet',
    text: 'select id as "petId", shelter_id as "shelterId", client_id as "ownerId" from pets where id = $1 and removed_at is null',
    values: [petId],
  });
  return rows[0];
}

/** A locked animal with what decides who may change it. */
export interface LockedPet extends Required<Omit<Placement, 'petId'>> {
  readonly pet: Pet;
  /** Undefined: it is not held. */
  readonly hold: StoredHold | undefined;
}

/** Locks the row until the transaction ends, so that others who reserve, release or update this animal wait. */
export async function lockPet(tx: Transaction, id: bigint): Promise<LockedPet | undefined> {
  const { rows } = await tx.query<Pet & HoldColumns & Omit<LockedPet, 'pet' | 'hold'>>({
    name: 'lock-pet',
    text: `select ${petColumns}, shelter_id as "shelterId", client_id as "ownerId", ${holdColumns}
      from pets where id = $1 and removed_at is null for update`,
    values: [id],
  });
  const [row] = rows;
  if (!row) return undefined;
  const { hold, rest } = splitHold(row);
  const { shelterId, ownerId, ...pet } = rest;
  return { pet, shelterId, ownerId, hold };
}

/** The shelter of an animal that has an order, so it exists, though it may be removed. */
export async function readShelterId(tx: Transaction, id: bigint): Promise<bigint> {
  const { rows } = await tx.query<{ shelterId: bigint }>({
    name: 'shelter-of-pet',
    text: 'select shelter_id as "shelterId" from pets where id = $1',
    values: [id],
  });
  const [row] = rows;
  if (!row) throw new Error('an animal with an order does not exist');
  return row.shelterId;
}

/** Moves a locked animal, which is its client's no longer. Triggers update its orders and its profile. Only listings show the shelter. */
export async function updateShelterId(tx: ListingWriter, { id, ...state }: Pet, shelterId: bigint): Promise<void> {
  await tx.writeListing(
    {
      text: `update pets set shelter_id = $2, client_id = null, updated_at = now() where id = $1 returning ${transactionId}`,
      values: [id, shelterId],
    },
    // Moves are rare: what else an animal must be to be found is not compared.
    () => ({ of: 'animal', petId: id, state, place: undefined, terms: undefined }),
  );
}

/**
 * Locks animals, including removed ones, so that the events of an animal are recorded in order. In the order of ids, so that two
 * transactions that lock several don't deadlock.
 */
export async function lockPetRows(tx: Transaction, ids: readonly bigint[]): Promise<void> {
  await tx.query({ name: 'lock-pets', text: 'select from pets where id = any($1::bigint[]) order by id for update', values: [ids] });
}

/** The same without waiting: returns those that no other transaction has locked. */
export async function lockFreePetRows(tx: Transaction, ids: readonly bigint[]): Promise<bigint[]> {
  const { rows } = await tx.query<{ id: bigint }>({
    text: 'select id from pets where id = any($1::bigint[]) order by id for update skip locked',
    values: [ids],
  });
  return rows.map(({ id }) => id);
}

/**
 * Inserts the animal, its first history row and its event in one statement. Returns undefined, and stores nothing, if the category
 * does not exist, or, unless `isHeldNext`, if the shelter holds its new animals. If the category is deleted concurrently, the foreign key may reject the statement instead.
 */
export async function insertPet(
  catalogue: CatalogueWriter,
  pet: Omit<Pet, 'id'>,
  author: Author,
  /** Null: in the first, and the author's client may edit it until staff place it in a shelter. */
  shelterId: bigint | null,
  { isHeldNext = false }: { readonly isHeldNext?: boolean } = {},
): Promise<Pet | undefined> {
  const [added] = await catalogue.writePets<Pet>(
    {
      name: author.personId === null ? 'insert-pet' : 'insert-pet-by-person',
      text: `with pet as (
        insert into pets (name, category_id, status, shelter_id, client_id)
          select $1::text, id, $3::pet_status, $6::bigint, case when $7::boolean then $4::bigint end from categories where id = $2 and ended_key($5) is null
            and ($8::boolean or not exists (select from shelters where shelters.id = $6 and new_animals_held))
          returning ${petColumns}),
      ${author.personId === null ? addedByKey : addedByPerson},
      event as (insert into outbox (type, pet_id, data, shelter_id, category_id)
        select 'pet.created', id, ${createdEventData}, $6, $2 from pet)
      select *, ${transactionId} from pet`,
      values: [
        pet.name,
        pet.categoryId,
        pet.status,
        author.clientId,
        author.keyId,
        shelterId ?? firstShelterId,
        shelterId === null,
        isHeldNext,
        ...(author.personId === null ? [] : [author.personId]),
      ],
    },
    (after) => ({ id: after.id, before: undefined, after }),
  );
  return added;
}

const addedByKey = `added as (
        insert into history (pet_id, client_id, key_id, to_status, why, kind) select id, $4, $5, status, 'added', 'pet_added' from pet)`;
/** Also found by the person, as all that people do. */
const addedByPerson = `added as (
        insert into history (pet_id, client_id, key_id, person_id, to_status, why, kind)
          select id, $4, $5, $9::bigint, status, 'added', 'pet_added' from pet returning person_id, at, id),
      found as (insert into person_history (person_id, at, history_id) select person_id, at, id from added)`;

/** Whether a shelter wants its new animals to begin with a hold. */
export async function holdsNewAnimals(tx: Transaction, shelterId: bigint): Promise<boolean> {
  const { rows } = await tx.query({
    name: 'holds-new-animals',
    text: 'select id from shelters where id = $1 and new_animals_held',
    values: [shelterId],
  });
  return rows.length > 0;
}

/** A change of the status alone. */
const movedFrom =
  (status: PetStatus): ChangeOf<Pet> =>
  (after) => ({ id: after.id, before: { categoryId: after.categoryId, status }, after });

/** An animal whose status has changed, unless it is held and so stays pending. */
export interface MovedPet extends Pet {
  /** Also if the change has ended the hold: that is to be recorded. */
  readonly isHeld: boolean;
}

/** Changes the status of the animals that have the status `from`. Returns these animals: a held one does not become available. */
export async function movePets(tx: CatalogueWriter, ids: readonly bigint[], from: PetStatus, to: PetStatus): Promise<MovedPet[]> {
  return tx.writePets<MovedPet>(
    {
      name: 'move-pets',
      text: `update pets set status = $3, updated_at = now() where id = any($1::bigint[]) and status = $2 and removed_at is null
        returning ${petColumns}, hold is not null as "isHeld", ${transactionId}`,
      values: [ids, from, to],
    },
    movedFrom(from),
  );
}

/**
 * The same for one animal, after taking an advisory lock in the same statement. Where animals are adopted by application, only for those
 * who manage its orders: decided here, since a statement of its own would add to the cost of every order.
 */
export async function lockAndMovePet(
  tx: CatalogueWriter,
  lock: AdvisoryLock,
  id: bigint,
  { from, to, managed }: { from: PetStatus; to: PetStatus; managed: Visibility },
): Promise<Pet | undefined> {
  const [moved] = await tx.writePets<Pet>(
    {
      name: 'move-pet-under-lock',
      text: `with locked as materialized (select pg_advisory_xact_lock(hashtextextended($4, $5)))
        update pets set status = $3, updated_at = now() from locked where id = $1 and status = $2 and removed_at is null
          and ($6::boolean or shelter_id = $7::bigint or ${adoptionOfPet} <> 'application')
        returning ${petColumns}, ${transactionId}`,
      values: [id, from, to, lock.name, lock.of, managed === 'all', managed === 'all' ? null : managed.shelterId],
    },
    movedFrom(from),
  );
  return moved;
}

/** `before` is the animal as lockPet has returned it. */
export async function updatePet(tx: CatalogueWriter, before: Pet, changes: Omit<Pet, 'id'>): Promise<Pet> {
  const [updated] = await tx.writePets<Pet>(
    {
      name: 'update-pet',
      text: `update pets set name = $1, category_id = $2, status = $3, updated_at = now() where id = $4
        returning ${petColumns}, ${transactionId}`,
      values: [changes.name, changes.categoryId, changes.status, before.id],
    },
    (after) => ({ id: after.id, before, after }),
  );
  if (!updated) throw new Error('a locked animal does not exist');
  return updated;
}

/** `pet` is the animal as lockPet has returned it. */
export async function markPetRemoved(tx: CatalogueWriter, pet: Pet): Promise<void> {
  await tx.writePets(
    {
      name: 'remove-pet',
      text: `update pets set removed_at = now(), updated_at = now() where id = $1 returning ${transactionId}`,
      values: [pet.id],
    },
    () => ({ id: pet.id, before: pet, after: undefined }),
  );
}

export interface EndingHold {
  readonly petId: bigint;
  readonly pet: string;
  readonly reason: HoldReason;
  readonly until: Date;
}

/** Holds that end before a time, and those that are over, the first first. Null: of every shelter. */
export async function selectEndingHolds(db: Db, shelterId: bigint | null, before: Date, limit: number): Promise<EndingHold[]> {
  const values: unknown[] = [before, limit];
  const ofShelter = shelterId === null ? '' : `shelter_id = $${values.push(shelterId)}::bigint and`;
  const { rows } = await db.query<EndingHold>({
    text: `select id as "petId", name as pet, hold_reason as reason, hold_until as until from pets
      where ${ofShelter} hold_until < $1::timestamptz and hold_until is not null and status <> 'sold' and removed_at is null
      order by hold_until limit $2`,
    values,
  });
  return rows;
}
