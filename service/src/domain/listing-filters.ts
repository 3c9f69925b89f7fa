import { type ShownHold, shownHolds } from './holds.ts';
import { breedSpellings, colorSpellings, type Spellings } from './label-spellings.ts';
import { type PetStatus, petStatuses } from './pet-statuses.ts';
import { ageBands, coats, companions, knownSexes, type Size, sizes } from './profile-fields.ts';

export const withinKmDefault = 100;
const withinKmMax = 500;
const idsMax = 100;
const wordsLengthMax = 100;
const colorsMax = 3;
const exclusionsMax = 10;
/** A tortoise may be as old as that. */
const ageMonthsMax = 1_200;

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
  hold: {
    kind: 'hold',
    values: shownHolds,
    of: 'animal',
    // Any may be held: it is no status of its own.
    footprint: 'everyAnimal',
    column: 'id',
    // It ends at its time, without a change of the document.
    term: undefined,
    about: 'Only animals that are held for this reason. They are all pending.',
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
      'What people type: phrases such as small dog, puppy, good with cats or in Vienna become filters, and the other words must be in the name, the breeds, the colors, the tags or the description. `Content-Location` says what was understood, and `Search-Notes` what was left out or corrected. Words in quotes are searched as words. Accents and case do not matter, and a word that no animal has is replaced by the most similar one of a name or a breed.',
    example: 'shy labrador',
  },
  spelling: {
    kind: 'spelling',
    values: ['exact'],
    of: 'animal',
    footprint: 'everyAnimal',
    term: undefined,
    about: 'exact: a misspelt word of `q` is not corrected. Without it, `Search-Notes` says what was corrected.',
  },
  name: {
    kind: 'name',
    lengthMax: wordsLengthMax,
    of: 'animal',
    footprint: 'everyAnimal',
    term: undefined,
    about: 'Words of the name, all of which it must have. Accents and case do not matter.',
    example: 'biscuit',
  },
  orNamed: {
    kind: 'orNamed',
    lengthMax: wordsLengthMax,
    of: 'animal',
    footprint: 'everyAnimal',
    term: undefined,
    about: 'By relevance, animals with exactly this name come first, also those that are not what the name means as words of `q`.',
    example: 'ginger',
  },
  breed: {
    kind: 'label',
    lengthMax: wordsLengthMax,
    spellings: breedSpellings,
    of: 'profile',
    column: 'breeds',
    // The words themselves.
    term: undefined,
    about:
      'Only animals of a breed with these words: retriever also finds a Golden Retriever. Accents, case and usual spellings do not matter.',
    example: 'Labrador Retriever',
  },
  color: {
    kind: 'labels',
    countMax: colorsMax,
    lengthMax: wordsLengthMax,
    spellings: colorSpellings,
    of: 'profile',
    column: 'colors',
    term: undefined,
    about: 'Only animals with a color with these words: brown also finds light brown. Repeat it to ask for several.',
    example: 'black',
  },
  age: {
    kind: 'age',
    values: ageBands,
    of: 'profile',
    column: 'birth_date',
    term: 'born',
    about: 'baby: under 1 year, young: under 3, adult: under 8, senior: 8 years or older.',
  },
  ageMonthsMin: {
    kind: 'months',
    is: 'min',
    max: ageMonthsMax,
    of: 'profile',
    column: 'birth_date',
    term: 'born',
    about: 'Only animals of so many months or more. Months are completed ones: 24 is two years old.',
  },
  ageMonthsMax: {
    kind: 'months',
    is: 'max',
    max: ageMonthsMax,
    of: 'profile',
    column: 'birth_date',
    term: 'born',
    about: 'Only animals of so many completed months or fewer: 23 is under two years.',
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
  sizeMin: {
    kind: 'sizes',
    is: 'min',
    values: sizes,
    of: 'profile',
    column: 'size',
    term: 'size',
    about: 'Only animals of this size or a larger one.',
  },
  sizeMax: {
    kind: 'sizes',
    is: 'max',
    values: sizes,
    of: 'profile',
    column: 'size',
    term: 'size',
    about: 'Only animals of this size or a smaller one.',
  },
  coat: { kind: 'choice', values: coats, of: 'profile', column: 'coat', term: 'coat', about: 'Only animals with this coat.' },
  goodWith: {
    kind: 'choices',
    values: companions,
    of: 'profile',
    column: 'good_with',
    term: 'with',
    about: 'Only animals that are known to get along with them. Repeat it to ask for several.',
  },
  not: {
    kind: 'not',
    countMax: exclusionsMax,
    of: 'animal',
    // Any may be one that is left out.
    footprint: 'everyAnimal',
    column: 'id',
    term: undefined,
    about:
      'Leaves out animals that are known to be so: `size:small`, or by several filters at once `categoryId:1,age:baby`. Filters are categoryId, breed, color, age, ageMonthsMin, ageMonthsMax, sex, size, sizeMin, sizeMax, coat and goodWith. Repeat it to leave out others as well.',
    example: 'goodWith:cats',
  },
  town: {
    kind: 'address',
    lengthMax: wordsLengthMax,
    of: 'shelter',
    term: undefined,
    about: 'Only animals of shelters in this town. Accents and case do not matter.',
    example: 'Vienna',
  },
  postcode: {
    kind: 'address',
    lengthMax: wordsLengthMax,
    of: 'shelter',
    term: undefined,
    about: 'Only animals of shelters with this postcode. Case and spaces do not matter.',
    example: '1020',
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

export type FilterRow = { readonly about: string } & ((Subject & Comparison) | LabelRow);

/**
 * What a filter asks about.
 * - `profile`: only animals that have a profile can match, so the index of words has a term for it; for labels their own words are. A
 *   change of a profile invalidates the pages that show the animal, and those whose terms it has or had.
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
  /** Looks for a hold of the animal with this id. */
  | { readonly kind: 'hold'; readonly values: readonly ShownHold[]; readonly term: undefined }
  /** Compares dates of birth. */
  | { readonly kind: 'age'; readonly values: typeof ageBands }
  /** May be repeated: the animal must not match any of them. Each names filters with a column. */
  | { readonly kind: 'not'; readonly countMax: number; readonly term: undefined; readonly example: string }
  | { readonly kind: 'months'; readonly is: 'min' | 'max'; readonly max: number }
  | { readonly kind: 'sizes'; readonly is: 'min' | 'max'; readonly values: typeof sizes }
);

/** Finds words in the texts of a column that has an array of them, without accents and case. The document has the same words. */
type LabelRow = {
  readonly of: 'profile';
  readonly term: undefined;
  readonly column: string;
  readonly lengthMax: number;
  /** The usual spellings of what is meant. */
  readonly spellings: Spellings;
  readonly example: string;
} & (
  | { readonly kind: 'label' }
  /** May be repeated: the animal must have all of them. */
  | { readonly kind: 'labels'; readonly countMax: number }
);

/** Each with its own part of a search: the words of the document, and the shelters in or near a place. */
type OtherComparison =
  | { readonly kind: 'words' | 'name' | 'orNamed'; readonly lengthMax: number; readonly example: string }
  | { readonly kind: 'spelling'; readonly values: readonly string[] }
  /** Of the shelter: its column has the name of the filter. */
  | { readonly kind: 'address'; readonly lengthMax: number; readonly example: string }
  | { readonly kind: 'place'; readonly example: string }
  | { readonly kind: 'radius'; readonly max: number };

export type FilterKind = FilterRow['kind'];
export type ColumnKind = ColumnFilterRow['kind'];
export type TermKind = Exclude<ColumnKind, 'ids' | 'hold' | 'not'>;
export type ColumnFilterRow = FilterRow & (ColumnComparison | LabelRow);
export type FilterRowOf<Kind extends FilterKind> = Extract<FilterRow, { readonly kind: Kind }>;

type Filters = typeof listingFilters;
export type FilterName = keyof Filters;
type NamesOf<Part> = { [Name in FilterName]: Filters[Name] extends Part ? Name : never }[FilterName];
export type ColumnFilterName = NamesOf<{ readonly column: string }>;
export type AddressFilterName = NamesOf<{ readonly kind: 'address' }>;
export type AnimalFilterName = NamesOf<{ readonly of: 'animal' }>;
export const filterRows = Object.entries(listingFilters) as ReadonlyArray<readonly [name: FilterName, row: FilterRow]>;

/** The filters of a request, as its schema has validated them. */
export type FilterValues = { readonly [Name in FilterName]?: FilterValue<Filters[Name]> | undefined };

export type FilterValue<Row extends FilterRow> = Row extends {
  readonly kind: 'choice' | 'sizes' | 'age' | 'hold' | 'spelling';
  readonly values: ReadonlyArray<infer Value>;
}
  ? Value
  : Row extends { readonly kind: 'choices'; readonly values: ReadonlyArray<infer Value> }
    ? Value[]
    : OtherValues[Exclude<FilterKind, 'choice' | 'choices' | 'sizes' | 'age' | 'hold' | 'spelling'> & Row['kind']];

interface OtherValues {
  readonly id: bigint;
  readonly ids: bigint[];
  readonly label: string;
  readonly labels: string[];
  readonly words: string;
  readonly name: string;
  readonly orNamed: string;
  readonly address: string;
  readonly place: string;
  readonly radius: number;
  readonly months: number;
  readonly not: string[];
}

/** The sizes that a range has which begins or ends with one. */
export const sizesOf = (is: 'min' | 'max', size: Size): readonly Size[] =>
  is === 'min' ? sizes.slice(sizes.indexOf(size)) : sizes.slice(0, sizes.indexOf(size) + 1);

/** The filters that what is left out is said with: `not=size:small`, `not=categoryId:1,age:baby`. */
const excludable = [
  'categoryId',
  'breed',
  'color',
  'age',
  'ageMonthsMin',
  'ageMonthsMax',
  'sex',
  'size',
  'sizeMin',
  'sizeMax',
  'coat',
  'goodWith',
] as const satisfies readonly ColumnFilterName[];
type ExcludableName = (typeof excludable)[number];

/** Filters that an animal matches all of if it is left out. */
type Excluded = Pick<FilterValues, ExcludableName>;

const valuePatterns: { readonly [Kind in ColumnFilterRow['kind']]?: (row: ColumnFilterRow) => string } = {
  id: () => '\\d{1,18}',
  months: () => '\\d{1,4}',
  label: () => '[^,]{1,50}',
  labels: () => '[^,]{1,50}',
};
const choicePattern = (row: ColumnFilterRow) => ('values' in row ? `(${row.values.join('|')})` : '');
const entry = `(${excludable.map((name) => `${name}:${(valuePatterns[listingFilters[name].kind] ?? choicePattern)(listingFilters[name])}`).join('|')})`;
export const excludedPattern = `^${entry}(,${entry}){0,5}$`;

/** Undefined: there is a filter that can't be said. */
export function excludedText(filters: object): string | undefined {
  const entries = Object.entries(filters);
  const isSaid = entries.every(([name]) => (excludable as readonly string[]).includes(name));
  return isSaid && entries.length > 0 ? entries.map(([name, value]) => `${name}:${[value].flat().join(`,${name}:`)}`).join(',') : undefined;
}

export function readExcluded(text: string): Excluded {
  const values: Partial<Record<ExcludableName, unknown>> = {};
  for (const part of text.split(',')) {
    const end = part.indexOf(':');
    const name = part.slice(0, end) as ExcludableName;
    values[name] = readValue(name, part.slice(end + 1), values[name]);
  }
  return values as Excluded;
}

function readValue(name: ExcludableName, text: string, before: unknown): unknown {
  const { kind } = listingFilters[name];
  if (kind === 'id') return BigInt(text);
  if (kind === 'months') return Number(text);
  return kind === 'choices' || kind === 'labels' ? [...((before as string[] | undefined) ?? []), text] : text;
}
