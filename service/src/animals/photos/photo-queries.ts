import { petStatuses } from '../../domain/pet-statuses.ts';
import type { PhotoFailure } from '../../images/image-types.ts';
import type { FileName } from '../../images/photo-store.ts';
import { type Db, recentTransactionOf, runningTransaction, type Transaction } from '../../platform/db/handles.ts';
import type { ListingWriter, ShownChangeOf } from '../list-cache/catalogue.ts';
import type { PhotoStatus } from './photo-schemas.ts';

/** A file that a photo refers to. */
export interface PictureFile {
  readonly width: number;
  readonly height: number;
  readonly hash: string;
}

export interface PhotoRow {
  readonly id: bigint;
  readonly petId: bigint;
  readonly status: PhotoStatus;
  readonly alt: string | null;
  /** Null until the photo is ready, like the height and the placeholder. */
  readonly width: number | null;
  readonly height: number | null;
  readonly placeholder: string | null;
  /** The smallest first. */
  readonly files: readonly PictureFile[] | null;
  readonly failure: PhotoFailure | null;
}

/** For the catalogue: the animal of the photo, and the transaction that changed it. */
export const changedPhoto = `pet_id as "petId", ${runningTransaction} as "transactionId"`;
export const photosChange: ShownChangeOf<{ petId: bigint }> = ({ petId }) => ({ of: 'photos', petId });

/** The columns of a PhotoRow. */
export const photoColumns = 'id, pet_id as "petId", status, alt, width, height, placeholder, files, failure';

/** In the order in which they are shown. */
export async function selectPhotos(db: Db, petId: bigint): Promise<PhotoRow[]> {
  const { rows } = await db.query<PhotoRow>({
    name: 'photos-of-pet',
    text: `select ${photoColumns} from photos where pet_id = $1 order by position, id`,
    values: [petId],
  });
  return rows;
}

/** Undefined if the animal was removed: the photo may be hidden by an outcome that can be undone. */
export async function findPhoto(db: Db, petId: bigint, id: bigint): Promise<PhotoRow | undefined> {
  const { rows } = await db.query<PhotoRow>({
    name: 'photo',
    text: `select ${photoColumns} from photos where pet_id = $1 and id = $2
      and exists (select from pets where pets.id = $1 and removed_at is null)`,
    values: [petId, id],
  });
  return rows[0];
}

/** The transactions that have changed the photos that listings show of an animal within the last minute. */
export async function selectRecentPhotoTransactions(tx: Transaction, petId: bigint): Promise<string[]> {
  const { rows } = await tx.query<{ transactionId: string | null }>({
    name: 'recent-photo-transactions',
    text: `select distinct ${recentTransactionOf('photos', 'updated_at')} as "transactionId" from photos where pet_id = $1 and status = 'ready'`,
    values: [petId],
  });
  return rows.flatMap(({ transactionId }) => transactionId ?? []);
}

export async function findPhotoByOriginal(
  tx: Transaction,
  petId: bigint,
  originalHash: string,
): Promise<(PhotoRow & { readonly isMissing: boolean }) | undefined> {
  const { rows } = await tx.query<PhotoRow & { readonly isMissing: boolean }>({
    name: 'photo-by-original',
    text: `select ${photoColumns}, status = 'processing' and original_missing_since is not null as "isMissing" from photos where pet_id = $1 and original_hash = $2`,
    values: [petId, originalHash],
  });
  return rows[0];
}

/** After the animal's other photos. */
export async function insertPhoto(
  tx: Transaction,
  petId: bigint,
  clientId: bigint,
  original: { readonly hash: string; readonly name: FileName; readonly bytes: number },
  isUnlimited: boolean,
): Promise<PhotoRow> {
  const { rows } = await tx.query<PhotoRow>({
    name: 'insert-photo',
    text: `insert into photos (pet_id, client_id, position, original_hash, original_name, original_bytes, is_unlimited)
      values ($1, $2, (select coalesce(max(position) + 1, 0) from photos where pet_id = $1), $3, $4, $5, $6) returning ${photoColumns}`,
    values: [petId, clientId, original.hash, original.name, original.bytes, isUnlimited],
  });
  const [row] = rows;
  if (!row) throw new Error('an inserted photo was not returned');
  return row;
}

/** Processes a photo that has failed, or whose original is missing, again, from a new copy of its original. */
export async function restartPhoto(
  tx: Transaction,
  id: bigint,
  clientId: bigint,
  original: { readonly name: FileName; readonly bytes: number },
  isUnlimited: boolean,
): Promise<PhotoRow> {
  const { rows } = await tx.query<PhotoRow>({
    name: 'restart-photo',
    text: `update photos set status = 'processing', failure = null, client_id = $2, original_name = $3, original_bytes = $4,
      pictures_bytes = null, is_unlimited = $5, attempts = 0, claim = null, claimed_until = null, original_missing_since = null, updated_at = now()
      where id = $1 returning ${photoColumns}`,
    values: [id, clientId, original.name, original.bytes, isUnlimited],
  });
  const [row] = rows;
  if (!row) throw new Error('a photo of a locked animal does not exist');
  return row;
}

