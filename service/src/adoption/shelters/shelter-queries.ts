import type { ListingWriter } from '../../animals/list-cache/catalogue.ts';
import { noWords, type ShelterWords, type WordField, wordFields } from '../../domain/shelters.ts';
import { type Db, recentTransactionOf, runningTransaction, type Transaction } from '../../platform/db/handles.ts';
import { type Shelter, type ShelterValues, shelterFields } from './shelter-schemas.ts';

const columnOf = (field: keyof ShelterValues): string => field.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
const columns = ['id', ...shelterFields.map(columnOf)]
  .map((column, i) => `shelters.${column} as "${['id', ...shelterFields][i]}"`)
  .join(', ');

/** One keyset page. */
export async function selectShelters(db: Db, page: { afterId: bigint | undefined; limit: number }): Promise<Shelter[]> {
  const { rows } = await db.query<Shelter>({
    name: 'shelters',
    text: `select ${columns} from shelters where id > $1 order by id limit $2`,
    values: [page.afterId ?? 0n, page.limit],
  });
  return rows;
}

export async function findShelter(db: Db, id: bigint): Promise<Shelter | undefined> {
  const { rows } = await db.query<Shelter>({ name: 'shelter', text: `select ${columns} from shelters where id = $1`, values: [id] });
  return rows[0];
}

/** Locks the shelter until the transaction ends. */
export async function lockShelter(tx: Transaction, id: bigint): Promise<{ shelter: Shelter; changedIn: string | null } | undefined> {
  const { rows } = await tx.query<Shelter & { changedIn: string | null }>({
    name: 'lock-shelter',
    // A shelter that was only added is in no listing.
    text: `select ${columns}, case when updated_at > created_at then ${recentTransactionOf('shelters', 'updated_at')} end as "changedIn"
      from shelters where id = $1 for no key update`,
    values: [id],
  });
  const [row] = rows;
  if (!row) return undefined;
  const { changedIn, ...shelter } = row;
  return { shelter, changedIn };
}

const valuesOf = (shelter: ShelterValues) => shelterFields.map((field) => shelter[field]);

export async function insertShelter(tx: Transaction, shelter: ShelterValues): Promise<Shelter> {
  const { rows } = await tx.query<Shelter>({
    name: 'insert-shelter',
    text: `insert into shelters (${shelterFields.map(columnOf).join(', ')}) values (${shelterFields.map((_, i) => `$${i + 1}`).join(', ')}) returning ${columns}`,
    values: valuesOf(shelter),
  });
  const [inserted] = rows;
  if (!inserted) throw new Error('an insert returned no row');
  return inserted;
}

/**
 * The caller has locked it. Every change is announced, also one that no listing shows: a retry acknowledges the transaction, and one that
 * was not announced would then cost every cached list. `isMoved`: searches for a place may find another.
 */
export async function updateShelter(tx: ListingWriter, shelter: Shelter, isMoved: boolean): Promise<Shelter> {
  const [updated] = await tx.writeListing<Shelter>(
    {
      name: 'update-shelter',
      text: `update shelters set ${shelterFields.map((field, i) => `${columnOf(field)} = $${i + 2}`).join(', ')}, updated_at = now() where id = $1
        returning ${columns}, ${runningTransaction} as "transactionId"`,
      values: [shelter.id, ...valuesOf(shelter)],
    },
    ({ id }) => ({ of: 'shelter', shelterId: id, isMoved }),
  );
  if (!updated) throw new Error('a locked shelter does not exist');
  return updated;
}

const isWaiting = (field: WordField) =>
  `(shelters.${columnOf(field)} is not null and shelters.${columnOf(field)} is distinct from confirmed_shelters.${columnOf(field)})`;

const confirmedColumns = wordFields.map((field) => `confirmed_shelters.${columnOf(field)} as "${field}"`).join(', ');
const confirmedJson = `json_build_object(${wordFields.map((field) => `'${field}', confirmed_shelters.${columnOf(field)}`).join(', ')})`;

/** Those that say what nobody has confirmed, by id, with what was confirmed. The table is read whole: this is rarely asked. */
export async function selectWaiting(
  db: Db,
  { afterId, limit, fields }: { readonly afterId: bigint; readonly limit: number; readonly fields: readonly WordField[] },
): Promise<Array<{ readonly shelter: Shelter; readonly confirmed: ShelterWords }>> {
  const { rows } = await db.query<Shelter & { confirmed: ShelterWords | null }>({
    text: `select ${columns}, case when shelter_id is not null then ${confirmedJson} end as confirmed
      from shelters left join confirmed_shelters on shelter_id = shelters.id
      where shelters.id > $1 and (${fields.map(isWaiting).join(' or ')}) order by shelters.id limit $2`,
    values: [afterId, limit],
  });
  return rows.map(({ confirmed, ...shelter }) => ({ shelter, confirmed: confirmed ?? noWords }));
}

