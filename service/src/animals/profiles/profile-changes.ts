import {
  type FieldKind,
  type FieldRow,
  type ProfileChanges,
  type profileFields,
  type RowOf,
  type StoredProfile,
  storedParts,
  storedRows,
} from '../../domain/profile-fields.ts';

const emptyOf = (row: FieldRow): unknown => {
  if (row.kind === 'group') return Object.fromEntries(storedParts(row).map(([name, { empty }]) => [name, empty]));
  return row.kind === 'fee' ? null : row.empty;
};

/** The profile of an animal of which nothing is known yet. */
export const emptyProfile = Object.fromEntries(storedRows.map(([name, row]) => [name, emptyOf(row)])) as StoredProfile;

/** A profile of which a part of a fee may be missing. */
export type MergedProfile = {
  readonly [Name in keyof StoredProfile]: (typeof profileFields)[Name] extends { readonly kind: 'fee' }
    ? Partial<NonNullable<StoredProfile[Name]>> | null
    : StoredProfile[Name];
};

/** Applies a merge patch (RFC 7396): what is left out stays, and null removes a value. Fields that a profile doesn't have are dropped. */
export function mergeProfile(current: StoredProfile, changes: ProfileChanges): MergedProfile {
  const values = storedRows.map(([name, row]) => {
    const change = changes[name];
    if (change === undefined) return [name, current[name]];
    if (change === null) return [name, emptyProfile[name]];
    const merge = merges[row.kind] as Merge<unknown, FieldRow> | undefined;
    return [name, merge ? merge(current[name], change, row) : change];
  });
  const merged = Object.fromEntries(values) as MergedProfile;
  return { ...merged, birthDateIsExact: merged.birthDate !== null && merged.birthDateIsExact };
}

type Pairs = Readonly<Record<string, unknown>>;

function mergeGroup(current: Pairs, change: Pairs, row: RowOf<'group'>): Pairs {
  return Object.fromEntries(
    storedParts(row).map(([name, { empty }]) => [name, change[name] === undefined ? current[name] : (change[name] ?? empty)]),
  );
}

/** In the order of its parts. */
function mergeFee(current: Pairs | null, change: Pairs, row: RowOf<'fee'>): Pairs | null {
  const parts = storedParts(row).map(([name]) => [name, change[name] === undefined ? current?.[name] : change[name]]);
  const known = parts.filter(([, value]) => value != null);
  return known.length === 0 ? null : Object.fromEntries(known);
}

/** In the order in which they were sent. */
function mergePairs(current: Pairs, change: Pairs): Pairs {
  const merged = new Map([...Object.entries(current), ...Object.entries(change)]);
  return Object.fromEntries([...merged].filter(([, value]) => value !== null));
}

type Merge<Value, Row> = (current: Value, change: Value, row: Row) => unknown;

/** Other values are replaced. */
const merges: { readonly [Kind in FieldKind]?: Merge<never, never> } = { group: mergeGroup, fee: mergeFee, pairs: mergePairs };
