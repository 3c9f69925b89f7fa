import { isInForce } from '../../animals/pets/hold-conditions.ts';
import type { Pet } from '../../animals/pets/pet-schemas.ts';
import type { PictureFile } from '../../animals/photos/photo-json.ts';
import { type HoldReason, shownHolds } from '../../domain/holds.ts';
import { type PetStatus, petStatuses } from '../../domain/pet-statuses.ts';
import type { Db } from '../../platform/db/handles.ts';
import { idMax, indexRange } from './match-queries.ts';
import { Parameters } from './search-conditions.ts';

export interface StaffFilter {
  /** Undefined: of every shelter. */
  readonly shelterId?: bigint | undefined;
  readonly status?: PetStatus | undefined;
  /** Those that are held are all pending. */
  readonly isHeld?: boolean | undefined;
  readonly categoryId?: bigint | undefined;
  /** None of its photos can be shown. */
  readonly lacksPhoto?: boolean | undefined;
}

/** An animal as a list of staff shows it. */
export interface StaffAnimal extends Pet {
  /** Undefined: the category has no name. */
  readonly category: string | undefined;
  readonly shelter: { readonly id: bigint; readonly name: string };
  readonly hold: { readonly reason: HoldReason; readonly until: Date | null } | undefined;
  /** The smallest picture of the first photo that can be shown. */
  readonly thumbnail: PictureFile | undefined;
}

/** If no index has all filters, so many animals are looked through for a page. */
export const lookedThroughMax = 1_000;

/**
 * The newest animals that match, before an id. `endId`: they may not be all, and this is the last animal that was looked at; undefined:
 * there are no others, or the page is full.
 */
export async function walkAnimals(
  db: Db,
  filter: StaffFilter,
  { beforeId = idMax, limit }: { readonly beforeId: bigint | undefined; readonly limit: number },
): Promise<{ ids: bigint[]; endId: bigint | undefined }> {
  const parameters = new Parameters();
  const conditions = conditionsOf(filter, parameters);
  const count = conditions.length > 0 ? lookedThroughMax : limit;
  const walked = walkOf(filter, beforeId, count, parameters);
  const where = conditions.length > 0 ? `where ${conditions.join(' and ')}` : '';
  const { rows } = await db.query<{ id: bigint | null; endId: bigint | null }>({
    text: `with walked as materialized (${walked} order by id desc limit ${count}),
        found as materialized (select id from walked ${where} order by id desc limit ${parameters.add(limit)})
      select found.id, "endId" from (select case when count(*) = ${count} then min(id) end as "endId" from walked) ended
        left join found on true order by id desc`,
    values: parameters.values,
  });
  const ids = rows.flatMap(({ id }) => id ?? []);
  return { ids, endId: ids.length === limit ? undefined : (rows[0]?.endId ?? undefined) };
}

const columns = 'id, category_id, hold, hold_until';

/** By an index that begins with what is asked for: a row comparison, for the reasons that pet-queries.ts gives. */
function walkOf({ shelterId, status, isHeld, categoryId }: StaffFilter, beforeId: bigint, count: number, parameters: Parameters): string {
  if (shelterId !== undefined) {
    const wanted = isHeld ? ['pending'] : status === undefined ? petStatuses : [status];
    return `select found.* from unnest(${parameters.add(wanted)}::pet_status[]) as wanted (status), lateral (
      select ${columns} from pets where removed_at is null and shelter_id = ${parameters.add(shelterId)}
        and (status, id) < (wanted.status, ${parameters.add(beforeId)}) and status >= wanted.status
      order by shelter_id desc, status desc, id desc limit ${count}) as found`;
  }
  if (isHeld) {
    return `select found.* from unnest(${parameters.add(shownHolds)}::text[]) as wanted (hold), lateral (
      select ${columns} from pets where removed_at is null and hold is not null
        and (hold, id) < (wanted.hold, ${parameters.add(beforeId)}) and hold >= wanted.hold
      order by hold desc, id desc limit ${count}) as found`;
  }
  const { inRange, order } = indexRange({ status, categoryId, today: '' }, ['categoryId', 'status'], beforeId, parameters);
  return `select * from (select ${columns} from pets where removed_at is null and ${inRange} order by ${order} limit ${count}) as found`;
}

