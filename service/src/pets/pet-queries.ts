import type { AdvisoryLock, Db, Transaction } from '../db/handles.ts';
import type { Actor } from '../domain/actor.ts';
import type { PetStatus } from '../domain/pet-statuses.ts';
import type { CatalogueWriter } from './catalogue.ts';
import { type Pet, petFields } from './pet-schemas.ts';

const columns = petFields.map(({ name, column }) => (name === column ? column : `${column} as "${name}"`)).join(', ');

/** The data of `pet.created` in the bytes of petJson, made by PostgreSQL: the id is not known before the statement runs. */
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

/** An animal as PostgreSQL writes it: a page is made of this text, without making numbers of it and text again. */
export type PetText = Readonly<Record<keyof Pet, string>>;

/** One keyset page, by id. Each combination of filters is a statement of its own, so that each has its own plan. */
export async function selectPets(db: Db, filter: PetFilter, page: { afterId: bigint | undefined; limit: number }): Promise<PetText[]> {
  const { rows } = await db.query<PetText>({ ...pageStatement(filter, page), types: asText });
  return rows;
}

const asText = { getTypeParser: () => String };

/**
 * Not `status = $3 … order by id`: that can be had from the primary key too, reading past every animal of another
 * status, and the planner does so where it expects them evenly spread. A row comparison leaves only the index that
 * begins with the filters.
 */
function pageStatement({ categoryId, status, ids }: PetFilter, page: { afterId: bigint | undefined; limit: number }) {
  const values: unknown[] = [page.afterId ?? 0n, page.limit];
  const filters = [
    { column: 'category_id', value: categoryId },
    { column: 'status', value: status },
  ].flatMap(({ column, value }) => (value === undefined ? [] : { column, parameter: `$${values.push(value)}` }));
  const columnsOf = filters.map(({ column }) => column).join(', ');
  const parametersOf = filters.map(({ parameter }) => parameter).join(', ');
  const select = `select ${columns} from pets where removed_at is null and`;
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

export async function findPet(db: Db, id: bigint): Promise<Pet | undefined> {
  const { rows } = await db.query<Pet>({
    name: 'pet',
    text: `select ${columns} from pets where id = $1 and removed_at is null`,
    values: [id],
  });
  return rows[0];
}

/** Held until the transaction ends: whoever reserves, releases or overrides this animal waits. */
export async function lockPet(tx: Transaction, id: bigint): Promise<Pet | undefined> {
  const { rows } = await tx.query<Pet>({
    name: 'lock-pet',
    text: `select ${columns} from pets where id = $1 and removed_at is null for update`,
    values: [id],
  });
  return rows[0];
}

/** In the order of their ids, so that two who lock several never wait for each other. */
export async function lockPetRows(tx: Transaction, ids: readonly bigint[]): Promise<void> {
  await tx.query({ text: 'select from pets where id = any($1::bigint[]) order by id for update', values: [ids] });
}

/**
 * One statement: the animal, its first row of history and its event, where its category exists. Undefined: it does not, and
 * nothing is stored. Where the category is deleted at the same time, the foreign key may refuse instead.
 */
export async function insertPet(catalogue: CatalogueWriter, pet: Omit<Pet, 'id'>, actor: Actor): Promise<Pet | undefined> {
  const { rows } = await catalogue.write<Pet>({
    name: 'insert-pet',
    text: `with pet as (
        insert into pets (name, category_id, status) select $1::text, id, $3::pet_status from categories where id = $2 returning ${columns}),
      added as (insert into history (pet_id, client_id, key_id, to_status, why) select id, $4, $5, status, 'added' from pet),
      told as (insert into outbox (type, pet_id, data) select 'pet.created', id, ${createdEventData} from pet)
      select * from pet`,
    values: [pet.name, pet.categoryId, pet.status, actor.clientId, actor.keyId],
  });
  return rows[0];
}

/** Moves animals on only from where they are expected to be. Returns those that were there. */
export async function movePets(tx: CatalogueWriter, ids: readonly bigint[], from: PetStatus, to: PetStatus): Promise<Pet[]> {
  const { rows } = await tx.write<Pet>({
    name: 'move-pets',
    text: `update pets set status = $3, updated_at = now() where id = any($1::bigint[]) and status = $2 and removed_at is null returning ${columns}`,
    values: [ids, from, to],
  });
  return rows;
}

/** The same for one animal, once the lock is held. */
export async function movePetUnder(
  tx: CatalogueWriter,
  lock: AdvisoryLock,
  id: bigint,
  from: PetStatus,
  to: PetStatus,
): Promise<Pet | undefined> {
  const { rows } = await tx.write<Pet>({
    name: 'move-pet-under-lock',
    text: `with held as materialized (select pg_advisory_xact_lock(hashtextextended($4, $5)))
      update pets set status = $3, updated_at = now() from held where id = $1 and status = $2 and removed_at is null returning ${columns}`,
    values: [id, from, to, lock.name, lock.of],
  });
  return rows[0];
}

/** Only under lockPet. */
export async function updatePet(tx: CatalogueWriter, pet: Pet): Promise<Pet> {
  const { rows } = await tx.write<Pet>({
    name: 'update-pet',
    text: `update pets set name = $1, category_id = $2, status = $3, updated_at = now() where id = $4 returning ${columns}`,
    values: [pet.name, pet.categoryId, pet.status, pet.id],
  });
  const [updated] = rows;
  if (!updated) throw new Error('a locked animal is gone');
  return updated;
}

/** Only under lockPet. */
export async function markPetRemoved(tx: CatalogueWriter, id: bigint): Promise<void> {
  await tx.write({ name: 'remove-pet', text: 'update pets set removed_at = now(), updated_at = now() where id = $1', values: [id] });
}
