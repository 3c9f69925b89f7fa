import type { Db, Transaction } from '../../platform/db/handles.ts';

/** What a text said. Null: there was none. */
export interface ChangedText {
  readonly field: string;
  readonly before: string | null;
  readonly after: string | null;
}

/** Of the last row of the history of a locked animal. Keeps the newest `max` rows. */
export async function insertTexts(tx: Transaction, petId: bigint, texts: readonly ChangedText[], max: number): Promise<void> {
  await tx.query({
    name: 'insert-animal-texts',
    text: `insert into animal_texts (pet_id, history_id, field, shelter_id, before, after, ends_at)
      select pets.id, (select id from history where pet_id = $1 order by pet_id desc, id desc limit 1), field, pets.shelter_id, before, after,
        case when pets.status = 'sold' or pets.removed_at is not null then now() + interval '30 days' end
      from pets cross join unnest($2::text[], $3::text[], $4::text[]) as changed (field, before, after) where pets.id = $1`,
    values: [petId, texts.map(({ field }) => field), texts.map(({ before }) => before), texts.map(({ after }) => after)],
  });
  await tx.query({
    name: 'delete-oldest-animal-texts',
    text: `delete from animal_texts where pet_id = $1
      and history_id <= (select history_id from animal_texts where pet_id = $1 order by history_id desc offset $2 limit 1)`,
    values: [petId, max],
  });
}

/** Of rows of the history, as far as the reader may read them. Null: people of the store. */
export async function selectTexts(
  db: Db,
  petId: bigint,
  historyIds: readonly bigint[],
  shelterId: bigint | null,
): Promise<Array<ChangedText & { readonly historyId: bigint }>> {
  const { rows } = await db.query<ChangedText & { readonly historyId: bigint }>({
    name: 'texts-of-acts',
    text: `select history_id as "historyId", field, before, after from animal_texts
      where pet_id = $1 and history_id = any($2::bigint[]) and ($3::bigint is null or shelter_id = $3) order by history_id, field`,
    values: [petId, historyIds, shelterId],
  });
  return rows;
}

/** The note of a hold, and who has written it. */
export interface HoldNote {
  readonly note: string;
  /** Null: it is of before 1.1.0, or of another shelter. Only staff were promised to read it. */
  readonly at: Date | null;
  readonly personId: bigint | null;
  readonly person: string | null;
  /** Where the person works. Null: for the store. */
  readonly personShelterId: bigint | null;
  readonly clientId: bigint | null;
}

/** Undefined: the animal is not held, or its hold has no note. */
export async function findHoldNote(db: Db, petId: bigint): Promise<HoldNote | undefined> {
  const { rows } = await db.query<HoldNote>({
    name: 'hold-note',
    text: `select coalesce(hold_note, '') as note, written.at, written.person_id as "personId", people.name as person, people.shelter_id as "personShelterId",
        written.client_id as "clientId"
      from pets left join lateral (select history_id from animal_texts
          where pet_id = $1 and field = 'holdNote' and after = pets.hold_note and shelter_id = pets.shelter_id order by history_id desc limit 1) as noted on true
        left join lateral (select at, person_id, client_id from history
          where pet_id = $1 and id <= noted.history_id order by pet_id desc, id desc limit 1) as written on true
        left join people on people.id = written.person_id
      where pets.id = $1 and hold is not null and hold_note is not null and (hold_until is null or hold_until > now())`,
    values: [petId],
  });
  return rows[0];
}

/** Deletes a batch of texts of animals that have left. */
export async function deleteEndedTexts(tx: Transaction, limit: number): Promise<number> {
  const { rowCount } = await tx.query({
    name: 'delete-ended-animal-texts',
    text: `with ended as materialized (select ctid from animal_texts where ends_at <= now() order by ends_at limit $1 for update skip locked)
      delete from animal_texts where ctid in (select ctid from ended)`,
    values: [limit],
  });
  return rowCount ?? 0;
}
