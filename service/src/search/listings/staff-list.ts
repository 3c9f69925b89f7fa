import type { KeyRights } from '../../domain/actor.ts';
import type { Db, Searcher } from '../../platform/db/handles.ts';
import { parseInt64, parseReal } from '../../platform/db/int64.ts';
import type { Position } from './listing-search.ts';
import { searchListings } from './listings.ts';
import {
  countStates,
  type StaffAnimal,
  type StaffFilter,
  type StateCounts,
  selectByNumber,
  selectStaffAnimals,
  walkAnimals,
} from './staff-list-queries.ts';

export type { StaffAnimal, StateCounts } from './staff-list-queries.ts';

export interface StaffSearch extends StaffFilter {
  /** Words as in a search of listings, or a number of an animal. */
  readonly q?: string | undefined;
}

/** Who looks. Those of a shelter see the animals of theirs. */
type Reader = Pick<KeyRights, 'shelterId'> & { readonly clientId: bigint; readonly personId: bigint };

export interface StaffAnimalPage {
  readonly animals: readonly StaffAnimal[];
  /** Where the next page begins; undefined: this is the last. A page may have fewer animals than asked for, and not be the last. */
  readonly next: string | undefined;
}

interface Page {
  readonly cursor: string | undefined;
  readonly limit: number;
  readonly nowMs: number;
}

/** The animals that staff may work with, whatever their status: the newest first, or with words what fits best. */
export async function listAnimalsForStaff(
  db: Db & Searcher,
  reader: Reader,
  { q, ...asked }: StaffSearch,
  page: Page,
): Promise<StaffAnimalPage> {
  const filter = { ...asked, shelterId: reader.shelterId ?? asked.shelterId };
  if (q !== undefined) return searchForStaff(db, reader, q, filter, page);
  const { cursor, limit } = page;
  const { ids, endId } = await walkAnimals(db, filter, { beforeId: parseInt64(cursor ?? ''), limit: limit + 1 });
  const shown = ids.slice(0, limit);
  const next = ids.length > limit ? shown.at(-1) : endId;
  return { animals: await selectStaffAnimals(db, shown), next: next?.toString() };
}

/** Undefined: there is no such animal, it has left, or it is of another shelter. */
export async function findAnimalForStaff(db: Db, { shelterId }: Pick<Reader, 'shelterId'>, id: bigint): Promise<StaffAnimal | undefined> {
  const [animal] = await selectStaffAnimals(db, [id]);
  return animal && (shelterId === null || animal.shelter.id === shelterId) ? animal : undefined;
}

/** How many animals are in each state, each counted up to `max`. */
export const countAnimalsForStaff = (db: Db, { shelterId }: Pick<Reader, 'shelterId'>, max: number): Promise<StateCounts> =>
  countStates(db, shelterId ?? undefined, max);

/** A number is looked up first: what has it is what is meant. */
async function searchForStaff(db: Db & Searcher, reader: Reader, q: string, filter: StaffFilter, page: Page): Promise<StaffAnimalPage> {
  const { cursor, limit } = page;
  const { status, isHeld, categoryId, shelterId } = filter;
  const numbered = cursor === undefined ? await selectByNumber(db, numberIn(q), shelterId) : [];
  if (numbered.length > 0) return { animals: await selectStaffAnimals(db, numbered), next: undefined };
  const search = {
    q,
    status: isHeld ? ('pending' as const) : status,
    categoryId,
    shelterId,
    today: new Date(page.nowMs).toISOString().slice(0, 10),
  };
  const after = readPosition(cursor);
  const { found, isFallback } = await searchListings(
    db,
    search,
    {
      sort: 'relevance',
      limit: limit + 1,
      resume: after && ((readings) => ({ reading: readings[after.reading] ?? readings[0], after: after.position })),
    },
    reader,
  );
  const shown = found.slice(0, limit);
  const last = found.length > limit ? shown.at(-1)?.found : undefined;
  const animals = await selectStaffAnimals(
    db,
    shown.map(({ pet }) => pet.id),
    filter,
  );
  return { animals, next: last && `${after?.reading ?? (isFallback ? 1 : 0)}_${last.rank ?? 0}_${last.id}` };
}

const numberIn = (q: string) => ({ id: parseInt64(q.trim().replace(/^#/, '')), externalId: q.trim() });

/** The animal that a page has ended with, and how the words were understood there. */
function readPosition(cursor: string | undefined): { readonly reading: number; readonly position: Position } | undefined {
  const [, reading = '', rank = '', id = ''] = /^([01])_([^_]{1,30})_(\d{1,19})$/.exec(cursor ?? '') ?? [];
  const [lastId, lastRank] = [parseInt64(id), parseReal(rank)];
  if (lastId === undefined || lastRank === undefined) return undefined;
  return { reading: Number(reading), position: { id: lastId, rank: lastRank, shelterId: 0n, distance: null } };
}
