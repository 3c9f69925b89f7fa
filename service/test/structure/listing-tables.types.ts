// Compiled, never run: `npm run check` fails if a line below @ts-expect-error compiles, or if another line does not.

import type { FilterRow, FilterValue, listingFilters } from '../../src/domain/listing-filters.ts';
import type { FieldRow, Profile, ProfileChanges, ProfileColumn, StoredProfile } from '../../src/domain/profile-fields.ts';
import type schema from '../../src/operations/doctor/expected-schema.json';

type ColumnOf<Table extends string, Entry = keyof typeof schema> = Entry extends `column ${Table}.${infer Column}` ? Column : never;

type Filters = typeof listingFilters;
declare const filters: Filters;

/** If this does not compile, the migration for a filter is missing, or `npm run schema` after it. */
export const theColumnOfAFilterExists: {
  readonly [Name in keyof Filters]: Filters[Name] extends { readonly column: string }
    ? { readonly column: Filters[Name]['of'] extends 'profile' ? ColumnOf<'listings'> : ColumnOf<'listings'> & ColumnOf<'pets'> }
    : unknown;
} = filters;

type NameOfKind<Kind> = { [Name in keyof Filters]: Filters[Name]['kind'] extends Kind ? Name : never }[keyof Filters];

/** These have no column: the code of a search names them. */
export const whatHasItsOwnCodeIsOneFilter: { [Kind in 'words' | 'place' | 'radius']: (name: NameOfKind<Kind>) => void } = {
  words: (_: 'q') => undefined,
  place: (_: 'near') => undefined,
  radius: (_: 'withinKm') => undefined,
};

const ofProfile = { of: 'profile', term: 'planted', column: 'planted', about: '' } as const;
const yesOrNo = { kind: 'choice', values: ['yes', 'no'] } as const;

export const aFilterIsComplete: FilterRow[] = [
  { ...ofProfile, ...yesOrNo },
  // @ts-expect-error: only the index of words finds animals by their profiles, so it needs a term
  { ...ofProfile, ...yesOrNo, term: undefined },
  // @ts-expect-error: nothing is known of which animals match
  { kind: 'choice', values: ['yes', 'no'], column: 'planted', term: 'planted', about: '' },
  // @ts-expect-error: there is nothing to compare
  { kind: 'choice', values: ['yes', 'no'], of: 'profile', term: 'planted', about: '' },
  // @ts-expect-error: without its values it has no parameter
  { ...ofProfile, kind: 'choice' },
  // @ts-expect-error: it would not be documented
  { ...yesOrNo, of: 'profile', term: 'planted', column: 'planted' },
  // @ts-expect-error: no code makes a parameter or a condition of this kind
  { ...ofProfile, kind: 'range' },
  // @ts-expect-error: it does not say which changes of an animal invalidate a page
  { ...yesOrNo, of: 'animal', term: undefined, column: 'status', about: '' },
  // @ts-expect-error: the footprint would be compared with something else than statuses
  { ...yesOrNo, of: 'animal', footprint: 'status', term: undefined, column: 'status', about: '' },
];

declare const planted: { readonly kind: 'choices'; readonly values: readonly ['a', 'b'] } & typeof ofProfile;
declare const value: FilterValue<typeof planted>;
export const theValueOfAFilterIsTyped: Array<'a' | 'b'> = value;
// @ts-expect-error: a search can't ask for what the table has not
export const noOtherValue: Array<'a' | 'c'> = value;

declare const columnOfAField: ProfileColumn;
declare const columnOfProfiles: Exclude<ColumnOf<'profiles'>, 'pet_id' | 'shelter_id' | 'removed_at' | 'created_at' | 'updated_at'>;
/** If this does not compile, the migration for a field is missing, or `npm run schema` after it. */
export const theColumnOfAFieldExists: ColumnOf<'profiles'> = columnOfAField;
/** If this does not compile, nobody reads or writes a column of profiles. */
export const everyColumnHasAField: ProfileColumn = columnOfProfiles;

const plain = { column: 'planted', about: '', isListed: true } as const;

export const aFieldIsComplete: FieldRow[] = [
  { ...plain, kind: 'choice', values: ['yes', 'no', 'unknown'], empty: 'unknown' },
  // @ts-expect-error: a profile that nobody has written would not have it
  { ...plain, kind: 'choice', values: ['yes', 'no', 'unknown'] },
  // @ts-expect-error: null is the value of a day that is not known
  { ...plain, kind: 'day', empty: '', example: '2026-10-20' },
  // @ts-expect-error: it does not say whether listings have it
  { kind: 'choice', values: ['yes', 'no'], column: 'planted', empty: null, about: '' },
  // @ts-expect-error: it does not say where it is stored, or that it is computed
  { kind: 'choice', values: ['yes', 'no'], empty: null, isListed: true, about: '' },
  // @ts-expect-error: a list without a bound
  { ...plain, kind: 'labels', empty: [], example: [] },
  // @ts-expect-error: no code makes a schema, stores or merges this kind
  { ...plain, kind: 'number', empty: null },
  // @ts-expect-error: what is checked beyond its schema can't be in a group, which is not checked
  { kind: 'group', isListed: true, fields: { on: { kind: 'day', column: 'on', empty: null, about: '', example: '' } } },
];

declare const stored: StoredProfile;
declare const profile: Profile;
declare const changes: ProfileChanges;
export const valuesAreTyped: readonly [string | null, 'yes' | 'no' | 'unknown', { amount: number; currency: string } | null, bigint[]] = [
  stored.birthDate,
  stored.goodWith.dogs,
  profile.adoptionFee,
  profile.bondedWith,
];
export const aChangeMayBeNull: 'yes' | 'no' | 'unknown' | null | undefined = changes.goodWith?.dogs;
// @ts-expect-error: an age is computed
export const noAge: unknown = stored.age;
// @ts-expect-error: an age is computed
export const noChangeOfAge: unknown = changes.age;
