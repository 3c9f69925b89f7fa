/** Unknown is a separate value: it is never shown as no. */
export const triStates = ['yes', 'no', 'unknown'] as const;

export const knownSexes = ['male', 'female'] as const;
export const sexes = [...knownSexes, 'unknown'] as const;

/** From the smallest to the largest. */
export const sizes = ['small', 'medium', 'large', 'extra_large'] as const;
export type Size = (typeof sizes)[number];

export const coats = ['hairless', 'short', 'medium', 'long', 'wire', 'curly'] as const;

export const companions = ['children', 'dogs', 'cats'] as const;
export type Companion = (typeof companions)[number];

export const ageBands = ['baby', 'young', 'adult', 'senior'] as const;
export type AgeBand = (typeof ageBands)[number];

/** The age in whole years at which each band ends. An age is computed from the birth date and never stored. */
export const ageBandEndYears: Readonly<Record<AgeBand, number>> = { baby: 1, young: 3, adult: 8, senior: Number.POSITIVE_INFINITY };

/** The band of the age on a day, both given as YYYY-MM-DD. */
export function ageBandOf(birthDate: string, today: string): AgeBand {
  const birthdayIsAhead = today.slice(4) < birthDate.slice(4);
  const years = Number(today.slice(0, 4)) - Number(birthDate.slice(0, 4)) - (birthdayIsAhead ? 1 : 0);
  return ageBands.find((band) => years < ageBandEndYears[band]) ?? 'senior';
}

const descriptionLengthMax = 8_000;
const weightGramsMax = 10_000_000;
const colorsMax = 3;
const feeMax = 1_000_000_000_000;
const bondedMax = 10;
const tagsMax = 20;
const attributesMax = 50;

const triState = <Column extends string>(column: Column, about: string) =>
  ({ kind: 'choice', values: triStates, column, empty: 'unknown', about }) as const;

/**
 * The fields of a profile, in the order of its JSON. Types, schemas, the columns that are read and written, merges, checks and JSON come
 * from this table.
 */
