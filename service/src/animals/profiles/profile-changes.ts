import {
  type FieldKind,
  type FieldRow,
  fieldsOf,
  type ProfileChanges,
  profileFields,
  type RowOf,
  type StoredProfile,
  storedParts,
  storedRows,
} from '../../domain/profile-fields.ts';
import { isDay } from '../../platform/clock.ts';
import { AppError, show } from '../../platform/errors.ts';

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

const firstDay = '1900-01-01';
/** Days begin up to 14 hours before they begin in UTC. */
const earliestZoneMs = 14 * 3_600_000;

/** The day in UTC, as YYYY-MM-DD. */
export const dayOf = (ms: number): string => new Date(ms).toISOString().slice(0, 10);

/** Rejects what the schema can't. Whether other animals exist is not checked here. */
export function requireValid(petId: bigint, profile: MergedProfile, nowMs: number): StoredProfile {
  for (const field of fieldsOf('day')) requirePastDay(field, profile[field], nowMs);
  for (const field of fieldsOf('url')) requireUrl(field, profile[field]);
  for (const field of fieldsOf('animals')) requireOtherAnimals(field, profile[field], petId);
  for (const field of fieldsOf('pairs')) requireFewPairs(field, profile[field], profileFields[field].countMax);
  for (const field of fieldsOf('fee')) requireWholeFee(field, profile[field]);
  return profile as StoredProfile;
}

function requirePastDay(field: string, day: string | null, nowMs: number): void {
  if (day === null) return;
  if (!isDay(day)) throw invalid(`${field} must be a date that exists; got ${show(day)}.`);
  if (day < firstDay) throw invalid(`${field} must be ${firstDay} or later; got ${show(day)}.`);
  if (day > dayOf(nowMs + earliestZoneMs))
    throw invalid(`${field} must not be in the future; got ${show(day)}, and today is ${dayOf(nowMs)}.`);
}

function requireUrl(field: string, url: string | null): void {
  if (url === null) return;
  if (!URL.canParse(url)) throw invalid(`${field} must be a valid URL, such as https://video.example/biscuit; got ${show(url)}.`);
  const { username, password } = new URL(url);
  if (username || password) throw invalid(`${field} contains a user name or a password, which everyone would see.`);
}

function requireOtherAnimals(field: string, ids: readonly bigint[], petId: bigint): void {
  const repeated = ids.find((id, i) => ids.indexOf(id) !== i);
  if (repeated !== undefined) throw invalid(`${field} must name each animal once; got ${repeated} twice.`);
  if (ids.includes(petId)) throw invalid(`${field} must name other animals; ${petId} is the animal itself.`);
}

/** A merge adds pairs to those that are there. */
function requireFewPairs(field: string, pairs: object, countMax: number): void {
  const count = Object.keys(pairs).length;
  if (count > countMax) throw invalid(`${field} must be at most ${countMax} pairs; with these there would be ${count}.`);
}

function requireWholeFee(field: string, fee: MergedProfile['adoptionFee']): void {
  if (fee === null) return;
  const remove = `To remove the fee, send null as ${field}.`;
  if (fee.amount === undefined) throw invalid(`${field}.amount is required with a currency. ${remove}`);
  if (fee.currency === undefined) throw invalid(`${field}.currency is required with an amount. ${remove}`);
}

export const invalid = (message: string) => new AppError('invalid_body', message);
