import type { Db } from '../db/handles.ts';
import type { Pet } from '../pets/pet-schemas.ts';
import type { ListingShelter } from './listing-schemas.ts';

export async function selectListedPets(db: Db, ids: readonly bigint[]): Promise<Pet[]> {
  const { rows } = await db.query<Pet>({
    name: 'listed-pets',
    text: 'select id, name, category_id as "categoryId", status from pets where id = any($1::bigint[]) and removed_at is null',
    values: [ids],
  });
  return rows;
}

export async function selectListedShelters(db: Db, ids: readonly bigint[]): Promise<ListingShelter[]> {
  const { rows } = await db.query<ListingShelter>({
    name: 'listed-shelters',
    text: 'select id, name, address, latitude, longitude, website, email, phone from shelters where id = any($1::bigint[])',
    values: [ids],
  });
  return rows;
}
