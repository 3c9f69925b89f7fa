import { openApplicationStatuses } from '../../domain/application-states.ts';
import type { Db } from '../../platform/db/handles.ts';

/** How many open applications an animal has. `offset 0` keeps the planner from reading those that have ended too, and joining them. */
export async function countOfPet(db: Db, petId: bigint): Promise<number> {
  const { rows } = await db.query<{ open: bigint }>({
    name: 'count-applications-of-pet',
    text: `select count(*) as open from unnest($2::application_status[]) as wanted (status),
      lateral (select from applications where pet_id = $1 and applications.status = wanted.status offset 0) as found`,
    values: [petId, openApplicationStatuses],
  });
  return Number(rows[0]?.open ?? 0);
}

/** The open applications of one client for an animal. */
export interface Holding {
  readonly clientId: bigint;
  readonly isSuspended: boolean;
  readonly sent: number;
  /** By staff. */
  readonly entered: number;
}

/** How many applications the shelter takes for an animal, and who has open ones. Exact if the animal is locked. */
export async function findHoldings(db: Db, petId: bigint): Promise<{ max: number; holdings: Holding[] }> {
  const { rows } = await db.query<{ max: number } & (Holding | { clientId: null })>({
    name: 'holdings-of-pet',
    // `offset 0` as above. Clients are looked up one by one: there are many more of them.
    text: `select applications_max as max, holding.*,
        (select suspended_at is not null from clients where clients.id = holding."clientId") as "isSuspended"
      from pets join shelters on shelters.id = pets.shelter_id left join lateral (
        select client_id as "clientId", count(*) filter (where not is_entered)::int as sent, count(*) filter (where is_entered)::int as entered
          from unnest($2::application_status[]) as wanted (status),
            lateral (select client_id, is_entered from applications where pet_id = $1 and applications.status = wanted.status offset 0) as found
          group by client_id) as holding on true
      where pets.id = $1`,
    values: [petId, openApplicationStatuses],
  });
  return { max: rows[0]?.max ?? 0, holdings: rows.filter((row) => row.clientId !== null) };
}
