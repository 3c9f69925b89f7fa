import type { Profile, ProfileChanges } from './profile-schemas.ts';

/** A profile as it is stored, without what is computed. */
export interface StoredProfile extends Omit<Profile, 'age' | 'breeds'> {
  readonly breeds: Omit<Profile['breeds'], 'unknown'>;
}

/** The profile of an animal of which nothing is known yet. */
export const emptyProfile: StoredProfile = {
  description: null,
  breeds: { primary: null, secondary: null, mixed: 'unknown' },
  birthDate: null,
  birthDateIsExact: false,
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

/** A profile of which one half of the fee may be missing. */
export interface MergedProfile extends Omit<StoredProfile, 'adoptionFee'> {
  readonly adoptionFee: Partial<NonNullable<StoredProfile['adoptionFee']>> | null;
}

/** Applies a merge patch (RFC 7396): what is left out stays, and null removes a value. Fields that a profile doesn't have are dropped. */
export function mergeProfile(current: StoredProfile, changes: ProfileChanges): MergedProfile {
  const { breeds, goodWith, adoptionFee, attributes, ...others } = changes;
  const merged = mergeFields(current, others, emptyProfile);
  return {
    ...merged,
    birthDateIsExact: merged.birthDate !== null && merged.birthDateIsExact,
    breeds: mergeFields(current.breeds, breeds, emptyProfile.breeds),
    goodWith: mergeFields(current.goodWith, goodWith, emptyProfile.goodWith),
    adoptionFee: mergeFee(current.adoptionFee, adoptionFee),
    attributes: mergePairs(current.attributes, attributes),
  };
}

type Changes<T> = { readonly [Name in keyof T]?: T[Name] | null };

function mergeFields<T extends object>(current: T, changes: Changes<T> | null | undefined, empty: T): T {
  if (changes === null) return empty;
  const names = Object.keys(empty) as Array<keyof T>;
  const merged = names.map((name) => {
    const value = changes?.[name];
    return [name, value === undefined ? current[name] : (value ?? empty[name])];
  });
  return Object.fromEntries(merged) as T;
}

function mergeFee(current: StoredProfile['adoptionFee'], changes: ProfileChanges['adoptionFee']): MergedProfile['adoptionFee'] {
  if (changes === undefined) return current;
  const { amount = current?.amount, currency = current?.currency } = changes ?? { amount: null, currency: null };
  const fee = { ...(amount != null && { amount }), ...(currency != null && { currency }) };
  return Object.keys(fee).length === 0 ? null : fee;
}

function mergePairs(current: Readonly<Record<string, string>>, changes: ProfileChanges['attributes']): Record<string, string> {
  if (changes === null) return {};
  const merged = new Map<string, string | null>([...Object.entries(current), ...Object.entries(changes ?? {})]);
  return Object.fromEntries([...merged].filter((pair): pair is [string, string] => pair[1] !== null));
}
