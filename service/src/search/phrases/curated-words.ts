// The words that misspelt ones are corrected to: those of breeds and colors, and phrases of one word. All are written in tables of the
// program. No animal adds one, so nobody's names change what the words of others are corrected to.
import { breedSpellings, colorSpellings, type Spellings } from '../../domain/label-spellings.ts';
import * as phraseTable from './phrase-table.ts';
import { singulars } from './tokens.ts';

const lengthMin = 4;
const lengthMax = 32;
/** Shorter words may have one wrong letter, these two. */
const twoWrongLengthMin = 7;
const phraseLengthMin = 5;

/** In tenths of a letter. A wrong consonant counts more than a wrong vowel: two of them make another word. */
const letterCost = 10;
const consonantCost = 12;
const costMax = { oneWrong: 12, twoWrong: 21 } as const;
const otherFirstLetterCost = 0.5;
const vowels = 'aeiouy';

/** These look like misspelt ones, and are right: names of animals, and words of descriptions and searches. */
const rightWords: readonly string[] = [
  ...['charlie', 'charley', 'maggie', 'abby', 'pepper', 'ollie', 'dixie', 'moose', 'lilly', 'jerry', 'shelly', 'tigger', 'callie', 'poppy'],
  ...['tilly', 'noodle', 'odie', 'sarge', 'sunny', 'butch', 'brownie', 'billy', 'lottie', 'moxie', 'roxie', 'shiva', 'taffy', 'greta'],
  ...[
    'digger',
    'carly',
    'cairo',
    'iris',
    'gabby',
    'mitten',
    'milly',
    'bunty',
    'chuck',
    'snape',
    'mabel',
    'coral',
    'dusky',
    'sally',
    'molly',
  ],
  ...['potty', 'stable', 'pointed', 'creamy', 'sleep', 'sleepy', 'treat', 'person', 'greet', 'write', 'sheet', 'shelf', 'shirt', 'shore'],
  ...[
    'paint',
    'boxed',
    'box',
    'bound',
    'found',
    'sound',
    'round',
    'mound',
    'better',
    'letter',
    'block',
    'blank',
    'olden',
    'drown',
    'frown',
  ],
  ...['blown', 'brow', 'dream', 'scream', 'cram', 'table', 'cable', 'fable', 'sliver', 'burly', 'surly', 'finger', 'linger', 'cabby'],
  ...[
    'fellow',
    'bellow',
    'mellow',
    'back',
    'crown',
    'lila',
    'potted',
    'spitted',
    'college',
    'collide',
    'husk',
    'barrier',
    'carrier',
    'boarder',
    'order',
    'eagle',
  ],
  ...[
    'hund',
    'smell',
    'spell',
    'swell',
    'while',
    'basket',
    'guppy',
    'house',
    'shake',
    'grant',
    'lange',
    'loose',
    'goods',
    'funny',
    'silly',
  ],
];

/** The words of breeds and colors that may be meant, and what is searched for: of another name of a breed, the breed. */
const labels = new Map<string, string>();
for (const spellings of [breedSpellings, colorSpellings]) addLabels(spellings);

/** The words of kinds of animals, which are searched for as words in a store that has no category for them. */
const kinds = new Set(
  phraseTable.searchPhrases
    .filter(({ means }) => means.species !== undefined && Object.keys(means).length === 1)
    .flatMap(({ en }) => en.flatMap((text) => text.split(' '))),
);
for (const word of kinds) if (word.length > lengthMin && !labels.has(word)) labels.set(word, word);

/** Phrases of one word that say something of an animal, and are neither a breed nor a color. */
const phrases = new Map<string, string>();
const phrasesWithoutDoubles = new Map<string, string>();
for (const { means, en } of phraseTable.searchPhrases) {
  if (means.breed || means.color) continue;
  for (const text of en) phrasesWithoutDoubles.set(withoutDoubles(text), text);
  if (Object.keys(means).length > 0)
    for (const text of en) if (text.length >= phraseLengthMin && !text.includes(' ')) phrases.set(text, text);
}

const known: ReadonlySet<string> = new Set([...rightWords, ...labels.keys(), ...textsOf(phraseTable)].flatMap((text) => text.split(' ')));
const [labelsByLength, phrasesByLength] = [byLength(labels), byLength(phrases)];

/** Whether the word is in a table, so that it is not misspelt. */
export const isRightWord = (word: string): boolean => singulars(word).some((form) => known.has(form));

/** What is searched for in place of a misspelt word of a breed, a color or a kind of animal, or of its plural. */
export function meantLabel(word: string): string | undefined {
  if (word.length > lengthMax || known.has(word)) return undefined;
  const forms = singulars(word);
  const singular = forms.find((form) => labels.has(form) || kinds.has(form));
  if (singular !== undefined) return labels.get(singular) ?? singular;
  if (isRightWord(word)) return undefined;
  for (const form of forms) {
    const meant = nearest(form, labelsByLength, costMaxOf(form));
    if (meant !== undefined) return meant;
  }
  return undefined;
}

