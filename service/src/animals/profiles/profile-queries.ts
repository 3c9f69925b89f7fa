import type { StoredProfile } from '../../domain/profile-fields.ts';
import { type Db, recentTransactionOf, runningTransaction, type Transaction } from '../../platform/db/handles.ts';
import type { ListingWriter, ShownChangeOf } from '../list-cache/catalogue.ts';
import { type ProfileRow, profileColumns, profileOfRow, selectedProfile } from './profile-columns.ts';

interface FoundProfile {
  /** Undefined until it is written. */
  readonly profile: StoredProfile | undefined;
  /** The transaction that has written the profile; null: that is more than a minute ago. */
  readonly writtenIn: string | null;
}

/** Undefined if the animal does not exist or was removed. */
export async function findProfile(db: Db, petId: bigint): Promise<FoundProfile | undefined> {
  const { rows } = await db.query<ProfileRow & { hasProfile: boolean; writtenIn: string | null }>({
    name: 'profile',
    text: `select profiles.pet_id is not null as "hasProfile", ${recentTransactionOf('profiles', 'updated_at')} as "writtenIn", ${selectedProfile}
      from pets left join profiles on profiles.pet_id = pets.id where pets.id = $1 and pets.removed_at is null`,
    values: [petId],
  });
  const [row] = rows;
  return row && { profile: row.hasProfile ? profileOfRow(row) : undefined, writtenIn: row.writtenIn };
}

const names = profileColumns.map(({ column }) => column);

/** The caller has locked the animal. */
export async function upsertProfile(
  tx: ListingWriter,
  petId: bigint,
  profile: StoredProfile,
  /** With the terms of the document from before. */
  changeOf: ShownChangeOf<{ termsBefore: readonly string[] }>,
): Promise<void> {
  await tx.writeListing(
    {
      name: 'upsert-profile',
      text: `insert into profiles (pet_id, shelter_id, ${names.join(', ')})
        values ($1, (select shelter_id from pets where id = $1), ${names.map((_, i) => `$${i + 2}`).join(', ')})
        on conflict (pet_id) do update set updated_at = now(), ${names.map((name) => `${name} = excluded.${name}`).join(', ')}
        returning ${runningTransaction} as "transactionId",
          coalesce((select tsvector_to_array(document) from listings where id = $1), '{}') as "termsBefore"`,
      values: [petId, ...profileColumns.map(({ write }) => write(profile))],
    },
    changeOf,
  );
}

/** What a search finds an animal by, beside what every animal has. */
interface FoundBy {
  readonly terms: readonly string[];
  readonly latitude: number | null;
  readonly longitude: number | null;
}

/**
 * Its shelter can't get another place before the commit: a page near that one would then be read without the change of the profile, and
 * not be invalidated by it.
 */
export async function lockFoundBy(tx: Transaction, petId: bigint): Promise<FoundBy> {
  const { rows } = await tx.query<FoundBy>({
    name: 'lock-found-by',
    text: `select tsvector_to_array(document) as terms, latitude, longitude
      from listings join shelters on shelters.id = listings.shelter_id where listings.id = $1 for share of shelters`,
    values: [petId],
  });
  const [row] = rows;
  if (!row) throw new Error('an animal with a profile has no listing');
  return row;
}

/** Those of the animals that exist. */
export async function findExisting(db: Db, ids: readonly bigint[]): Promise<bigint[]> {
  const { rows } = await db.query<{ id: bigint }>({
    name: 'existing-pets',
    text: 'select id from pets where id = any($1::bigint[]) and removed_at is null',
    values: [ids],
  });
  return rows.map(({ id }) => id);
}

/** Another animal with this externalId, of the same shelter as this one. */
export async function findExternalId(
  db: Db,
  petId: bigint,
  externalId: string,
): Promise<{ id: bigint; name: string; shelterId: bigint } | undefined> {
  const { rows } = await db.query<{ id: bigint; name: string; shelterId: bigint }>({
    name: 'pet-by-external-id',
    text: `select pets.id, pets.name, pets.shelter_id as "shelterId" from profiles join pets on pets.id = profiles.pet_id
      where profiles.shelter_id = (select shelter_id from pets where id = $1) and profiles.external_id = $2
        and profiles.removed_at is null and profiles.pet_id <> $1`,
    values: [petId, externalId],
  });
  return rows[0];
}
