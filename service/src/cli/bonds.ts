import type { Db } from '../platform/db/handles.ts';
import { listBonded } from '../store/profiles/profiles.ts';
import { named } from './names.ts';

/** The animals that this one must be adopted together with. An order or an application is for one, so staff have to see the others. */
export async function findBond(db: Db, petId: bigint): Promise<string | undefined> {
  const pets = await listBonded(db, petId);
  return pets.length === 0 ? undefined : pets.map(({ id, name }) => named(name, id)).join(', ');
}
