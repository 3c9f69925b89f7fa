import { folded, type Spellings } from '../../domain/label-spellings.ts';

/** A label that is asked for, in all of its usual spellings, and first as it was asked for. Empty: the text has no word. */
export function spellingsOf(spellings: Spellings, value: string): readonly string[] {
  const asked = folded(value);
  if (asked === '') return [];
  const known = bySpelling(spellings).get(asked) ?? [];
  return [asked, ...known.filter((spelling) => spelling !== asked)];
}

const groups = new WeakMap<Spellings, ReadonlyMap<string, readonly string[]>>();

function bySpelling(spellings: Spellings): ReadonlyMap<string, readonly string[]> {
  const known = groups.get(spellings);
  if (known) return known;
  const entries = Object.entries(spellings).flatMap(([name, others]) => [name, ...others].map((one) => [one, [name, ...others]] as const));
  const made = new Map(entries);
  groups.set(spellings, made);
  return made;
}

/** Between the labels of an animal, in a text that is compared with a pattern. */
export const labelSeparator = ' | ';

/** A pattern of PostgreSQL for labels with one of these, as whole words. Spellings have letters, digits and spaces alone. */
export const labelPattern = (spellings: readonly string[]): string =>
  `[^[:alnum:]](${spellings.map((spelling) => spelling.replaceAll(' ', '[^[:alnum:]|]+')).join('|')})[^[:alnum:]]`;