export const profileFields = {
  description: {
    kind: 'text',
    lengthMax: descriptionLengthMax,
    column: 'description',
    empty: null,
    isListed: true,
    about: 'What adopters should know, as plain text.',
    example: 'Biscuit loves long walks.\nHe is shy with strangers.',
  },
  breeds: {
    kind: 'group',
    isListed: true,
    fields: {
      primary: { kind: 'line', column: 'breed_primary', empty: null, about: 'The breed, as free text.', example: 'Labrador Retriever' },
      secondary: { kind: 'line', column: 'breed_secondary', empty: null, about: 'A second breed.', example: 'Poodle' },
      mixed: triState('breed_mixed', 'Whether the animal is a mix of breeds.'),
      unknown: { kind: 'flag', column: undefined, empty: true, about: 'True if neither breed is given. Read-only.' },
    },
  },
  birthDate: {
    kind: 'day',
    column: 'birth_date',
    empty: null,
    isListed: true,
    about: 'The birth date, which may be an estimate. Not in the future.',
    example: '2024-05-01',
  },
  birthDateIsExact: {
    kind: 'flag',
    column: 'birth_date_is_exact',
    empty: false,
    isListed: true,
    about: 'Whether the birth date is known exactly. Always false without a birthDate.',
  },
  age: {
    kind: 'choice',
    values: ageBands,
    column: undefined,
    empty: null,
    isListed: true,
    about: 'The age today, by the birth date: under 1, 3 or 8 years, or older. Null without a birthDate. Read-only.',
  },
  sex: { kind: 'choice', values: sexes, column: 'sex', empty: 'unknown', isListed: true, about: 'The sex.' },
  size: { kind: 'choice', values: sizes, column: 'size', empty: null, isListed: true, about: 'The size when fully grown.' },
  weightGrams: {
    kind: 'integer',
    min: 1,
    max: weightGramsMax,
    column: 'weight_grams',
    empty: null,
    isListed: true,
    about: 'The weight in grams.',
    example: 24_500,
  },
  colors: {
    kind: 'labels',
    countMax: colorsMax,
    column: 'colors',
    empty: [],
    isListed: true,
    about: 'The colors, the main one first.',
    example: ['brown', 'white'],
  },
  coat: { kind: 'choice', values: coats, column: 'coat', empty: null, isListed: true, about: 'The coat.' },
  goodWith: {
    kind: 'group',
    isListed: true,
    fields: {
      children: triState('good_with_children', 'Whether the animal gets along with children.'),
      dogs: triState('good_with_dogs', 'Whether the animal gets along with dogs.'),
      cats: triState('good_with_cats', 'Whether the animal gets along with cats.'),
    } satisfies Record<Companion, PlainRow>,
  },
  spayedNeutered: { ...triState('spayed_neutered', 'Whether the animal is spayed or neutered.'), isListed: true },
  houseTrained: { ...triState('house_trained', 'Whether the animal is house-trained.'), isListed: true },
  vaccinated: { ...triState('vaccinated', 'Whether the animal has its vaccinations.'), isListed: true },
  specialNeeds: { ...triState('special_needs', 'Whether the animal needs special care.'), isListed: true },
  adoptionFee: {
    kind: 'fee',
    isListed: true,
    about: 'What an adopter pays.',
    fields: {
      amount: {
        kind: 'integer',
        min: 0,
        max: feeMax,
        column: 'fee_amount',
        empty: null,
        about: 'In minor units of the currency: cents.',
        example: 12_000,
      },
      currency: { kind: 'currency', column: 'fee_currency', empty: null, about: 'The code of the currency (ISO 4217).', example: 'EUR' },
    },
  },
  bondedWith: {
    kind: 'animals',
    countMax: bondedMax,
    column: 'bonded_with',
    empty: [],
    isListed: true,
    about: 'Ids of animals that should be adopted together with this one. Removed animals are left out.',
    example: [2],
  },
  tags: {
    kind: 'labels',
    countMax: tagsMax,
    column: 'tags',
    empty: [],
    isListed: true,
    about: 'Words to find or group animals by.',
    example: ['playful', 'calm indoors'],
  },
  videoUrl: {
    kind: 'url',
    column: 'video_url',
    empty: null,
    isListed: true,
    about: 'A video of the animal. The service never opens it.',
    example: 'https://video.example/biscuit',
  },
  arrivedOn: {
    kind: 'day',
    column: 'arrived_on',
    empty: null,
    isListed: true,
    about: 'When the animal came to the shelter. Not in the future.',
    example: '2026-10-20',
  },
  externalId: {
    kind: 'line',
    column: 'external_id',
    empty: null,
    isListed: true,
    about: "The shelter's own id of the animal, unique within the shelter.",
    example: 'A-4711',
  },
  attributes: {
    kind: 'pairs',
    countMax: attributesMax,
    column: 'attributes',
    empty: {},
    // Nobody searches by them, and those of a page of a hundred animals may have 12 MB.
    isListed: false,
    about: `Whatever else the shelter says, as at most ${attributesMax} pairs of strings. They are returned as they were sent, in the same order; names that are whole numbers come first.`,
    example: { 'Favourite toy': 'a red ball' },
  },
} as const satisfies Readonly<Record<string, FieldRow>>;

/** `isListed`: listings have it too. */
export type FieldRow = (PlainRow | GroupRow) & { readonly isListed: boolean };

/** A value of one column; undefined: it is computed, and no request sets it. `empty`: its value if nothing is known. */
export type PlainRow = { readonly column: string | undefined; readonly about: string } & (
  | { readonly kind: 'text'; readonly lengthMax: number; readonly empty: null; readonly example: string }
  | { readonly kind: 'line' | 'day' | 'url' | 'currency'; readonly empty: null; readonly example: string }
  | { readonly kind: 'integer'; readonly min: number; readonly max: number; readonly empty: null; readonly example: number }
  | { readonly kind: 'flag'; readonly empty: boolean }
  | { readonly kind: 'choice'; readonly values: readonly string[]; readonly empty: string | null }
  | { readonly kind: 'labels'; readonly countMax: number; readonly empty: readonly []; readonly example: readonly string[] }
  | { readonly kind: 'animals'; readonly countMax: number; readonly empty: readonly []; readonly example: readonly number[] }
  | { readonly kind: 'pairs'; readonly countMax: number; readonly empty: object; readonly example: Readonly<Record<string, string>> }
);

