import type { Placement } from '../../access/admission/access.ts';
import type { CatalogueWriter } from '../../animals/list-cache/catalogue.ts';
import type { Pet } from '../../animals/pets/pet-schemas.ts';
import { type OutcomeType, outcomeKind, outcomeUndoing } from '../../domain/outcomes.ts';
import { type Db, runningTransaction, type Transaction } from '../../platform/db/handles.ts';

/** An animal, also a removed one, with its outcome if it was removed by one. */
export interface LeftPet extends Required<Placement> {
  readonly pet: Pet;
  /** Also by a hold that is over. */
  readonly isHeld: boolean;
  /** Null: it is listed. */
  readonly removedAt: Date | null;
  /** Null: it is listed, or was removed because it was added by mistake. */
  readonly type: OutcomeType | null;
  /** Null: there is no outcome, or it can't be undone any more. */
  readonly undoableUntil: Date | null;
}

const columns = `id, name, category_id as "categoryId", status, shelter_id as "shelterId", client_id as "ownerId", removed_at as "removedAt", hold is not null as "isHeld"`;

/** Of those that passed, the worker ends some at a time. */
const undoable = 'case when undoable_until > now() then undoable_until end';

/** The outcome is the last row of the history of a removed animal, or none. Earlier months are not read. */
const typeOf = (pets: string) =>
  `(select outcome from history where pet_id = ${pets}.id and at >= ${pets}.removed_at and kind = '${outcomeKind}' order by id desc limit 1)`;

/** Undefined: there is no such animal. */
export async function findLeftPet(db: Db, petId: bigint): Promise<LeftPet | undefined> {
  const { rows } = await db.query<Pet & Omit<LeftPet, 'pet' | 'petId'>>({
    name: 'left-pet',
    text: `select ${columns}, ${undoable} as "undoableUntil", ${typeOf('pets')} as type from pets where id = $1`,
    values: [petId],
  });
  const [row] = rows;
  if (!row) return undefined;
  const { shelterId, ownerId, isHeld, removedAt, undoableUntil, type, ...pet } = row;
  return { petId, pet, shelterId, ownerId, isHeld, removedAt, undoableUntil, type };
}

/** An animal that can be brought back. */
export interface UndoablePet {
  readonly id: bigint;
  readonly name: string;
  readonly shelter: string;
  readonly type: OutcomeType;
  readonly recordedAt: Date;
  readonly undoableUntil: Date;
  /** Where a page that ends with it goes on: microseconds and its id. */
  readonly cursor: string;
}

/** A page of them, the last that has left first. */
export async function selectUndoablePets(
  db: Db,
  shelterId: bigint | undefined,
  { after, limit }: { readonly after: readonly [bigint, bigint] | undefined; readonly limit: number },
): Promise<UndoablePet[]> {
  const values: unknown[] = [limit];
  const place = shelterId === undefined ? '' : `and shelter_id = $${values.push(shelterId)}`;
  const before =
    after === undefined
      ? ''
      : `and (undoable_until, id) < (timestamptz 'epoch' + $${values.push(after[0])}::bigint * interval '1 microsecond', $${values.push(after[1])}::bigint)`;
  const order = `order by ${shelterId === undefined ? '' : 'shelter_id desc, '}undoable_until desc, id desc`;
  const { rows } = await db.query<UndoablePet>({
    text: `with left_pets as materialized (select id, name, shelter_id, removed_at, undoable_until from pets
        where undoable_until > now() ${place} ${before} ${order} limit $1)
      select id, name, (select name from shelters where shelters.id = shelter_id) as shelter, ${typeOf('left_pets')} as type,
        removed_at as "recordedAt", undoable_until as "undoableUntil",
        (extract(epoch from undoable_until) * 1000000)::bigint || '_' || id as cursor
      from left_pets order by undoable_until desc, id desc`,
    values,
  });
  return rows;
}

/** `pet` is the animal as it was locked. A trigger ends its hold. It disappears from every list; its photos stay while the outcome can be undone. */
export async function markPetLeft(tx: CatalogueWriter, pet: Pet): Promise<{ recordedAt: Date; undoableUntil: Date }> {
  const [marked] = await tx.writePets<{ recordedAt: Date; undoableUntil: Date }>(
    {
      name: 'pet-has-left',
      text: `update pets set removed_at = now(), undoable_until = now() + interval '${outcomeUndoing.days} days', updated_at = now() where id = $1
        returning removed_at as "recordedAt", undoable_until as "undoableUntil", ${runningTransaction} as "transactionId"`,
      values: [pet.id],
    },
    () => ({ id: pet.id, before: pet, after: undefined }),
  );
  if (!marked) throw new Error('a locked animal does not exist');
  return marked;
}

/** Brings a locked animal back. Its profile gets its externalId again, which an index rejects if another animal has it. */
export async function markPetBack(tx: CatalogueWriter, { id, name, categoryId }: Pet): Promise<Pet> {
  const back = { id, name, categoryId, status: outcomeUndoing.to };
  const [marked] = await tx.writePets(
    {
      name: 'pet-is-back',
      text: `update pets set removed_at = null, undoable_until = null, status = $2, updated_at = now() where id = $1
        returning ${runningTransaction} as "transactionId"`,
      values: [id, back.status],
    },
    () => ({ id, before: undefined, after: back }),
  );
  if (!marked) throw new Error('a locked animal does not exist');
  return back;
}

/** What an animal has beside its fields, and events tell apart. */
export async function findDescription(tx: Transaction, petId: bigint): Promise<{ hasProfile: boolean; hasPhotos: boolean }> {
  const { rows } = await tx.query<{ hasProfile: boolean; hasPhotos: boolean }>({
    name: 'has-description',
    text: `select exists (select from profiles where pet_id = $1) as "hasProfile",
      exists (select from photos where pet_id = $1 and status = 'ready') as "hasPhotos"`,
    values: [petId],
  });
  return rows[0] ?? { hasProfile: false, hasPhotos: false };
}

/** The animal that has the externalId of one that was removed. */
export async function findTaker(db: Db, petId: bigint): Promise<{ id: bigint; name: string; externalId: string } | undefined> {
  const { rows } = await db.query<{ id: bigint; name: string; externalId: string }>({
    name: 'taker-of-external-id',
    text: `select pets.id, pets.name, other.external_id as "externalId"
      from profiles own join profiles other on other.shelter_id = own.shelter_id and other.external_id = own.external_id and other.removed_at is null
        join pets on pets.id = other.pet_id
      where own.pet_id = $1 and other.pet_id <> $1`,
    values: [petId],
  });
  return rows[0];
}

/**
 * Lets a batch of outcomes pass that can't be undone any more. A trigger deletes the photos of their animals. Locked animals are left to
 * the next batch.
 */
export async function endUndoable(tx: Transaction, sizeMax: number): Promise<number> {
  const { rowCount } = await tx.query({
    name: 'end-undoable-outcomes',
    text: `update pets set undoable_until = null where id in (
      select id from pets where undoable_until <= now() order by undoable_until limit $1 for update skip locked)`,
    values: [sizeMax],
  });
  return rowCount ?? 0;
}
