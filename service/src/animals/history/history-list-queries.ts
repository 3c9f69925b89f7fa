import type { HoldReason } from '../../domain/holds.ts';
import type { OutcomeType } from '../../domain/outcomes.ts';
import type { Db } from '../../platform/db/handles.ts';

/** What was done with an animal or with an order for it, and by whom. */
export interface PastAct {
  readonly id: bigint;
  readonly at: Date;
  /** Null: of the first releases, which recorded changes of the status alone. */
  readonly kind: string | null;
  /** Of the animal, or of the order if it is about one. Null: there was none before. */
  readonly from: string | null;
  readonly to: string;
  readonly orderId: bigint | null;
  readonly holdReason: HoldReason | null;
  readonly holdUntil: Date | null;
  readonly outcome: OutcomeType | null;
  /** Names of shelters. */
  readonly fromShelter: string | null;
  readonly toShelter: string | null;
  readonly personId: bigint | null;
  /** Null: nobody, or the name was erased. */
  readonly person: string | null;
  /** Null: of the store. */
  readonly personShelterId: bigint | null;
  /** Null: no key and no person. */
  readonly clientId: bigint | null;
}

/** The newest first, before an id. */
export async function selectActsOfPet(db: Db, petId: bigint, page: { beforeId: bigint; limit: number }): Promise<PastAct[]> {
  const { rows } = await db.query<PastAct>({
    name: 'acts-of-pet',
    text: `select page.id, page.at, kind, from_status as "from", to_status as "to", order_id as "orderId", hold_reason as "holdReason",
        hold_until as "holdUntil", outcome, origin.name as "fromShelter", destination.name as "toShelter",
        person_id as "personId", people.name as person, people.shelter_id as "personShelterId", client_id as "clientId"
      from (select * from history where pet_id = $1 and id < $2 order by pet_id desc, id desc limit $3) as page
        left join people on people.id = person_id
        left join shelters as origin on origin.id = from_shelter_id left join shelters as destination on destination.id = to_shelter_id
      order by page.id desc`,
    values: [petId, page.beforeId, page.limit],
  });
  return rows;
}