/** Stable while the shelter is locked. */
export async function findConfirmed(db: Db, id: bigint): Promise<ShelterWords> {
  const { rows } = await db.query<ShelterWords>({
    name: 'confirmed-shelter',
    text: `select ${confirmedColumns} from confirmed_shelters where shelter_id = $1`,
    values: [id],
  });
  return rows[0] ?? noWords;
}

/** The shelter is locked, or was just added. */
export async function upsertConfirmed(tx: Transaction, id: bigint, words: ShelterWords): Promise<void> {
  await tx.query({
    name: 'confirm-shelter',
    text: `insert into confirmed_shelters (shelter_id, ${wordFields.map(columnOf).join(', ')}) values ($1, ${wordFields.map((_, i) => `$${i + 2}`).join(', ')})
      on conflict (shelter_id) do update set ${wordFields
        .map(columnOf)
        .map((column) => `${column} = excluded.${column}`)
        .join(', ')}`,
    values: [id, ...wordFields.map((field) => words[field])],
  });
}

/** The animal that has the externalId of this one in a shelter; undefined: none. */
export async function findPetWithSameExternalId(db: Db, petId: bigint, shelterId: bigint): Promise<ExternalIdOwner | undefined> {
  const { rows } = await db.query<ExternalIdOwner>({
    text: `select pets.id, pets.name, other.external_id as "externalId" from profiles as own
        join profiles as other on other.shelter_id = $2 and other.external_id = own.external_id
        join pets on pets.id = other.pet_id
      where own.pet_id = $1 and other.pet_id <> $1 and other.removed_at is null`,
    values: [petId, shelterId],
  });
  return rows[0];
}

export interface ExternalIdOwner {
  readonly id: bigint;
  readonly name: string;
  readonly externalId: string;
}

export async function selectShelterNames(db: Db, ids: readonly bigint[]): Promise<ReadonlyMap<bigint, string>> {
  const { rows } = await db.query<{ id: bigint; name: string }>({
    name: 'shelter-names',
    text: 'select id, name from shelters where id = any($1::bigint[])',
    values: [ids],
  });
  return new Map(rows.map(({ id, name }) => [id, name]));
}

/** A shelter as a list of the store's staff names it. */
export interface NamedShelter {
  readonly id: bigint;
  readonly name: string;
  readonly town: string | null;
}

const after = '($1::bigint is null or (lower(name), id) > (select lower(name), id from shelters where id = $1))';

/** By name, from after the shelter `afterId` on. With a text, those that have it in their name or town, or as their number: then the table is read whole. */
export async function selectSheltersByName(
  db: Db,
  { text, number, afterId, limit }: { text: string; number: bigint | undefined; afterId: bigint | undefined; limit: number },
): Promise<NamedShelter[]> {
  const { rows } =
    text === ''
      ? await db.query<NamedShelter>({
          name: 'shelters-by-name',
          text: `select id, name, town from shelters where ${after} order by lower(name), id limit $2`,
          values: [afterId ?? null, limit],
        })
      : await db.query<NamedShelter>({
          name: 'shelters-found',
          text: `select id, name, town from shelters
            where ${after} and (id = $4 or strpos(lower(name), lower($3)) > 0 or strpos(lower(town), lower($3)) > 0) order by lower(name), id limit $2`,
          values: [afterId ?? null, limit, text, number ?? null],
        });
  return rows;
}

/** Those with the text in their name, and the one with the number. The table is read whole: this is rarely asked. */
export async function selectSheltersCalled(
  db: Db,
  text: string,
  number: bigint | undefined,
  limit: number,
): Promise<Array<{ readonly id: bigint; readonly name: string; readonly isMeant: boolean }>> {
  const { rows } = await db.query<{ id: bigint; name: string; isMeant: boolean }>({
    name: 'shelters-called',
    text: `select id, name, lower(name) = lower($1) or id = coalesce($2, 0) as "isMeant" from shelters
      where id = $2 or strpos(lower(name), lower($1)) > 0 order by 3 desc, id limit $3`,
    values: [text, number ?? null, limit],
  });
  return rows;
}