/** What is compared row by row. */
function conditionsOf({ shelterId, isHeld, categoryId, lacksPhoto }: StaffFilter, parameters: Parameters): string[] {
  return [
    ...(isHeld ? [`hold is not null and ${isInForce('hold_until')}`] : []),
    ...(categoryId !== undefined && (shelterId !== undefined || isHeld) ? [`category_id = ${parameters.add(categoryId)}`] : []),
    ...(lacksPhoto ? ["not exists (select from photos where photos.pet_id = walked.id and photos.status = 'ready')"] : []),
  ];
}

/** Those of the animals that match, also what an index of words can't find, in their order. */
export async function selectStaffAnimals(db: Db, ids: readonly bigint[], { isHeld, lacksPhoto }: StaffFilter = {}): Promise<StaffAnimal[]> {
  interface Row extends Pet {
    readonly category: string | null;
    readonly shelterId: bigint;
    readonly shelter: string;
    readonly reason: HoldReason | null;
    readonly until: Date | null;
    readonly files: readonly PictureFile[] | null;
  }
  const { rows } = await db.query<Row>({
    name: 'staff-animals',
    text: `select pets.id, pets.name, category_id as "categoryId", categories.name as category, pets.status, pets.shelter_id as "shelterId",
        shelters.name as shelter, case when ${isInForce('hold_until')} then hold_reason end as reason, hold_until as until, files
      from unnest($1::bigint[]) with ordinality as found (id, n) join pets on pets.id = found.id
        join categories on categories.id = category_id join shelters on shelters.id = pets.shelter_id
        left join lateral (select files from photos where photos.pet_id = pets.id and photos.status = 'ready'
          order by position, photos.id limit 1) photo on true
      where removed_at is null order by found.n`,
    values: [ids],
  });
  return rows
    .filter(({ reason, files }) => (!isHeld || reason !== null) && (!lacksPhoto || files === null))
    .map(({ category, shelterId, shelter, reason, until, files, ...pet }) => ({
      ...pet,
      category: category ?? undefined,
      shelter: { id: shelterId, name: shelter },
      hold: reason === null ? undefined : { reason, until },
      thumbnail: files?.toSorted((a, b) => a.width - b.width)[0],
    }));
}

/** The animals with this number: that of the store, or in a shelter that of the shelter. */
export async function selectByNumber(
  db: Db,
  number: { id: bigint | undefined; externalId: string },
  shelterId: bigint | undefined,
): Promise<bigint[]> {
  const { rows } = await db.query<{ id: bigint }>({
    name: 'animals-by-number',
    text: `select id from pets where id = $1 and removed_at is null and ($3::bigint is null or shelter_id = $3)
      union select pet_id from profiles where shelter_id = $3 and external_id = $2 and removed_at is null`,
    values: [number.id ?? null, number.externalId, shelterId ?? null],
  });
  return rows.map(({ id }) => id);
}

export type StateCounts = Readonly<Record<PetStatus | 'held', number>>;

/** How many animals have each status, and how many are held: of each `max` at most. */
export async function countStates(db: Db, shelterId: bigint | undefined, max: number): Promise<StateCounts> {
  const place = shelterId === undefined ? '' : 'and pets.shelter_id = $3';
  const held =
    shelterId === undefined
      ? `select count(*) from (select from pets where hold is not null and removed_at is null and ${isInForce('hold_until')} limit $2) held`
      : `select count(*) filter (where hold is not null and ${isInForce('hold_until')})
          from (select hold, hold_until from pets where removed_at is null and shelter_id = $3
            and (status, id) <= ('pending', ${idMax}) and status >= 'pending' order by shelter_id desc, status desc, id desc limit $2) pending`;
  const { rows } = await db.query<{ state: PetStatus | 'held'; count: bigint }>({
    name: shelterId === undefined ? 'count-states' : 'count-states-in-shelter',
    text: `select wanted.status::text as state, (select count(*) from (
          select from pets where removed_at is null ${place} and pets.status = wanted.status limit $2) counted) as count
        from unnest($1::pet_status[]) as wanted (status)
      union all select 'held', (${held})`,
    values: [petStatuses, max, ...(shelterId === undefined ? [] : [shelterId])],
  });
  return Object.fromEntries(rows.map(({ state, count }) => [state, Number(count)])) as StateCounts;
}
