// Misspelt words of breeds, colors and towns, always the same ones: a letter is dropped, doubled, swapped with the next or replaced.
import { breedSpellings, colorSpellings } from '../../../src/domain/label-spellings.ts';

export const towns = [
  ...['Dublin', 'Galway', 'Limerick', 'Waterford', 'Reading', 'Bristol', 'Sheffield', 'Norwich', 'Vienna', 'Salzburg', 'Innsbruck'],
  ...['Toulouse', 'Bordeaux', 'Marseille', 'Hamburg', 'Stuttgart', 'New York', 'San Diego', 'Baden-Baden', 'Den Haag'],
] as const;

export interface Misspelt {
  readonly typed: string;
  /** The whole breed, color or town that is meant. */
  readonly meant: string;
  readonly of: 'breed' | 'color' | 'town';
}

type Way = (word: string, at: number) => string;
const letters = 'abcdefghijklmnopqrstuvwxyz';
const ways: readonly Way[] = [
  (word, at) => word.slice(0, at) + word.slice(at + 1),
  (word, at) => word.slice(0, at + 1) + word.slice(at),
  (word, at) => word.slice(0, at) + (word[at + 1] ?? '') + word[at] + word.slice(at + 2),
  (word, at) => word.slice(0, at) + letters[(letters.indexOf(word[at] ?? '') + 1 + at) % letters.length] + word.slice(at + 1),
];
/** Of shorter words too much is lost with a letter. */
const lengthMin = 5;

const made = new Set<string>();
const isFirst = (word: string) => made.size < made.add(word).size;

/** Each name in each way in which it can be misspelt, at a place that depends on both. */
function misspell(names: readonly string[], of: Misspelt['of']): Misspelt[] {
  return names.flatMap((name, n) => {
    const words = name.toLowerCase().split(/[ -]/);
    const longest = words.reduce((one, other) => (other.length > one.length ? other : one));
    if (longest.length < lengthMin) return [];
    return ways.flatMap((way, w): Misspelt[] => {
      const word = way(longest, (n + w) % (longest.length - 1));
      return word === longest || !isFirst(word)
        ? []
        : [{ typed: words.map((one) => (one === longest ? word : one)).join(' '), meant: name, of }];
    });
  });
}

/** So many of each, spread over all. */
const take = (all: readonly Misspelt[], count: number) =>
  Array.from({ length: count }, (_, i) => all[Math.floor((i * all.length) / count)]).filter((one) => one !== undefined);

export const misspelt: readonly Misspelt[] = [
  ...take(misspell(Object.keys(breedSpellings), 'breed'), 120),
  ...take(misspell(Object.keys(colorSpellings), 'color'), 60),
  ...take(misspell(towns, 'town'), 60),
];
