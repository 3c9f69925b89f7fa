import type { Db, Transaction } from '../db/handles.ts';
import type { StoredProfile } from './profile-changes.ts';
import { type ProfileRow, profileColumns, profileOfRow, selectedProfile } from './profile-columns.ts';

interface FoundProfile {
  readonly shelterId: bigint;
  /** Undefined until it is written. */
  readonly profile: StoredProfile | undefined;
  /** It was written in the last minute. No transaction takes that long: its statements and its pauses have timeouts. */
  readonly isRecent: boolean;
}

/** Undefined if the animal does not exist or was removed. */
export async function findProfile(db: Db, petId: bigint): Promise<FoundProfile | undefined> {
  const { rows } = await db.query<ProfileRow & { shelterId: bigint; hasProfile: boolean; isRecent: boolean }>({
    name: 'profile',
    text: `select pets.shelter_id as "shelterId", profiles.pet_id is not null as "hasProfile",
        coalesce(profiles.updated_at > now() - interval '1 minute', false) as "isRecent", ${selectedProfile}
      from pets left join profiles on profiles.pet_id = pets.id where pets.id = $1 and pets.removed_at is null`,
    values: [petId],
  });
  const [row] = rows;
  return row && { shelterId: row.shelterId, profile: row.hasProfile ? profileOfRow(row) : undefined, isRecent: row.isRecent };
}

const names = profileColumns.map(([column]) => column);

/** The caller has locked the animal. */
export async function upsertProfile(tx: Transaction, petId: bigint, profile: StoredProfile): Promise<void> {
  await tx.query({
    name: 'upsert-profile',
    text: `insert into profiles (pet_id, shelter_id, ${names.join(', ')})
      values ($1, (select shelter_id from pets where id = $1), ${names.map((_, i) => `$${i + 2}`).join(', ')})
      on conflict (pet_id) do update set updated_at = now(), ${names.map((name) => `${name} = excluded.${name}`).join(', ')}`,
    values: [petId, ...profileColumns.map(([, read]) => read(profile))],
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
