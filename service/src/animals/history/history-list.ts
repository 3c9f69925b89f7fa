import type { Db } from '../../platform/db/handles.ts';
import { int64Max } from '../../platform/db/int64.ts';
import { type PastAct, selectActsOfPet } from './history-list-queries.ts';

export type { PastAct } from './history-list-queries.ts';

/** What was done with an animal and with the orders for it, the newest first. Nothing of it is about an adopter. */
export const listActsOfPet = (
  db: Db,
  petId: bigint,
  { beforeId = int64Max, limit }: { readonly beforeId?: bigint | undefined; readonly limit: number },
): Promise<PastAct[]> => selectActsOfPet(db, petId, { beforeId, limit });
