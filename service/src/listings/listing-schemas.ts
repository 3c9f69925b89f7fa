import { type Static, type TSchema, Type } from 'typebox';
import { controls } from '../characters.ts';
import { petStatuses } from '../domain/pet-statuses.ts';
import { ageBands, coats, companions, sexes, sizes } from '../domain/profile-values.ts';
import { pageQuery } from '../http/paging.ts';
import { Int64, Ref, StringEnum } from '../http/schemas.ts';
import { PetSchema } from '../pets/pet-schemas.ts';
import { PhotoSchema } from '../photos/photo-schemas.ts';
import { ListedProfileSchema } from '../profiles/profile-schemas.ts';
import { listingSorts } from './listing-search.ts';

export const withinKmDefault = 100;
const withinKmMax = 500;
const idsMax = 100;
const wordsLengthMax = 100;

const OrNull = <T extends TSchema>(schema: T) => Type.Union([schema, Type.Null()]);

const ListingShelterSchema = Type.Object(
  {
    id: Int64({ description: 'Identifier of the shelter.' }),
    name: Type.String(),
    address: OrNull(Type.String()),
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

const words = (description: string, examples: string[]) =>
  Type.Optional(
    Type.String({
      description,
      minLength: 1,
      maxLength: wordsLengthMax,
      pattern: `^[^${controls}]*$`,
      'x-must-not-contain': controls,
      'x-must-be': `a string of 1–${wordsLengthMax} characters, without control characters or lone surrogates`,
      examples,
    }),
  );

const filters = {
  status: Type.Optional(StringEnum(petStatuses, { description: 'Only animals with this status. Without it, those of every status.' })),
  categoryId: Type.Optional(Int64({ description: 'Only animals of this category.' })),
  shelterId: Type.Optional(Int64({ description: 'Only animals of this shelter.' })),
  id: Type.Optional(Type.Array(Int64(), { maxItems: idsMax, description: `Only animals with these ids, at most ${idsMax}.` })),
  q: words(
    'Words of the name, the breeds, the tags or the description, all of which the animal must have. Accents and case do not matter, and a word that no animal has is replaced by the most similar one of a name or a breed.',
    ['shy labrador'],
  ),
  breed: words('Only animals of this breed. Accents and case do not matter.', ['Labrador Retriever']),
  age: Type.Optional(
    StringEnum(ageBands, { description: 'baby: under 1 year, young: under 3, adult: under 8, senior: 8 years or older.' }),
  ),
  sex: Type.Optional(
    StringEnum(
      sexes.filter((sex) => sex !== 'unknown'),
      { description: 'Only animals that are known to be of this sex.' },
    ),
  ),
  size: Type.Optional(StringEnum(sizes, { description: 'Only animals of this size.' })),
  coat: Type.Optional(StringEnum(coats, { description: 'Only animals with this coat.' })),
  goodWith: Type.Optional(
    Type.Array(StringEnum(companions), {
      maxItems: companions.length,
      description: 'Only animals that are known to get along with them. Repeat it to ask for several.',
    }),
  ),
  near: Type.Optional(
    Type.String({
      description: 'Only animals of shelters near this place: its latitude and longitude in degrees, rounded to 0.01.',
      pattern: '^-?\\d{1,2}(\\.\\d{1,15})?,-?\\d{1,3}(\\.\\d{1,15})?$',
      'x-must-be': 'a latitude and a longitude in degrees, such as 48.2,16.37',
      examples: ['48.2,16.37'],
    }),
  ),
  withinKm: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: withinKmMax,
      description: `How near, in kilometres; ${withinKmDefault} if it is not given. Only with \`near\`.`,
    }),
  ),
};

export const ListListingsQuery = Type.Object(
  {
    ...pageQuery('listings'),
    ...filters,
    sort: Type.Optional(
      StringEnum(listingSorts, {
        description:
          'newest: added last first. distance: the nearest shelter first. relevance: those that match q best first, of 1,000 at most. By default relevance with q, else distance with near, else newest.',
      }),
    ),
  },
  { additionalProperties: false },
);
export type ListListings = Static<typeof ListListingsQuery>;

export const ListFacetsQuery = Type.Object(filters, { additionalProperties: false });
export type ListFacets = Static<typeof ListFacetsQuery>;
