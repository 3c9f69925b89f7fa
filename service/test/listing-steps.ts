// Setup steps for tests about listings. Shelters and profiles are written with SQL, as a process of any release may write them.

import { addPet, type PetBody } from './adoption-steps.ts';
import type { TestKey, TestResponse, TestStore } from './test-store.ts';

export interface ListingBody {
  readonly pet: PetBody;
  readonly shelter: { readonly id: number; readonly name: string };
  readonly profile: { readonly breeds: { readonly primary: string | null }; readonly age: string | null; readonly sex: string };
  readonly photos: ReadonlyArray<{ readonly id: number; readonly status: string }>;
  readonly distanceKm?: number;
}

type Columns = Readonly<Record<string, unknown>>;

export const searchListings = (store: TestStore, { key }: TestKey, query: string): Promise<TestResponse<ListingBody[]>> =>
  store.call<ListingBody[]>('GET', `/v1/listings${query}`, { key });

export const idsOf = ({ json }: { readonly json: readonly ListingBody[] }): number[] => json.map(({ pet }) => pet.id);

export async function addShelter(store: TestStore, shelter: Columns): Promise<number> {
  const rows = await insert(store, 'shelters', { name: 'A shelter', ...shelter }, 'returning id');
  return Number(rows[0]?.['id']);
}

/** Adds an animal with a profile. */
export async function addDescribed(
  store: TestStore,
  key: TestKey,
  pet: Partial<Omit<PetBody, 'id'>> & { readonly shelterId?: number },
  profile: Columns = {},
): Promise<PetBody> {
  const { shelterId = 1, ...fields } = pet;
  const added = await addPet(store, key, fields);
  if (shelterId !== 1) {
    await store.write('update pets set shelter_id = $1 where id = $2', shelterId, added.id);
  }
  await insert(store, 'profiles', { pet_id: added.id, shelter_id: shelterId, ...profile });
  return added;
}

export const insert = (store: TestStore, table: string, row: Columns, end = '') => {
  const columns = Object.keys(row);
  const text = `insert into ${table} (${columns.join(', ')}) values (${columns.map((_, i) => `$${i + 1}`).join(', ')}) ${end}`;
  return store.write<Record<string, unknown>>(text, ...Object.values(row));
};