/** The phrase that a word means which has one consonant where two belong, or the other way round, or one other wrong letter. */
export function meantPhrase(word: string): string | undefined {
  if (word.includes(' ') || word.length > lengthMax) return undefined;
  for (const form of singulars(word)) {
    const meant = phrasesWithoutDoubles.get(withoutDoubles(form));
    if (meant !== undefined) return meant;
  }
  if (isRightWord(word) || meantLabel(word) !== undefined) return undefined;
  for (const form of singulars(word)) {
    const meant = nearest(form, phrasesByLength, costMax.oneWrong);
    if (meant !== undefined && meant[0] === form[0]) return meant;
  }
  return undefined;
}

/** Whether a text may be a misspelt other one. */
export function isMisspelt(typed: string, text: string): boolean {
  return Math.min(typed.length, text.length) >= lengthMin && costOf(typed, text, costMaxOf(typed)) !== undefined;
}

function addLabels(spellings: Spellings): void {
  const add = (word: string, searched: string) => word.length >= lengthMin && !labels.has(word) && labels.set(word, searched);
  for (const name of Object.keys(spellings)) for (const word of name.split(' ')) add(word, word);
  for (const [name, others] of Object.entries(spellings)) {
    for (const other of others) {
      // "german shepard" has a word of the name, misspelt.
      for (const word of other.split(' '))
        add(word, other === word ? name : (name.split(' ').find((one) => isMisspelt(word, one)) ?? word));
    }
  }
}

function textsOf(value: unknown): string[] {
  if (typeof value === 'string') return [value];
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(textsOf) : [];
}

function withoutDoubles(word: string): string {
  return word.replace(/([b-df-hj-np-tv-z])\1+/g, '$1');
}

interface Candidate {
  readonly word: string;
  readonly searched: string;
  readonly letters: number;
}

function byLength(words: ReadonlyMap<string, string>): readonly Candidate[][] {
  const lists = Array.from({ length: lengthMax + 3 }, (): Candidate[] => []);
  for (const [word, searched] of words) lists[word.length]?.push({ word, searched, letters: lettersOf(word) });
  return lists;
}

function costMaxOf(word: string): number {
  return word.length < twoWrongLengthMin ? costMax.oneWrong : costMax.twoWrong;
}

/** Compared with the words of about the same length and letters alone: some ten. */
function nearest(typed: string, words: readonly Candidate[][], max: number): string | undefined {
  if (typed.length < lengthMin) return undefined;
  const wrongMax = Math.floor(max / letterCost);
  const letters = lettersOf(typed);
  let best: string | undefined;
  let least = Number.POSITIVE_INFINITY;
  for (let length = typed.length - wrongMax; length <= typed.length + wrongMax; length += 1) {
    for (const candidate of words[length] ?? []) {
      if (differentLetters(letters, candidate.letters) > 2 * wrongMax) continue;
      const cost = costOf(typed, candidate.word, max);
      if (cost === undefined) continue;
      // Most people get the first letter right.
      const total = cost + (typed[0] === candidate.word[0] ? 0 : otherFirstLetterCost);
      if (total < least) [best, least] = [candidate.searched, total];
    }
  }
  return best;
}

/** A bit for each letter that a word has. */
function lettersOf(word: string): number {
  let letters = 0;
  for (let i = 0; i < word.length; i += 1) letters |= 1 << (word.charCodeAt(i) & 31);
  return letters;
}

function differentLetters(one: number, other: number): number {
  let count = 0;
  for (let different = one ^ other; different !== 0; different &= different - 1) count += 1;
  return count;
}

/** What it costs to make a word of another, by letters that are missing, too many, wrong, or swapped with the next. Undefined: more than `max`. */
function costOf(typed: string, word: string, max: number): number | undefined {
  if (Math.abs(typed.length - word.length) * letterCost > max) return undefined;
  // Words of four letters are like too many others, unless they have the same letters.
  if (word.length <= lengthMin && lettersOf(typed) !== lettersOf(word)) return undefined;
  let before: number[] = [];
  let last = Array.from({ length: word.length + 1 }, (_, j) => j * letterCost);
  for (let i = 1; i <= typed.length; i += 1) {
    const row = [i * letterCost];
    for (let j = 1; j <= word.length; j += 1) {
      const [one = '', other = ''] = [typed[i - 1], word[j - 1]];
      const isSwapped = i > 1 && j > 1 && one === word[j - 2] && typed[i - 2] === other;
      row[j] = Math.min(
        costAt(last, j) + letterCost,
        costAt(row, j - 1) + letterCost,
        costAt(last, j - 1) + replacedCost(one, other),
        isSwapped ? costAt(before, j - 2) + letterCost : Number.POSITIVE_INFINITY,
      );
    }
    if (Math.min(...row) > max) return undefined;
    [before, last] = [last, row];
  }
  const cost = costAt(last, word.length);
  return cost > max ? undefined : cost;
}

function costAt(row: readonly number[], j: number): number {
  return row[j] ?? Number.POSITIVE_INFINITY;
}

function replacedCost(one: string, other: string): number {
  if (one === other) return 0;
  return vowels.includes(one) && vowels.includes(other) ? letterCost : consonantCost;
}
