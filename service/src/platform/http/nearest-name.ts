/** Longer names are not compared: the work grows with the product of both lengths. */
const lengthMax = 40;

/**
 * The known name that was probably meant: it differs in one letter of three at most, or begins like this one. Undefined: none is
 * similar.
 */
export function nearestName(name: string, known: readonly string[]): string | undefined {
  if (name.length > lengthMax) return undefined;
  const lower = name.toLowerCase();
  const [nearest] = known
    .map((candidate) => ({ candidate, distance: begins(candidate, lower) ? 1 : distanceOf(lower, candidate.toLowerCase()) }))
    .filter(({ candidate, distance }) => distance <= Math.max(name.length, candidate.length) / 3)
    .sort((a, b) => a.distance - b.distance);
  return nearest?.candidate;
}

const begins = (candidate: string, lower: string) => lower.length >= 3 && candidate.toLowerCase().startsWith(lower);

/** How many letters must be inserted, removed or replaced (Levenshtein). */
function distanceOf(one: string, other: string): number {
  let row = Array.from({ length: other.length + 1 }, (_, i) => i);
  for (const [i, letter] of [...one].entries()) {
    const next = [i + 1];
    for (let j = 0; j < other.length; j += 1) {
      const replaced = (row[j] ?? 0) + (letter === other[j] ? 0 : 1);
      next.push(Math.min(replaced, (row[j + 1] ?? 0) + 1, (next[j] ?? 0) + 1));
    }
    row = next;
  }
  return row[other.length] ?? 0;
}