export async function setAlt(tx: ListingWriter, id: bigint, alt: string): Promise<void> {
  await tx.writeListing(
    {
      name: 'set-photo-alt',
      text: `update photos set alt = nullif($2, ''), updated_at = now() where id = $1 returning ${changedPhoto}`,
      values: [id, alt],
    },
    photosChange,
  );
}

/** Gives the photos the positions 0, 1, 2 and so on. */
export async function setOrder(tx: ListingWriter, ids: readonly bigint[]): Promise<void> {
  await tx.writeListing(
    {
      name: 'set-photo-order',
      text: `update photos set position = given.n - 1, updated_at = now() from unnest($1::bigint[]) with ordinality as given (id, n)
        where photos.id = given.id and position <> given.n - 1 returning ${changedPhoto}`,
      values: [ids],
    },
    photosChange,
  );
}

export async function deletePhoto(tx: ListingWriter, petId: bigint, id: bigint): Promise<boolean> {
  const deleted = await tx.writeListing(
    {
      name: 'delete-photo',
      text: `delete from photos where pet_id = $1 and id = $2 returning ${changedPhoto}`,
      values: [petId, id],
    },
    photosChange,
  );
  return deleted.length === 1;
}

/** The bytes of all files of a client's photos. In the transaction that adds a photo the client's row is locked, so this is exact. */
export async function getStoredBytes(db: Db, clientId: bigint): Promise<number> {
  const { rows } = await db.query<{ bytes: bigint }>({
    name: 'stored-photo-bytes',
    text: 'select bytes from photo_storage where client_id = $1',
    values: [clientId],
  });
  return Number(rows[0]?.bytes ?? 0);
}

const todayUtc = `(now() at time zone 'utc')::date`;

/** The bytes of photos that a client has sent today (UTC). */
export async function getUploadedBytes(db: Db, clientId: bigint): Promise<number> {
  const { rows } = await db.query<{ bytes: bigint }>({
    name: 'uploaded-bytes',
    text: `select bytes from photo_uploads where client_id = $1 and day >= ${todayUtc}`,
    values: [clientId],
  });
  return Number(rows[0]?.bytes ?? 0);
}

/**
 * Adds to the bytes that a client has sent today. False if that would be more than `perDayMax`: then nothing is added. The sum is
 * exact, since the client's row is locked while it changes. The day never moves back, so that transactions on both sides of midnight
 * don't reset each other's sum.
 */
export async function countUploadedBytes(
  tx: Transaction,
  { clientId, bytes, perDayMax }: { readonly clientId: bigint; readonly bytes: number; readonly perDayMax: number },
): Promise<boolean> {
  const { rowCount } = await tx.query({
    name: 'count-uploaded-bytes',
    text: `insert into photo_uploads as before (client_id, day, bytes) select $1::bigint, ${todayUtc}, $2::bigint where $2 <= $3::bigint
      on conflict (client_id) do update set day = greatest(before.day, excluded.day),
        bytes = excluded.bytes + case when before.day < excluded.day then 0 else before.bytes end
      where before.day < excluded.day or before.bytes + excluded.bytes <= $3`,
    values: [clientId, bytes, perDayMax],
  });
  return rowCount === 1;
}

export interface FailedPhoto {
  readonly id: bigint;
  readonly petId: bigint;
  readonly pet: string;
  readonly failure: PhotoFailure;
  readonly since: Date;
}

/** Of more animals of a shelter with a status, and of more failures of the store, the newest are looked at. */
const petsMax = 1_000;
const failuresMax = 1_000;

/** Photos of animals that are still here and that could not be processed, oldest first. Null: of every shelter. */
export async function selectFailedPhotos(db: Db, shelterId: bigint | null, limit: number): Promise<FailedPhoto[]> {
  const isHere = `removed_at is null and pets.status <> 'sold'`;
  const columns = `photos.id, pets.id as "petId", pets.name as pet, failure, photos.updated_at as since`;
  const { rows } = await db.query<FailedPhoto>(
    shelterId === null
      ? {
          name: 'failed-photos',
          text: `select ${columns} from (select * from photos where status = 'failed' order by id desc limit ${failuresMax}) as photos
            cross join lateral (select * from pets where id = pet_id offset 0) as pets where ${isHere} order by photos.id limit $1`,
          values: [limit],
        }
      : {
          name: 'failed-photos-of-shelter',
          text: `with pets as materialized (select here.* from unnest($3::pet_status[]) as wanted (status), lateral (select id, name from pets
              where shelter_id = $2 and removed_at is null and pets.status = wanted.status order by id desc limit ${petsMax}) as here)
            select ${columns} from pets cross join lateral (select id, failure, updated_at from photos
              where pet_id = pets.id and photos.status = 'failed' offset 0) as photos order by photos.id limit $1`,
          values: [limit, shelterId, petStatuses.filter((status) => status !== 'sold')],
        },
  );
  return rows;
}
