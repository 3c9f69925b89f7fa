import { petStatuses } from '../../domain/pet-statuses.ts';
import type { PhotoFailure } from '../../images/photo-failures.ts';
import type { Db } from '../../platform/db/handles.ts';

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
