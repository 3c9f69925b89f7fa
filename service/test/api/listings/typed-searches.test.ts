import { describe, expect, test } from 'vitest';
import { listingFilters } from '../../../src/domain/listing-filters.ts';
import { addPet, createManager } from '../../adoption-steps.ts';
import { type ListingBody, searchListings } from '../../listing-steps.ts';
import { writeProfile } from '../../profile-steps.ts';
import { createShelterKey, type ShelterBody } from '../../shelter-steps.ts';
import { createTestStore, type TestKey, type TestStore } from '../../test-store.ts';
import { animals, categories, type ShelterKey, shelters } from './typed-catalogue.ts';
import { type TypedSearch, typedSearches } from './typed-searches.ts';

const rightShareMin = 0.9;

/** Words become filters since there is one for colors. */
const areWordsInterpreted = 'color' in listingFilters;

describe.skipIf(!areWordsInterpreted)('What people type', () => {
  test(`finds what they mean in ${rightShareMin * 100} % of ${typedSearches.length} searches, and never what contradicts it`, async () => {
    await using store = await createTestStore();
    const keyOfAnimal = await addAnimals(store);
    const reader = await store.createKey();
    const verdicts: Verdict[] = [];
    for (const search of typedSearches) verdicts.push(judge(search, await find(store, reader, search, keyOfAnimal)));
    const right = verdicts.filter(({ isRight }) => isRight);
    const wrong = verdicts.filter(({ isRight }) => !isRight);
    const report = [`${right.length} of ${verdicts.length} searches are right.`, ...wrong.map(describeVerdict)].join('\n');
    console.info(report);
    expect(verdicts.filter(({ contradicting }) => contradicting.length > 0).map(describeVerdict)).toEqual([]);
    expect(right.length).toBeGreaterThanOrEqual(rightShareMin * verdicts.length);
  }, 300_000);
});

test('The searches name animals of the catalogue, and judge none of them both ways', () => {
  const keys = new Set(animals.map(({ key }) => key));
  expect(keys.size).toBe(animals.length);
  expect(typedSearches).toHaveLength(150);
  expect(new Set(typedSearches.map(({ typed, beside }) => `${typed}&${beside}`)).size).toBe(typedSearches.length);
  for (const { typed, mustFind, mustNotFind, first } of typedSearches) {
    const named = [...mustFind, ...mustNotFind, ...(first === undefined ? [] : [first])];
    expect({ typed, unknown: named.filter((key) => !keys.has(key)) }).toEqual({ typed, unknown: [] });
    expect({ typed, both: mustFind.filter((key) => mustNotFind.includes(key)) }).toEqual({ typed, both: [] });
  }
});

interface Verdict {
  readonly search: TypedSearch;
  readonly missing: readonly string[];
  readonly contradicting: readonly string[];
  readonly isFirst: boolean;
  readonly isRight: boolean;
}

function judge(search: TypedSearch, found: readonly string[]): Verdict {
  const missing = search.mustFind.filter((key) => !found.includes(key));
  const contradicting = search.mustNotFind.filter((key) => found.includes(key));
  const isFirst = search.first === undefined || search.first === found[0];
  return { search, missing, contradicting, isFirst, isRight: missing.length === 0 && contradicting.length === 0 && isFirst };
}

const describeVerdict = ({ search: { typed, beside, first }, missing, contradicting, isFirst }: Verdict): string =>
  [
    `${typed}${beside && ` (with ${beside})`}:`,
    missing.length > 0 && `lacks ${missing.join(', ')};`,
    contradicting.length > 0 && `contradicted by ${contradicting.join(', ')};`,
    !isFirst && `${first} is not first;`,
  ]
    .filter(Boolean)
    .join(' ');

async function find(store: TestStore, reader: TestKey, { typed, beside }: TypedSearch, keyOfAnimal: ReadonlyMap<number, string>) {
  const response = await searchListings(store, reader, `?limit=100&q=${encodeURIComponent(typed)}${beside && `&${beside}`}`);
  expect(response).toMatchObject({ status: 200 });
  return response.json.map(({ pet }: ListingBody) => keyOfAnimal.get(pet.id) ?? `an animal of no shelter: ${pet.name}`);
}

/** Adds shelters and animals over the API, and returns the keys of the animals by their ids. */
async function addAnimals(store: TestStore): Promise<Map<number, string>> {
  const manager = await createManager(store);
  const staff = {} as Record<ShelterKey, TestKey>;
  for (const [key, body] of Object.entries(shelters)) {
    const response = await store.call<ShelterBody>('POST', '/v1/shelters', { key: manager.key, body });
    expect(response).toMatchObject({ status: 201 });
    staff[key as ShelterKey] = await createShelterKey(store, response.json.id);
  }
  const keys = new Map<number, string>();
  for (const { key, name, category, shelter, months, profile } of animals) {
    const pet = await addPet(store, staff[shelter], { name, categoryId: categories[category] });
    const body = { ...profile, ...(months !== undefined && { birthDate: monthsAgo(months) }) };
    expect(await writeProfile(store, staff[shelter], 'PATCH', pet.id, body)).toMatchObject({ status: 200 });
    keys.set(pet.id, key);
  }
  return keys;
}

/** The 1st of a month: every month has one, and no age is near the end of a band. */
function monthsAgo(months: number): string {
  const now = new Date();
  return new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() - months, 1)).toISOString().slice(0, 10);
}
