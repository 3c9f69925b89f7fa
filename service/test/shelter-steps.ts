// Setup steps for tests about shelters.
import { defaultScopes, type Scope } from '../src/domain/scopes.ts';
import type { TestKey, TestStore } from './test-store.ts';

export interface ShelterBody {
  readonly id: number;
  readonly name: string;
  readonly description: string | null;
  readonly email: string | null;
  readonly phone: string | null;
  readonly website: string | null;
  readonly address: string | null;
  readonly town: string | null;
  readonly postcode: string | null;
  readonly country: string | null;
  readonly latitude: number | null;
  readonly longitude: number | null;
  readonly timezone: string | null;
  readonly adoption: 'order' | 'application';
  readonly applicationsMax: number;
  readonly applicationNote: string | null;
  readonly openingHours: object | null;
  readonly newAnimalsHeld: boolean;
  readonly mailReceived: string | null;
  readonly mailAccepted: string | null;
}

export async function addShelter(store: TestStore, name = 'Danube Shelter'): Promise<number> {
  const rows = await store.write<{ id: bigint }>('insert into shelters (name) values ($1) returning id', name);
  return Number(rows[0]?.id);
}

/** As if store staff had written all that the shelters say. */
export const confirmShelters = (store: TestStore): Promise<unknown> =>
  store.write(`update confirmed_shelters as confirmed set name = shelters.name, email = shelters.email, phone = shelters.phone,
    website = shelters.website, address = shelters.address, town = shelters.town, postcode = shelters.postcode
    from shelters where shelters.id = shelter_id`);

/** A key of a shelter's staff. */
export const createShelterKey = (
  store: TestStore,
  shelterId: number,
  scopes: readonly Scope[] = [...defaultScopes, 'shelter:manage'],
): Promise<TestKey> => store.createKey({ scopes, shelterId: BigInt(shelterId) });

/** The shelter of an animal or of an order, as stored. */
export async function shelterOf(store: TestStore, table: 'pets' | 'orders', id: number): Promise<number> {
  const rows = await store.read<{ shelterId: bigint }>(`select shelter_id as "shelterId" from ${table} where id = $1`, id);
  return Number(rows[0]?.shelterId);
}

export async function moveToShelter(store: TestStore, petId: number, shelterId: number | bigint): Promise<void> {
  await store.write('update pets set shelter_id = $2 where id = $1', petId, shelterId);
}