/** An object with a column for each of its fields. A `fee` has a value for all of them, or is null. */
type GroupRow = { readonly fields: Readonly<Record<string, PartRow>> } & (
  | { readonly kind: 'group' }
  | { readonly kind: 'fee'; readonly about: string }
);
export type PartRow = PlainRow & { readonly kind: 'line' | 'integer' | 'flag' | 'choice' | 'currency' };

export type PlainKind = PlainRow['kind'];
export type FieldKind = FieldRow['kind'];
export type RowOf<Kind extends FieldKind> = (PlainRow | GroupRow) & { readonly kind: Kind };

type Fields = typeof profileFields;
export type ProfileField = keyof Fields;

/** A profile as responses show it. */
export type Profile = ValuesOf<Fields>;

/** A profile as it is stored, without what is computed. */
export type StoredProfile = ValuesOf<StoredOf<Fields>>;

/** The body of a change. Null removes a value. */
export type ProfileChanges = { -readonly [Name in keyof StoredOf<Fields>]?: ChangeOf<StoredOf<Fields>[Name]> | null };

type StoredOf<Rows> = {
  [Name in keyof Rows as Rows[Name] extends { readonly column: undefined } ? never : Name]: Rows[Name] extends {
    readonly fields: infer Parts;
  }
    ? Omit<Rows[Name], 'fields'> & { readonly fields: StoredOf<Parts> }
    : Rows[Name];
};

export type ProfileColumn = ColumnOf<Fields[ProfileField]>;

type ColumnOf<Row> = Row extends { readonly column: infer Column extends string }
  ? Column
  : Row extends { readonly fields: infer Parts }
    ? ColumnOf<Parts[keyof Parts]>
    : never;

type ValuesOf<Rows> = { -readonly [Name in keyof Rows]: ValueOf<Rows[Name]> };

type ValueOf<Row> = Row extends { readonly kind: 'group'; readonly fields: infer Parts }
  ? ValuesOf<Parts>
  : Row extends { readonly kind: 'fee'; readonly fields: infer Parts }
    ? { -readonly [Name in keyof Parts]: KnownOf<Parts[Name]> } | null
    : KnownOf<Row> | (Row extends { readonly empty: null } ? null : never);

/** The value if it is known. */
type KnownOf<Row> = Row extends { readonly values: ReadonlyArray<infer Value> }
  ? Value
  : Row extends { readonly kind: keyof KnownValues }
    ? KnownValues[Row['kind']]
    : never;

interface KnownValues {
  readonly text: string;
  readonly line: string;
  readonly day: string;
  readonly url: string;
  readonly currency: string;
  readonly integer: number;
  readonly flag: boolean;
  readonly labels: string[];
  readonly animals: bigint[];
  readonly pairs: Record<string, string>;
}

type ChangeOf<Row> = Row extends { readonly fields: infer Parts }
  ? { -readonly [Name in keyof Parts]?: KnownOf<Parts[Name]> | null }
  : Row extends { readonly kind: 'pairs' }
    ? Record<string, string | null>
    : KnownOf<Row>;

export const fieldRows = Object.entries(profileFields) as ReadonlyArray<readonly [name: ProfileField, row: FieldRow]>;

const isStored = (row: FieldRow | PlainRow): boolean => !('column' in row) || row.column !== undefined;

export const storedRows = fieldRows.filter(([, row]) => isStored(row)) as ReadonlyArray<
  readonly [name: keyof StoredProfile, row: FieldRow]
>;

/** The fields of a group that are stored. */
export const storedParts = ({ fields }: GroupRow): Array<[name: string, row: PartRow]> =>
  Object.entries(fields).filter(([, row]) => isStored(row));

/** The names of the stored fields of a kind. */
export const fieldsOf = <Kind extends FieldKind>(kind: Kind) =>
  storedRows.flatMap(([name, row]) => (row.kind === kind ? name : [])) as Array<
    { [Name in keyof StoredProfile]: Fields[Name] extends { readonly kind: Kind } ? Name : never }[keyof StoredProfile]
  >;
