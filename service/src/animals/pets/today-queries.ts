import type { HoldReason } from '../../domain/holds.ts';
import type { Db } from '../../platform/db/handles.ts';

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
