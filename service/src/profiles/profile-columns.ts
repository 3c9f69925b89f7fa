import type { Companion, TriState } from '../domain/profile-values.ts';
import type { StoredProfile } from './profile-changes.ts';

/** The columns in the order of the fields, and the value of each. */
export const profileColumns: ReadonlyArray<readonly [column: string, read: (profile: StoredProfile) => unknown]> = [
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

const select = (columns: Readonly<Record<string, string>>) =>
  profileColumns.map(([column]) => `${columns[column] ?? `profiles.${column}`} as ${column}`).join(', ');

/** What a ProfileRow is selected by. */
export const selectedProfile = select(expressions);

/** The same without the attributes: no listing shows them, and those of a page of a hundred animals may have 12 MB. */
export const listedProfile = select({ ...expressions, attributes: 'null' });

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

export interface ProfileRow
  extends Pick<StoredProfile, 'description' | 'sex' | 'size' | 'colors' | 'coat' | 'tags'>,
    Record<TriStateColumn, TriState>,
    Record<TextColumn, string | null> {
  readonly birth_date_is_exact: boolean;
  readonly weight_grams: number | null;
  readonly fee_amount: bigint | null;
  /** The driver parses only single bigints. */
  readonly bonded_with: readonly string[];
}

export function profileOfRow(row: ProfileRow): StoredProfile {
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
