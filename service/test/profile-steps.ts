// Setup steps for tests about profiles.

import type { Profile, ProfileChanges } from '../src/domain/profile-fields.ts';
import type { CallOptions, TestKey, TestResponse, TestStore } from './test-store.ts';

export type ProfileBody = Omit<Profile, 'bondedWith'> & { readonly bondedWith: number[] };

/** The profile of an animal of which nothing is known. */
export const nothingKnown: ProfileBody = {
  description: null,
  breeds: { primary: null, secondary: null, mixed: 'unknown', unknown: true },
  birthDate: null,
  birthDateIsExact: false,
  age: null,
  sex: 'unknown',
  size: null,
  weightGrams: null,
  colors: [],
  coat: null,
  goodWith: { children: 'unknown', dogs: 'unknown', cats: 'unknown' },
  spayedNeutered: 'unknown',
  houseTrained: 'unknown',
  vaccinated: 'unknown',
  specialNeeds: 'unknown',
  adoptionFee: null,
  bondedWith: [],
  tags: [],
  videoUrl: null,
  arrivedOn: null,
  externalId: null,
  attributes: {},
};

/** A value for every field except `bondedWith`. */
export const everything = {
  description: 'Loves long walks.\r\nShy with strangers.',
  breeds: { primary: 'Labrador Retriever', secondary: 'Poodle', mixed: 'yes' },
  birthDate: '2015-05-01',
  birthDateIsExact: true,
  sex: 'male',
  size: 'extra_large',
  weightGrams: 24_500,
  colors: ['brown', 'white', 'black'],
  coat: 'curly',
  goodWith: { children: 'yes', dogs: 'no', cats: 'unknown' },
  spayedNeutered: 'yes',
  houseTrained: 'no',
  vaccinated: 'yes',
  specialNeeds: 'no',
  adoptionFee: { amount: 12_000, currency: 'EUR' },
  tags: ['playful', 'calm indoors'],
  videoUrl: 'https://video.example/biscuit?t=1#start',
  arrivedOn: '2024-02-29',
  externalId: 'A-4711',
  attributes: { Zodiac: 'Taurus', 'Favourite toy': 'a red ball', Empty: '' },
} as const satisfies Record<Exclude<keyof ProfileChanges, 'bondedWith'>, unknown>;

type Sent = Omit<CallOptions, 'key'>;

export const profilePath = (petId: number | string) => `/v1/pets/${petId}/profile`;

export const readProfile = (store: TestStore, { key }: TestKey, petId: number | string, options: Sent = {}) =>
  store.call<ProfileBody>('GET', profilePath(petId), { key, ...options });

export const writeProfile = (
  store: TestStore,
  { key }: TestKey,
  method: 'PUT' | 'PATCH',
  petId: number | string,
  body: unknown,
  headers: Record<string, string> = {},
): Promise<TestResponse<ProfileBody>> => store.call(method, profilePath(petId), { key, body, headers });
