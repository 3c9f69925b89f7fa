import type { HoldReason } from '../../domain/holds.ts';
import type { Db } from '../../platform/db/handles.ts';

export interface EndingHold {
  readonly petId: bigint;
  readonly pet: string;
  readonly reason: HoldReason;
  readonly until: Date;
}

/** Holds that end until the end of today in a time zone, and those that are over, the first first. Null: of every shelter. */
export async function selectEndingHolds(db: Db, shelterId: bigint | null, zone: string, limit: number): Promise<EndingHold[]> {
  const endOfToday = `(date_trunc('day', now() at time zone $1) + interval '1 day') at time zone $1`;
  const values: unknown[] = [zone, limit];
  const ofShelter = shelterId === null ? '' : `shelter_id = $${values.push(shelterId)}::bigint and`;
  const { rows } = await db.query<EndingHold>({
    text: `select id as "petId", name as pet, hold_reason as reason, hold_until as until from pets
      where ${ofShelter} hold_until < ${endOfToday} and hold_until is not null and status <> 'sold' and removed_at is null
      order by hold_until limit $2`,
    values,
  });
  return rows;
}
