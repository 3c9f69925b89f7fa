import type { Db } from '../../platform/db/handles.ts';
import { parseInt64 } from '../../platform/db/int64.ts';
import { selectShelterNames, selectSheltersCalled } from './shelter-name-queries.ts';

/** The names of shelters, by their ids. */
export const namesOfShelters = (db: Db, ids: readonly bigint[]): Promise<ReadonlyMap<bigint, string>> =>
  selectShelterNames(db, [...new Set(ids)]);

/** What people write for a shelter: a part of its name, or its number, also as #3. What is exactly meant comes first. */
export const findSheltersCalled = (
  db: Db,
  text: string,
  limit: number,
): Promise<Array<{ readonly id: bigint; readonly name: string; readonly isMeant: boolean }>> =>
  selectSheltersCalled(db, text, parseInt64(text.replace(/^#/, '')), limit);
