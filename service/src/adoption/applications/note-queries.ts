import type { Author } from '../../domain/actor.ts';
import type { Db, Transaction } from '../../platform/db/handles.ts';

/** What somebody has noted about an application. */
export interface ApplicationNote {
  readonly id: bigint;
  /** Null: before notes had a time. */
  readonly at: Date | null;
  /** Null: it was erased, or removed. */
  readonly text: string | null;
  readonly personId: bigint | null;
  readonly person: string | null;
  /** Where the person works. Null: for the store. */
  readonly personShelterId: bigint | null;
  readonly isProgram: boolean;
}

/** Of one application, newest first. One of before 1.1.0 has no row until another one follows: it is the note of the application. */
export async function selectNotes(db: Db, applicationId: bigint, limit: number): Promise<ApplicationNote[]> {
  const { rows } = await db.query<ApplicationNote>({
    name: 'notes-of-application',
    text: `select application_notes.id, at, text, person_id as "personId", people.name as person, people.shelter_id as "personShelterId",
        key_id is not null as "isProgram"
      from application_notes left join people on people.id = person_id
      where application_id = $1 order by application_notes.id desc limit $2`,
    values: [applicationId, limit],
  });
  return rows;
}

/** Requires the lock of the application. Keeps the newest `max`. The note of before 1.1.0 becomes the first of them. */
export async function insertNote(tx: Transaction, applicationId: bigint, author: Author, text: string, max: number): Promise<void> {
  await tx.query({
    name: 'keep-earlier-note',
    text: `insert into application_notes (application_id, at, text) select id, null, note from applications
      where id = $1 and note is not null and not exists (select from application_notes where application_id = $1)`,
    values: [applicationId],
  });
  await tx.query({
    name: 'insert-application-note',
    text: 'insert into application_notes (application_id, client_id, key_id, person_id, text) values ($1, $2, $3, $4, $5)',
    values: [applicationId, author.clientId, author.keyId, author.personId, text],
  });
  await tx.query({
    name: 'delete-oldest-notes',
    text: `delete from application_notes where application_id = $1
      and id <= (select id from application_notes where application_id = $1 order by id desc offset $2 limit 1)`,
    values: [applicationId, max],
  });
}

/** Requires the lock of the application. Empties the newest note of the author, or of before 1.1.0. False: there is none. */
export async function emptyNewestNote(tx: Transaction, applicationId: bigint, { clientId, personId }: Author): Promise<boolean> {
  const own = 'at is null or (person_id is not distinct from $3 and ($3 is not null or client_id is not distinct from $2))';
  const { rowCount } = await tx.query({
    name: 'empty-newest-note',
    text: `update application_notes set text = null where application_id = $1
      and id = (select id from application_notes where application_id = $1 and text is not null and (${own}) order by id desc limit 1)`,
    values: [applicationId, clientId, personId],
  });
  if (rowCount) return true;
  const earlier = await tx.query({
    name: 'empty-earlier-note',
    text: `update applications set note = null where id = $1 and note is not null
      and not exists (select from application_notes where application_id = $1)`,
    values: [applicationId],
  });
  return earlier.rowCount === 1;
}

/** Somebody has done something about it. False if the answers were erased: adopters' data that staff have added would outlive that. */
export async function touchApplication(tx: Transaction, id: bigint): Promise<boolean> {
  const { rowCount } = await tx.query({
    name: 'touch-application',
    text: 'update applications set acted_at = now() where id = $1 and answers is not null',
    values: [id],
  });
  return rowCount === 1;
}
