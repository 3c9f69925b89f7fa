// What a page of listings depends on, compared with a model of a search: animals that are found by what every animal has, by filters,
// by words and by the distance.
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { roundsOf } from '../../../../testkit/rounds.ts';
import { termSetOf, touchesListing } from '../../../src/animals/list-cache/shown-changes.ts';
import { emptyProfile } from '../../../src/animals/profiles/profile-changes.ts';
import { distanceKm } from '../../../src/search/listings/geography.ts';
import { footprintOf, footprintOfCounts } from '../../../src/search/listings/listing-footprint.ts';
import type { ListingSearch, ListingSort } from '../../../src/search/listings/listing-search.ts';
import type { Listing } from '../../../src/search/listings/listings.ts';

const statuses = ['available', 'sold'] as const;
const sexes = ['male', 'female'] as const;
const breeds = ['beagle', 'collie'];
const companions = ['cats', 'dogs'] as const;
const words = ['brave', 'gentle', 'shy'];
/** The third has no place. */
const shelters = [
  { id: 1n, latitude: 48, longitude: 16 },
  { id: 2n, latitude: 48.5, longitude: 16 },
  { id: 3n, latitude: null, longitude: null },
] as const;
type Shelter = (typeof shelters)[number];

interface Animal {
  readonly id: bigint;
  readonly categoryId: bigint;
  readonly status: (typeof statuses)[number];
  readonly shelter: Shelter;
  readonly profile: Described;
}

interface Described {
  readonly sex: (typeof sexes)[number];
  readonly breed: string;
  readonly goodWith: readonly string[];
  readonly words: readonly string[];
}

interface Query {
  readonly search: ListingSearch;
  readonly sort: ListingSort;
  readonly limit: number;
}

const described: fc.Arbitrary<Described> = fc.record({
  sex: fc.constantFrom(...sexes),
  breed: fc.constantFrom(...breeds),
  goodWith: fc.subarray([...companions]),
  words: fc.subarray(words),
});
const animalsCount = 8;
const animals = fc
  .array(
    fc.record({
      categoryId: fc.bigInt({ min: 1n, max: 2n }),
      status: fc.constantFrom(...statuses),
      shelter: fc.constantFrom(...shelters),
      profile: described,
    }),
    { minLength: animalsCount, maxLength: animalsCount },
  )
  .map((rows): Animal[] => rows.map((row, i) => ({ id: BigInt(i + 1), ...row })));
const maybe = <T>(value: fc.Arbitrary<T>) => fc.option(value, { nil: undefined, freq: 2 });
const query: fc.Arbitrary<Query> = fc.record({
  search: fc.record({
    today: fc.constant('2026-11-18'),
    categoryId: maybe(fc.bigInt({ min: 1n, max: 2n })),
    status: maybe(fc.constantFrom(...statuses)),
    shelterId: maybe(fc.bigInt({ min: 1n, max: 3n })),
    sex: maybe(fc.constantFrom(...sexes)),
    breed: maybe(fc.constantFrom(...breeds)),
    goodWith: maybe(fc.subarray([...companions])),
    q: maybe(fc.subarray(words, { minLength: 1 }).map((some) => some.join(' '))),
    near: maybe(fc.record({ latitude: fc.constant(48), longitude: fc.constant(16), withinKm: fc.constantFrom(10, 100) })),
  }),
  sort: fc.constantFrom('newest', 'distance', 'relevance'),
  limit: fc.integer({ min: 1, max: 4 }),
});

const distanceOf = ({ near }: ListingSearch, { latitude, longitude }: Shelter) =>
  near && latitude !== null ? distanceKm(near, { latitude, longitude }) : undefined;

function find(all: readonly Animal[], { search, sort, limit }: Query): Listing[] {
  const { categoryId, status, shelterId, sex, breed, goodWith = [], q, near } = search;
  const rankOf = ({ profile }: Animal) => 1 / (1 + profile.words.length);
  const keyOf = (animal: Animal) => {
    if (sort === 'distance') return [distanceOf(search, animal.shelter) ?? 0, Number(animal.shelter.id), -Number(animal.id)];
    return sort === 'relevance' ? [-rankOf(animal), -Number(animal.id)] : [-Number(animal.id)];
  };
  return all
    .filter((one) => (categoryId ?? one.categoryId) === one.categoryId && (status ?? one.status) === one.status)
    .filter(({ shelter }) => (shelterId ?? shelter.id) === shelter.id)
    .filter(({ shelter }) => !near || (distanceOf(search, shelter) ?? Number.POSITIVE_INFINITY) <= near.withinKm)
    .filter(({ profile }) => (sex ?? profile.sex) === profile.sex && goodWith.every((one) => profile.goodWith.includes(one)))
    .filter(({ profile }) => (breed ?? profile.breed) === profile.breed)
    .filter(({ profile }) => (q?.split(' ') ?? []).every((word) => profile.words.includes(word)))
    .sort((a, b) => keyOf(a).reduce((order, key, i) => order || key - (keyOf(b)[i] ?? 0), 0))
    .slice(0, limit + 1)
    .map((animal) => {
      const { id, categoryId: category, status: state, shelter, profile } = animal;
      const found = { id, shelterId: shelter.id, distance: distanceOf(search, shelter) ?? null, rank: rankOf(animal) };
      return {
        found,
        pet: { id, name: JSON.stringify(profile), categoryId: category, status: state },
        shelter: {
          ...shelter,
          name: '',
          address: null,
          town: null,
          postcode: null,
          country: null,
          website: null,
          email: null,
          phone: null,
        },
        profile: emptyProfile,
        namedIds: [],
        photos: [],
        hold: undefined,
      };
    });
}

