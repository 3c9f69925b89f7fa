import { type Static, type TOptional, type TSchema, type TUnsafe, Type } from 'typebox';
import { ShownHoldSchema } from '../../animals/pets/hold-schemas.ts';
import { PetSchema } from '../../animals/pets/pet-schemas.ts';
import { PhotoSchema } from '../../animals/photos/photo-schemas.ts';
import { ListedProfileSchema } from '../../animals/profiles/profile-schemas.ts';
import {
  excludedPattern,
  type FilterKind,
  type FilterName,
  type FilterRow,
  type FilterRowOf,
  type FilterValues,
  filterRows,
} from '../../domain/listing-filters.ts';
import { controls } from '../../platform/characters.ts';
import { pageQuery } from '../../platform/http/paging.ts';
import { Int64, Ref, StringEnum } from '../../platform/http/schemas.ts';
import { listingSorts } from './listing-search.ts';

const OrNull = <T extends TSchema>(schema: T) => Type.Union([schema, Type.Null()]);

const ListingShelterSchema = Type.Object(
  {
    id: Int64({ description: 'Identifier of the shelter.' }),
    name: Type.String(),
    address: OrNull(Type.String()),
    town: OrNull(Type.String()),
    postcode: OrNull(Type.String()),
    country: OrNull(Type.String({ description: 'By its code of two letters (ISO 3166).' })),
    latitude: OrNull(Type.Number()),
    longitude: OrNull(Type.Number()),
    website: OrNull(Type.String()),
    email: OrNull(Type.String()),
    phone: OrNull(Type.String()),
  },
  { $id: 'ListingShelter', description: 'The shelter that the animal belongs to, and how to reach it.' },
);
export type ListingShelter = Static<typeof ListingShelterSchema>;

export const ListingSchema = Type.Object(
  {
    pet: Ref(PetSchema),
    shelter: Ref(ListingShelterSchema),
    profile: Ref(ListedProfileSchema),
    photos: Type.Array(Ref(PhotoSchema), { description: 'The photos that are ready, in the order in which they are to be shown.' }),
    hold: Type.Optional(Ref(ShownHoldSchema)),
    distanceKm: Type.Optional(Type.Number({ description: 'From `near` to the shelter. Only if `near` is given.', examples: [3.2] })),
  },
  { $id: 'PetListing', description: 'An animal with everything adopters need to choose.' },
);

const FacetSchema = Type.Object(
  { value: Type.String({ description: 'To be used as the filter.' }), count: Type.Integer() },
  { $id: 'Facet', description: 'How many of the animals have this value.' },
);

const counts = (what: string) => Type.Array(Ref(FacetSchema), { description: `${what}, the most frequent first.` });

export const FacetsSchema = Type.Object(
  {
    isExact: Type.Boolean({
      description:
        'False: more than 10,000 animals match, or more than 20,000 have the status. The counts are then those among 10,000 that match, at most.',
    }),
    breeds: counts('The 20 most frequent breeds, in lower case and without accents'),
    ages: counts('Ages'),
    sizes: counts('Sizes'),
    sexes: counts('Sexes'),
  },
  {
    $id: 'Facets',
    description: 'What the animals of a search are, counted by value. What is not known of an animal is not counted.',
    examples: [
      {
        isExact: true,
        breeds: [{ value: 'labrador retriever', count: 12 }],
        ages: [{ value: 'young', count: 9 }],
        sizes: [{ value: 'large', count: 14 }],
        sexes: [{ value: 'female', count: 8 }],
      },
    ],
  },
);
export type Facets = Static<typeof FacetsSchema>;

export const listingSchemas = [ListingShelterSchema, ListingSchema, FacetSchema, FacetsSchema];

/** The parameter for a filter of each kind. */
const parameters: { readonly [Kind in FilterKind]: (row: FilterRowOf<Kind>) => TSchema } = {
  choice: ({ values, about }) => StringEnum(values, { description: about }),
  choices: ({ values, about }) => Type.Array(StringEnum(values), { maxItems: values.length, description: about }),
  hold: ({ values, about }) => StringEnum(values, { description: about }),
  id: ({ about }) => Int64({ description: about }),
  ids: ({ countMax, about }) => Type.Array(Int64(), { maxItems: countMax, description: about }),
  age: ({ values, about }) => StringEnum(values, { description: about }),
  spelling: ({ values, about }) => StringEnum(values, { description: about }),
  sizes: ({ values, about }) => StringEnum(values, { description: about }),
  months: ({ max, about }) => Type.Integer({ minimum: 0, maximum: max, description: about }),
  not: ({ countMax, about, example }) =>
    Type.Array(
      Type.String({
        pattern: excludedPattern,
        'x-must-be': 'filters with their values, such as goodWith:cats or categoryId:1,age:baby',
        examples: [example],
      }),
      { maxItems: countMax, description: about },
    ),
  label: (row) => Words(row),
  labels: (row) => Type.Array(Words({ ...row, about: undefined }), { maxItems: row.countMax, description: row.about }),
  words: (row) => Words(row),
  name: (row) => Words(row),
  orNamed: (row) => Words(row),
  address: (row) => Words(row),
  place: ({ about, example }) =>
    Type.String({
      description: about,
      pattern: '^-?\\d{1,2}(\\.\\d{1,15})?,-?\\d{1,3}(\\.\\d{1,15})?$',
      'x-must-be': 'a latitude and a longitude in degrees, such as 48.2,16.37',
      examples: [example],
    }),
  radius: ({ max, about }) => Type.Integer({ minimum: 1, maximum: max, description: about }),
};

interface TextRow {
  readonly about: string | undefined;
  readonly lengthMax: number;
  readonly example: string;
}

const Words = ({ about, lengthMax, example }: TextRow) =>
  Type.String({
    ...(about !== undefined && { description: about }),
    minLength: 1,
    maxLength: lengthMax,
    pattern: `^[^${controls}]*$`,
    'x-must-not-contain': controls,
    'x-must-be': `a string of 1–${lengthMax} characters, without control characters or lone surrogates`,
    examples: [example],
  });

const parameterOf = (row: FilterRow) => Type.Optional((parameters[row.kind] as (row: FilterRow) => TSchema)(row));

const filters = Object.fromEntries(filterRows.map(([name, row]) => [name, parameterOf(row)])) as {
  [Name in FilterName]: TOptional<TUnsafe<NonNullable<FilterValues[Name]>>>;
};

export const ListListingsQuery = Type.Object(
  {
    ...pageQuery('listings'),
    ...filters,
    sort: Type.Optional(
      StringEnum(listingSorts, {
        description:
          'newest: added last first. distance: the nearest shelter first. relevance: those with the name that is searched for first, then those that match the words best, of 1,000 at most. By default relevance with words, else distance with near, else newest.',
      }),
    ),
  },
  { additionalProperties: false },
);
export type ListListings = Static<typeof ListListingsQuery>;

export const ListFacetsQuery = Type.Object(filters, { additionalProperties: false });
export type ListFacets = Static<typeof ListFacetsQuery>;
