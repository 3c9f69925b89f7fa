import type { FileName } from '../../images/photo-store.ts';
import type { Db, Writer } from '../../platform/db/handles.ts';

export interface RecordedMark {
  readonly id: string;
  /** A worker has written it beside the photos. */
  readonly isWritten: boolean;
}

export async function getRecordedMark(db: Db): Promise<RecordedMark> {
  const { rows } = await db.query<RecordedMark>({
    name: 'photo-mark',
    text: 'select photos_id as id, photos_marked_at is not null as "isWritten" from deployment',
  });
  const [row] = rows;
  if (!row) throw new Error('the table deployment is empty');
  return row;
}

export async function setMarkWritten(db: Writer): Promise<void> {
  await db.write({ name: 'photo-mark-is-written', text: 'update deployment set photos_marked_at = now()' });
}

/** A new id, which no other directory or bucket has, also not that of the store that this database is a copy of. */
export async function replaceMark(db: Writer): Promise<string> {
  const { rows } = await db.write<{ id: string }>({
    name: 'replace-photo-mark',
    text: 'update deployment set photos_id = gen_random_uuid()::text, photos_marked_at = now() returning photos_id as id',
  });
  const [row] = rows;
  if (!row) throw new Error('the table deployment is empty');
  return row.id;
}

/** Of photos that are ready, the latest first: a picture of each. */
export async function selectLatestPictures(db: Db, limit: number): Promise<string[]> {
  const { rows } = await db.query<{ hash: string }>({
    name: 'latest-pictures',
    text: `select files -> 0 ->> 'hash' as hash from photos where status = 'ready' order by id desc limit $1`,
    values: [limit],
  });
  return rows.map(({ hash }) => hash);
}

/** Of photos that wait, the latest first. */
export async function selectLatestOriginals(db: Db, limit: number): Promise<FileName[]> {
  const { rows } = await db.query<{ name: FileName }>({
    name: 'latest-originals',
    text: `select original_name as name from photos where status = 'processing' order by id desc limit $1`,
    values: [limit],
  });
  return rows.map(({ name }) => name);
}

export interface PhotoCounts {
  readonly ready: number;
  readonly processing: number;
  readonly failed: number;
  /** Of those that are processed: their originals are not found. */
  readonly originalsMissing: number;
}

export async function countByStatus(db: Db): Promise<PhotoCounts> {
  const { rows } = await db.query<PhotoCounts>({
    text: `select count(*) filter (where status = 'ready')::int as ready, count(*) filter (where status = 'processing')::int as processing,
      count(*) filter (where status = 'failed')::int as failed,
      count(*) filter (where status = 'processing' and original_missing_since is not null)::int as "originalsMissing" from photos`,
  });
  const [row] = rows;
  if (!row) throw new Error('a count returned no row');
  return row;
}

/** In the order of their ids, after this one. */
export async function selectReadyPhotos(
  db: Db,
  after: bigint,
  limit: number,
): Promise<Array<{ readonly id: bigint; readonly petId: bigint; readonly hashes: readonly string[] }>> {
  const { rows } = await db.query<{ id: bigint; petId: bigint; hashes: readonly string[] }>({
    name: 'ready-photos',
    text: `select id, pet_id as "petId", array(select file ->> 'hash' from jsonb_array_elements(files) as file) as hashes
      from photos where status = 'ready' and id > $1 order by id limit $2`,
    values: [after, limit],
  });
  return rows;
}
