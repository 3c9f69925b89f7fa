import type { StoredProfile } from '../../domain/profile-fields.ts';
import type { Db } from '../../platform/db/handles.ts';
import { recentTransactionOf, runningTransaction } from '../../platform/db/recent-transactions.ts';
import type { ListingWriter } from '../list-cache/catalogue.ts';
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

const breeds = (table: string) => `(${table}.breed_primary, ${table}.breed_secondary)`;

/** The caller has locked the animal. If the breeds change, it is noted which key has set them. */
export async function upsertProfile(tx: ListingWriter, petId: bigint, profile: StoredProfile, keyId: bigint): Promise<void> {
  await tx.writeListing({
    name: 'upsert-profile',
    text: `insert into profiles (pet_id, shelter_id, breeds_by, ${names.join(', ')})
      values ($1, (select shelter_id from pets where id = $1), $2, ${names.map((_, i) => `$${i + 3}`).join(', ')})
      on conflict (pet_id) do update set updated_at = now(), ${names.map((name) => `${name} = excluded.${name}`).join(', ')},
        breeds_by = case when ${breeds('profiles')} is distinct from ${breeds('excluded')} then excluded.breeds_by else profiles.breeds_by end
      returning ${runningTransaction} as "transactionId"`,
    values: [petId, keyId, ...profileColumns.map(({ write }) => write(profile))],
  });
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
