import type { Db, Transaction } from '../db/handles.ts';
import type { Companion, TriState } from '../domain/profile-values.ts';
import type { StoredProfile } from './profile-changes.ts';

/** The columns in the order of the fields, and the value of each. */
const columns: ReadonlyArray<readonly [column: string, read: (profile: StoredProfile) => unknown]> = [
  ['description', ({ description }) => description],
  ['breed_primary', ({ breeds }) => breeds.primary],
  ['breed_secondary', ({ breeds }) => breeds.secondary],
  ['breed_mixed', ({ breeds }) => breeds.mixed],
  ['birth_date', ({ birthDate }) => birthDate],
  ['birth_date_is_exact', ({ birthDateIsExact }) => birthDateIsExact],
  ['sex', ({ sex }) => sex],
  ['size', ({ size }) => size],
  ['weight_grams', ({ weightGrams }) => weightGrams],
  ['colors', ({ colors }) => colors],
  ['coat', ({ coat }) => coat],
  ['good_with_children', ({ goodWith }) => goodWith.children],
  ['good_with_dogs', ({ goodWith }) => goodWith.dogs],
  ['good_with_cats', ({ goodWith }) => goodWith.cats],
  ['spayed_neutered', ({ spayedNeutered }) => spayedNeutered],
  ['house_trained', ({ houseTrained }) => houseTrained],
  ['vaccinated', ({ vaccinated }) => vaccinated],
  ['special_needs', ({ specialNeeds }) => specialNeeds],
  ['fee_amount', ({ adoptionFee }) => adoptionFee?.amount ?? null],
  ['fee_currency', ({ adoptionFee }) => adoptionFee?.currency ?? null],
  ['bonded_with', ({ bondedWith }) => bondedWith],
  ['tags', ({ tags }) => tags],
  ['video_url', ({ videoUrl }) => videoUrl],
  ['arrived_on', ({ arrivedOn }) => arrivedOn],
  ['external_id', ({ externalId }) => externalId],
  ['attributes', ({ attributes }) => (Object.keys(attributes).length === 0 ? null : JSON.stringify(attributes))],
];

/** Dates as text: a Date would be one in the time zone of the process. Animals that were removed since are left out. */
const expressions: Readonly<Record<string, string>> = {
  birth_date: `to_char(profiles.birth_date, 'YYYY-MM-DD')`,
  arrived_on: `to_char(profiles.arrived_on, 'YYYY-MM-DD')`,
  bonded_with: `array(select bonded.id from pets as bonded where bonded.id = any (profiles.bonded_with) and bonded.removed_at is null
    order by array_position(profiles.bonded_with, bonded.id))`,
};

const selected = columns.map(([column]) => `${expressions[column] ?? `profiles.${column}`} as ${column}`).join(', ');

type TriStateColumn = 'breed_mixed' | `good_with_${Companion}` | 'spayed_neutered' | 'house_trained' | 'vaccinated' | 'special_needs';
type TextColumn =
  | 'breed_primary'
  | 'breed_secondary'
  | 'birth_date'
  | 'fee_currency'
  | 'video_url'
  | 'arrived_on'
  | 'external_id'
  | 'attributes';

interface Row
  extends Pick<StoredProfile, 'description' | 'sex' | 'size' | 'colors' | 'coat' | 'tags'>,
    Record<TriStateColumn, TriState>,
    Record<TextColumn, string | null> {
  readonly birth_date_is_exact: boolean;
  readonly weight_grams: number | null;
  readonly fee_amount: bigint | null;
  /** The driver parses only single bigints. */
  readonly bonded_with: readonly string[];
}

/** Undefined if the animal does not exist or was removed. Its profile is undefined until it is written. */
export async function findProfile(db: Db, petId: bigint): Promise<{ shelterId: bigint; profile: StoredProfile | undefined } | undefined> {
  const { rows } = await db.query<Row & { shelterId: bigint; hasProfile: boolean }>({
    name: 'profile',
    text: `select pets.shelter_id as "shelterId", profiles.pet_id is not null as "hasProfile", ${selected}
      from pets left join profiles on profiles.pet_id = pets.id where pets.id = $1 and pets.removed_at is null`,
    values: [petId],
  });
  const [row] = rows;
  return row && { shelterId: row.shelterId, profile: row.hasProfile ? profileOfRow(row) : undefined };
}

/** The profiles that have been written, by the id of the animal. */
export async function selectProfiles(db: Db, petIds: readonly bigint[]): Promise<Map<bigint, StoredProfile>> {
  const { rows } = await db.query<Row & { petId: bigint }>({
    name: 'profiles',
    text: `select profiles.pet_id as "petId", ${selected} from profiles where profiles.pet_id = any($1::bigint[])`,
    values: [petIds],
  });
  return new Map(rows.map((row) => [row.petId, profileOfRow(row)]));
}

function profileOfRow(row: Row): StoredProfile {
  return {
    description: row.description,
    breeds: { primary: row.breed_primary, secondary: row.breed_secondary, mixed: row.breed_mixed },
    birthDate: row.birth_date,
    birthDateIsExact: row.birth_date_is_exact,
    sex: row.sex,
    size: row.size,
    weightGrams: row.weight_grams,
    colors: row.colors,
    coat: row.coat,
    goodWith: { children: row.good_with_children, dogs: row.good_with_dogs, cats: row.good_with_cats },
    spayedNeutered: row.spayed_neutered,
    houseTrained: row.house_trained,
    vaccinated: row.vaccinated,
    specialNeeds: row.special_needs,
    adoptionFee:
      row.fee_amount === null || row.fee_currency === null ? null : { amount: Number(row.fee_amount), currency: row.fee_currency },
    bondedWith: row.bonded_with.map(BigInt),
    tags: row.tags,
    videoUrl: row.video_url,
    arrivedOn: row.arrived_on,
    externalId: row.external_id,
    attributes: row.attributes === null ? {} : (JSON.parse(row.attributes) as Record<string, string>),
  };
}

const names = columns.map(([column]) => column);

/** The caller has locked the animal. */
export async function upsertProfile(tx: Transaction, petId: bigint, profile: StoredProfile): Promise<void> {
  await tx.query({
    name: 'upsert-profile',
    text: `insert into profiles (pet_id, shelter_id, ${names.join(', ')})
      values ($1, (select shelter_id from pets where id = $1), ${names.map((_, i) => `$${i + 2}`).join(', ')})
      on conflict (pet_id) do update set updated_at = now(), ${names.map((name) => `${name} = excluded.${name}`).join(', ')}`,
    values: [petId, ...columns.map(([, read]) => read(profile))],
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