const understoodAs = (search: ListingSearch) => ({
  asked: askedOf(search),
  reading: { search, named: [], lifted: undefined, dependsOnPlaces: false, dependsOnDescriptions: false, leftOut: [], corrections: [] },
  isFallback: false,
});

const askedOf = ({ q }: ListingSearch) => ({ words: q === undefined ? undefined : { choices: [q.split(' ')] } });

function pageOf(all: readonly Animal[], asked: Query) {
  const found = find(all, asked);
  const count = Math.min(found.length, asked.limit);
  const { search, sort } = asked;
  const footprint = footprintOf({ ...understoodAs(search), search, sort, after: undefined, count }, found);
  const text = JSON.stringify(found.slice(0, count).map(({ pet, found: { distance } }) => [String(pet.id), pet.name, distance]));
  return { text: `${text} ${found.length > count}`, footprint };
}

const termsOf = ({ shelter, categoryId, profile }: Animal) => [
  `shelter=${shelter.id}`,
  `category=${categoryId}`,
  `sex=${profile.sex}`,
  profile.breed,
  ...profile.goodWith.map((one) => `with=${one}`),
  ...profile.words,
];

const changeOf = (before: Animal, after: Animal) => {
  const { latitude, longitude } = after.shelter;
  const place = latitude === null ? null : { latitude, longitude };
  const terms = termSetOf([...termsOf(before), ...termsOf(after)]);
  return { of: 'animal', petId: after.id, state: after, place, terms } as const;
};

const numRuns = roundsOf(4_000, 20_000);
const anyIndex = fc.nat(animalsCount - 1);

describe('The footprint of a page of listings', () => {
  test('is touched by every change of a profile after which the page looks different', () => {
    let different = 0;
    fc.assert(
      fc.property(animals, query, anyIndex, described, (all, asked, index, profile) => {
        const before = all[index] as Animal;
        const after = { ...before, profile };
        const page = pageOf(all, asked);
        if (pageOf(all.with(index, after), asked).text === page.text) return;
        different += 1;
        expect(touchesListing(page.footprint, changeOf(before, after))).toBe(true);
      }),
      { numRuns },
    );
    expect(different).toBeGreaterThan(numRuns / 20);
  });

  test('of counts is touched by every change of a profile after which the search finds others, or others of them', () => {
    fc.assert(
      fc.property(animals, query, anyIndex, described, (all, { search }, index, profile) => {
        const before = all[index] as Animal;
        const after = { ...before, profile };
        const whole = { search, sort: 'newest', limit: animalsCount } as const;
        if (pageOf(all, whole).text === pageOf(all.with(index, after), whole).text) return;
        expect(touchesListing(footprintOfCounts(search, understoodAs(search)), changeOf(before, after))).toBe(true);
      }),
      { numRuns: numRuns / 4 },
    );
  });

  test('of corrected words is touched by an animal that has the words as they were asked for, or as they were corrected', () => {
    const corrected = {
      choices: [
        ['brvae', 'dog'],
        ['brave', 'dog'],
      ],
    };
    const search = { today: '2026-11-18', q: 'brvae dog' };
    const understood = { ...understoodAs(search), asked: { words: corrected } };
    const { bits } = footprintOfCounts(search, understood).found;
    const animal = { of: 'animal', petId: 1n, state: { categoryId: 1n, status: 'available' }, place: null } as const;
    const isTouched = (...terms: string[]) =>
      touchesListing(footprintOfCounts(search, understood), {
        ...animal,
        terms: termSetOf(terms),
      });
    expect(bits).toHaveLength(2);
    expect([isTouched('brvae', 'dog'), isTouched('brave', 'dog'), isTouched('brave'), isTouched('dog')]).toEqual([
      true,
      true,
      false,
      false,
    ]);
  });
});
