import { type UsualNames, usualFields, usualValues } from '../../../domain/usual-names.ts';

const usualFieldIndex = indexUsual(usualFields);
const usualValueIndex = indexUsual(usualValues);

/** A sentence that names the field or parameter that was probably meant. Undefined: none of the known ones is similar. */
export function guessField(name: string, known: readonly string[]): string | undefined {
  const nearest = nearestField(name, known);
  return nearest === undefined ? undefined : `Did you mean ${nearest}?${noteOn(name, nearest)}`;
}

export const nearestField = (name: string, known: readonly string[]): string | undefined => nearestName(name, known, usualFieldIndex);

/** The same for one of the values that a field may have. */
export function guessValue(value: unknown, known: readonly unknown[]): string | undefined {
  if (typeof value !== 'string' && typeof value !== 'boolean') return undefined;
  const names = known.filter((one): one is string => typeof one === 'string');
  const nearest = nearestName(String(value), names, usualValueIndex);
  return nearest === undefined ? undefined : `Did you mean ${nearest}?`;
}

/** What other APIs call it is not always the same thing. */
function noteOn(name: string, nearest: string): string {
  const note = isUsual(name, nearest, usualFieldIndex) ? usualFields[nearest]?.note : undefined;
  return note === undefined ? '' : ` ${note}`;
}

/** Longer names are not compared: the work grows with the product of both lengths. */
const lengthMax = 40;
const editsMax = 2;
const distances = { sameForm: 0, usual: 0.5, beginning: 1, none: Number.POSITIVE_INFINITY } as const;

/** The names of a table of usual ones, by what other APIs call them. */
type UsualIndex = ReadonlyMap<string, readonly string[]>;

export function indexUsual(table: UsualNames): UsualIndex {
  const index = new Map<string, string[]>();
  for (const [ours, { usual }] of Object.entries(table)) {
    for (const theirs of usual.map(plainName)) index.set(theirs, [...(index.get(theirs) ?? []), ours]);
  }
  return index;
}

/**
 * The known name that was probably meant: the same in another case or form, what other APIs call it, one that begins like it, or one that
 * differs in two letters at most, and in one of three. Undefined: none is similar.
 */
export function nearestName(name: string, known: readonly string[], usual?: UsualIndex): string | undefined {
  let nearest: { candidate: string; distance: number } | undefined;
  for (const candidate of known) {
    const distance = nameDistance(name, candidate, usual);
    if (distance < (nearest?.distance ?? distances.none)) nearest = { candidate, distance };
  }
  return nearest?.candidate;
}

/** How far a name is from one that may be meant by it: 0 in another form, infinite if they are not similar. */
export function nameDistance(name: string, candidate: string, usual?: UsualIndex): number {
  if (name.length > lengthMax) return distances.none;
  const [plain, plainCandidate] = [plainName(name), plainName(candidate)];
  if (plain === plainCandidate) return plain === '' ? distances.none : distances.sameForm;
  if (usual && isUsual(name, candidate, usual)) return distances.usual;
  if (plain.length >= 3 && plainCandidate.startsWith(plain)) return distances.beginning;
  const edits = editDistance(plain, plainCandidate);
  return edits <= Math.max(plain.length, plainCandidate.length) / 3 ? edits : distances.none;
}

/** Whether other APIs call ours by this name. */
const isUsual = (name: string, ours: string, index: UsualIndex): boolean => index.get(plainName(name))?.includes(ours) ?? false;

/** In lower case, without what forms differ in: category_id, category-id and categoryId are the same, and so is filter[categoryId]. */
function plainName(name: string): string {
  return name
    .toLowerCase()
    .replace(/^filter\[/, '')
    .replaceAll(/[_\-. [\]]/g, '');
}

/**
 * How many letters must be inserted, removed, replaced or exchanged with the next one (optimal string alignment). Infinite if they are
 * more than two.
 */
function editDistance(one: string, other: string): number {
  if (Math.abs(one.length - other.length) > editsMax || other.length > lengthMax) return distances.none;
  let before: number[] = [];
  let row = Array.from({ length: other.length + 1 }, (_, i) => i);
  for (let i = 0; i < one.length; i += 1) {
    const next = [i + 1];
    for (let j = 0; j < other.length; j += 1) {
      const replaced = (row[j] ?? 0) + (one[i] === other[j] ? 0 : 1);
      const isExchanged = i > 0 && j > 0 && one[i] === other[j - 1] && one[i - 1] === other[j];
      const exchanged = isExchanged ? (before[j - 1] ?? 0) + 1 : distances.none;
      next.push(Math.min(replaced, exchanged, (row[j + 1] ?? 0) + 1, (next[j] ?? 0) + 1));
    }
    [before, row] = [row, next];
  }
  const edits = row[other.length] ?? 0;
  return edits > editsMax ? distances.none : edits;
}
