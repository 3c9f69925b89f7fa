import { isInForce } from '../../animals/pets/hold-conditions.ts';
import type { PublicHold } from '../../animals/pets/pet-json.ts';
import type { Pet } from '../../animals/pets/pet-schemas.ts';
import type { PhotoRow } from '../../animals/photos/photos.ts';
import { listedProfile, namedAnimals, type ProfileRow, profileOfRow } from '../../animals/profiles/profile-columns.ts';
import type { StoredProfile } from '../../domain/profile-fields.ts';
import type { Db } from '../../platform/db/handles.ts';
import type { ListingShelter } from './listing-schemas.ts';
import type { Found } from './listing-search.ts';

/** All that a listing shows. */
export interface ListingRow {
  readonly found: Found;
  readonly pet: Pet;
  readonly shelter: ListingShelter;
  /** Undefined: nobody has written it. */
  readonly profile: StoredProfile | undefined;
  /** The animals that its profile names, also those that it doesn't show since they were removed. */
  readonly namedIds: readonly bigint[];
  /** Those that can be shown, in their order. */
  readonly photos: readonly PhotoRow[];
  /** Undefined: it is not held. */
  readonly hold: PublicHold | undefined;
}

interface Row extends ProfileRow, Pet {
  readonly n: bigint;
  readonly shelterId: bigint;
  readonly shelter: Omit<ListingShelter, 'id'>;
  readonly hasProfile: boolean;
  readonly hold: PublicHold['shown'] | null;
  readonly holdUntil: Date | null;
  /** Null: there is no profile. */
  readonly namedIds: readonly bigint[] | null;
  /** With the id as text: as a number of JSON it would not be exact. */
  readonly photos: ReadonlyArray<Omit<PhotoRow, 'id' | 'petId'> & { readonly id: string }>;
}

const shelterColumns =
  'shelters.name, shelters.address, shelters.town, shelters.postcode, shelters.country, shelters.latitude, shelters.longitude, shelters.website, shelters.email, shelters.phone';

/** Reads the animals that were found, in their order, and all that is shown of them. */
export async function selectListings(db: Db, found: readonly Found[]): Promise<ListingRow[]> {
  const { rows } = await db.query<Row>({
    name: 'listings',
    text: `select found.n, pets.id, pets.name, pets.category_id as "categoryId", pets.status,
        case when ${isInForce('hold_until')} then hold end as hold, hold_until as "holdUntil",
        pets.shelter_id as "shelterId", (select to_json(shown) from (select ${shelterColumns}) shown) as shelter,
        profiles.pet_id is not null as "hasProfile", ${listedProfile}, ${namedAnimals} as "namedIds",
        coalesce((select json_agg(shown order by position, photo_id) from (
          select position, photos.id as photo_id, photos.id::text as id, photos.status, alt, width, height, placeholder, files, failure
            from photos where photos.pet_id = pets.id and photos.status = 'ready') shown), '[]') as photos
      from unnest($1::bigint[]) with ordinality as found (id, n)
        join pets on pets.id = found.id join shelters on shelters.id = pets.shelter_id left join profiles on profiles.pet_id = pets.id
      order by found.n`,
    values: [found.map(({ id }) => id)],
  });
  return rows.map((row) => {
    const { n, id, name, categoryId, status, shelterId, hold, holdUntil } = row;
    return {
      found: found[Number(n) - 1] as Found,
      pet: { id, name, categoryId, status },
      shelter: { id: shelterId, ...row.shelter },
      profile: row.hasProfile ? profileOfRow(row) : undefined,
      namedIds: row.namedIds ?? [],
      photos: row.photos.map((photo) => ({ ...photo, id: BigInt(photo.id), petId: id })),
      hold: hold === null ? undefined : { shown: hold, until: holdUntil },
    };
  });
}
