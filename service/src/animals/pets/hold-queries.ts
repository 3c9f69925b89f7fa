import { holdChanges, shownHoldOf } from '../../domain/holds.ts';
import type { PetStatus } from '../../domain/pet-statuses.ts';
import type { Db, Transaction } from '../../platform/db/handles.ts';
import type { CatalogueTransaction } from '../list-cache/catalogue.ts';
import { isInForce } from './hold-conditions.ts';
import type { Hold } from './hold-schemas.ts';
import { petColumns, transactionId } from './pet-queries.ts';
import type { Pet } from './pet-schemas.ts';

/** Undefined: it is not held, or its hold is over, though the worker has not ended it yet. */
export async function findHold(db: Db, petId: bigint): Promise<Hold | undefined> {
  const { rows } = await db.query<Hold>({
    name: 'hold-of-pet',
    text: `select hold_reason as reason, hold_until as until, hold_note as note from pets
      where id = $1 and removed_at is null and hold is not null and ${isInForce('hold_until')}`,
    values: [petId],
  });
  return rows[0];
}

/**
 * Holds a locked animal, or changes its hold. The end of the hold will make the animal available if it is so now, or if an order leaves it
 * meanwhile: the trigger notes that.
 */
export async function updateHold(tx: CatalogueTransaction, pet: Pet, { reason, until, note }: Hold): Promise<Pet> {
  const { from, to } = holdChanges.begin.pet;
  const statement = {
    name: 'hold-pet',
    text: `update pets set status = $2, hold_releases = case when hold is null then status = $3 else hold_releases end,
        hold = $4, hold_reason = $5, hold_until = $6, hold_note = $7, updated_at = now() where id = $1 returning ${petColumns}, ${transactionId}`,
    values: [pet.id, to, from, shownHoldOf(reason), reason, until, note],
  };
  // Only listings show a hold; the status is in every list.
  const [held] =
    pet.status === to
      ? await tx.writeListing<Pet>(statement, (after) => listed(after))
      : await tx.writePets<Pet>(statement, (after) => ({ id: after.id, before: pet, after }));
  if (!held) throw new Error('a locked animal does not exist');
  return held;
}

/** All that could show it; what an animal has otherwise to be found is not compared. */
const listed = ({ id, ...state }: Pet) => ({ of: 'animal', petId: id, state, place: undefined, terms: undefined }) as const;

/** An animal whose hold has ended, and its status before. */
export interface EndedHold extends Pet {
  readonly from: PetStatus;
}

/** Ends the holds of locked animals. Those that would be available without it become so, except the `kept` ones. */
export async function endHoldsOf(tx: CatalogueTransaction, ids: readonly bigint[], kept: readonly bigint[]): Promise<EndedHold[]> {
  const { from, to } = holdChanges.end.pet;
  return tx.writePets<EndedHold>(
    {
      name: 'end-holds',
      text: `update pets set hold = null, hold_reason = null, hold_until = null, hold_note = null, hold_releases = null, updated_at = now(),
          status = case when pets.status = $3 and pets.hold_releases and pets.id <> all($2::bigint[]) then $4 else pets.status end
        from (select id as held_id, status as was from pets where id = any($1::bigint[]) and hold is not null) before where pets.id = held_id
        returning ${petColumns}, was as "from", ${transactionId}`,
      values: [ids, kept, from, to],
    },
    (after) => ({ id: after.id, before: { categoryId: after.categoryId, status: after.from }, after }),
  );
}

/** Locks a batch of animals whose holds are over, and skips those that another transaction has locked. Returns their ids. */
export async function lockPetsWithOverHolds(tx: Transaction, batchSizeMax: number): Promise<bigint[]> {
  const { rows } = await tx.query<{ id: bigint }>({
    name: 'over-holds',
    text: 'select id from pets where hold_until <= now() order by hold_until limit $1 for update skip locked',
    values: [batchSizeMax],
  });
  return rows.map(({ id }) => id);
}

/** Whether there is a hold that is over. */
export async function isAnyHoldOver(db: Db): Promise<boolean> {
  const { rows } = await db.query<{ over: boolean }>({
    name: 'any-hold-over',
    text: 'select exists (select from pets where hold_until <= now()) as over',
  });
  return rows[0]?.over ?? false;
}
