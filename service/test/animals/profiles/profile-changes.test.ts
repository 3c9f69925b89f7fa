// Compares the merge of profiles with the algorithm of RFC 7396, section 2.
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { emptyProfile, mergeProfile } from '../../../src/animals/profiles/profile-changes.ts';
import type { ProfileChanges, StoredProfile } from '../../../src/domain/profile-fields.ts';

type Json = Record<string, unknown>;

const isObject = (value: unknown): value is Json => typeof value === 'object' && value !== null && !Array.isArray(value);

function mergePatch(target: unknown, patch: unknown): unknown {
  if (!isObject(patch)) return patch;
  const merged: Json = isObject(target) ? { ...target } : {};
  for (const [name, value] of Object.entries(patch)) {
    if (value === null) delete merged[name];
    else merged[name] = mergePatch(merged[name], value);
  }
  return merged;
}

/** A profile without what is not known, as a merge patch sees it. */
function withoutEmpty(value: unknown, empty: unknown): unknown {
  if (!isObject(value)) return value;
  const known = Object.entries(value).map(([name, one]) => [name, withoutEmpty(one, isObject(empty) ? empty[name] : undefined)] as const);
  const isEmpty = (name: string, one: unknown) =>
    isObject(one) ? Object.keys(one).length === 0 : isObject(empty) && JSON.stringify(one) === JSON.stringify(empty[name]);
  return Object.fromEntries(known.filter(([name, one]) => !isEmpty(name, one)));
}

const optional = <T>(value: fc.Arbitrary<T>) => fc.option(value, { nil: null });
const triState = optional(fc.constantFrom('yes', 'no', 'unknown'));
const record = (fields: Record<string, fc.Arbitrary<unknown>>) => optional(fc.record(fields, { requiredKeys: [] }));
const changes = fc
  .record(
    {
      description: optional(fc.string()),
      sex: optional(fc.constantFrom('male', 'female', 'unknown')),
      weightGrams: optional(fc.integer({ min: 1 })),
      tags: optional(fc.array(fc.string(), { maxLength: 3 })),
      breeds: record({ primary: optional(fc.string()), secondary: optional(fc.string()), mixed: triState }),
      goodWith: record({ children: triState, dogs: triState, cats: triState }),
      vaccinated: triState,
      attributes: optional(
        fc.dictionary(
          fc.string().filter((name) => name !== '__proto__'),
          optional(fc.string()),
          { maxKeys: 5 },
        ),
      ),
    },
    { requiredKeys: [] },
  )
  .map((value) => value as ProfileChanges);

test('a sequence of patches gives what RFC 7396 gives', () => {
  fc.assert(
    fc.property(fc.array(changes, { maxLength: 4 }), (patches) => {
      let profile: StoredProfile = emptyProfile;
      let expected: unknown = {};
      for (const patch of patches) {
        profile = mergeProfile(profile, patch) as StoredProfile;
        expected = mergePatch(expected, patch);
      }
      expect(withoutEmpty(profile, emptyProfile)).toEqual(withoutEmpty(expected, emptyProfile));
    }),
  );
});
