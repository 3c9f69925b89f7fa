import { type PetStatus, petStatuses } from './pet-statuses.ts';
import { ageBands, coats, companions, knownSexes, sizes } from './profile-values.ts';

export const withinKmDefault = 100;
const withinKmMax = 500;
const idsMax = 100;
const wordsLengthMax = 100;

/**
 * The filters of a search for animals, in the order of the documentation and of links. The parameters of the request, the conditions
 * and terms of the search, the links to the next page, the types of the SDK and what invalidates a cached page come from this table.
 */
export const listingFilters = {
  status: {
    kind: 'choice',
    values: petStatuses,
    of: 'animal',
    footprint: 'status',
    column: 'status',
    // Every order changes it, and should not change the document.
    term: undefined,
    about: 'Only animals with this status. Without it, those of every status.',
  },
  categoryId: {
    kind: 'id',
    of: 'animal',
    footprint: 'categoryId',
    column: 'category_id',
    term: 'category',
    about: 'Only animals of this category.',
  },
  shelterId: { kind: 'id', of: 'shelter', column: 'shelter_id', term: 'shelter', about: 'Only animals of this shelter.' },
  id: {
    kind: 'ids',
    countMax: idsMax,
    of: 'animal',
    footprint: 'ids',
    column: 'id',
    term: undefined,
    about: `Only animals with these ids, at most ${idsMax}.`,
  },
  q: {
    kind: 'words',
    lengthMax: wordsLengthMax,
    of: 'animal',
    // Any may be given a name that has the words.
    footprint: 'everyAnimal',
    term: undefined,
    about:
      'Words of the name, the breeds, the tags or the description, all of which the animal must have. Accents and case do not matter, and a word that no animal has is replaced by the most similar one of a name or a breed.',
    example: 'shy labrador',
  },
  breed: {
    kind: 'breed',
    lengthMax: wordsLengthMax,
    of: 'profile',
    column: 'breeds',
    term: 'breed',
    about: 'Only animals of this breed. Accents and case do not matter.',
    example: 'Labrador Retriever',
  },
  age: {
    kind: 'age',
    values: ageBands,
    of: 'profile',
    column: 'birth_date',
    term: 'born',
    about: 'baby: under 1 year, young: under 3, adult: under 8, senior: 8 years or older.',
  },
  sex: {
    kind: 'choice',
    values: knownSexes,
    of: 'profile',
    column: 'sex',
    term: 'sex',
    about: 'Only animals that are known to be of this sex.',
  },
  size: { kind: 'choice', values: sizes, of: 'profile', column: 'size', term: 'size', about: 'Only animals of this size.' },
  coat: { kind: 'choice', values: coats, of: 'profile', column: 'coat', term: 'coat', about: 'Only animals with this coat.' },
  goodWith: {
    kind: 'choices',
    values: companions,
    of: 'profile',
    column: 'good_with',
    term: 'with',
    about: 'Only animals that are known to get along with them. Repeat it to ask for several.',
  },
  near: {
    kind: 'place',
    of: 'shelter',
    term: undefined,
    about: 'Only animals of shelters near this place: its latitude and longitude in degrees, rounded to 0.01.',
    example: '48.2,16.37',
  },
  withinKm: {
    kind: 'radius',
    max: withinKmMax,
    of: 'shelter',
    term: undefined,
    about: `How near, in kilometres; ${withinKmDefault} if it is not given. Only with \`near\`.`,
  },
} as const satisfies Readonly<Record<string, FilterRow>>;

export type FilterRow = { readonly about: string } & Subject & Comparison;

/**
 * What a filter asks about.
 * - `profile`: only animals that have a profile can match, so the index of words has a term for it. A change of a profile invalidates
 *   the pages that show the animal, and those whose terms it has or had.
 * - `shelter`: a change of a shelter invalidates the pages that show it, and all that ask for a place if it has another one.
 * - `animal`: a change of an animal invalidates the pages with its values, before or after, in this part of their footprint.
 *
 * `term`: the document of an animal has the word `term=value`. Undefined: it has none.
 */
type Subject =
  | { readonly of: 'profile'; readonly term: string }
  | { readonly of: 'shelter'; readonly term: string | undefined }
  | ({ readonly of: 'animal'; readonly term: string | undefined } & (
      | { readonly footprint: 'status'; readonly kind: 'choice'; readonly values: readonly PetStatus[] }
      | { readonly footprint: 'categoryId'; readonly kind: 'id' }
      | { readonly footprint: 'ids'; readonly kind: 'ids' }
      | { readonly footprint: 'everyAnimal' }
    ));

/** How a filter compares, which is what its parameter, its condition and its term are made from. */
type Comparison = ColumnComparison | OtherComparison;

/** With a column of listings. A filter that is not `of` a profile needs the same column of pets. */
type ColumnComparison = { readonly column: string } & (
  | { readonly kind: 'choice'; readonly values: readonly string[] }
  /** May be repeated: the animal must have all of the values, which the column has as an array. */
  | { readonly kind: 'choices'; readonly values: readonly string[] }
  | { readonly kind: 'id' }
  /** May be repeated: the animal must have one of them. */
  | { readonly kind: 'ids'; readonly countMax: number; readonly term: undefined }
  /** Compares dates of birth. */
  | { readonly kind: 'age'; readonly values: typeof ageBands }
  /** Compares breeds without accents and case. */
  | { readonly kind: 'breed'; readonly lengthMax: number; readonly example: string }
);

/** One filter each, with its own part of a search: the words of the document, and the shelters near a place. */
type OtherComparison =
  | { readonly kind: 'words'; readonly lengthMax: number; readonly example: string }
  | { readonly kind: 'place'; readonly example: string }
  | { readonly kind: 'radius'; readonly max: number };

export type FilterKind = FilterRow['kind'];
export type ColumnKind = ColumnFilterRow['kind'];
export type TermKind = Exclude<ColumnKind, 'ids'>;
export type ColumnFilterRow = FilterRow & ColumnComparison;
export type FilterRowOf<Kind extends FilterKind> = Extract<FilterRow, { readonly kind: Kind }>;

type Filters = typeof listingFilters;
export type FilterName = keyof Filters;
type NamesOf<Part> = { [Name in FilterName]: Filters[Name] extends Part ? Name : never }[FilterName];
export type ColumnFilterName = NamesOf<{ readonly column: string }>;
export type AnimalFilterName = NamesOf<{ readonly of: 'animal' }>;
export const filterRows = Object.entries(listingFilters) as ReadonlyArray<readonly [name: FilterName, row: FilterRow]>;

/** The filters of a request, as its schema has validated them. */
export type FilterValues = { readonly [Name in FilterName]?: FilterValue<Filters[Name]> | undefined };

export type FilterValue<Row extends FilterRow> = Row extends {
  readonly kind: 'choice' | 'age';
  readonly values: ReadonlyArray<infer Value>;
}
  ? Value
  : Row extends { readonly kind: 'choices'; readonly values: ReadonlyArray<infer Value> }
    ? Value[]
    : OtherValues[Exclude<FilterKind, 'choice' | 'choices' | 'age'> & Row['kind']];

interface OtherValues {
  readonly id: bigint;
  readonly ids: bigint[];
  readonly breed: string;
  readonly words: string;
  readonly place: string;
  readonly radius: number;
}
