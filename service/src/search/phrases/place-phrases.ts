import { isRightWord, meantLabel } from './curated-words.ts';
import type { Part, Place, Places, Vocabulary } from './phrase-filters.ts';
import { placeLeads } from './phrase-table.ts';
import { type Token, textOf } from './tokens.ts';

const placeWordsMax = 4;
/** Texts of a search that are compared with towns. */
const meantTownsMax = 8;
const townLengthMin = 4;
const leads: ReadonlySet<string> = new Set(placeLeads);

/** Texts that may be a town or a postcode of a shelter, to be looked up. */
export function placesAskedFor(tokens: readonly Token[]): readonly string[] {
  const asked = new Set<string>();
  for (let i = 0; i < tokens.length; i += 1) {
    const lead = leadLength(tokens, i);
    for (let length = 1; lead > 0 && length <= placeWordsMax; length += 1) addIfWords(asked, tokens, i + lead, length);
    for (const length of [1, 2]) {
      const text = textOf(tokens, i, length);
      if (text !== undefined && /\d/.test(text) && text.length >= 3) asked.add(text);
    }
  }
  return [...asked];
}

/** The words that no phrase has, if they may be a town without "in" before it: "dublin dogs". */
export function townAskedFor(rest: readonly Token[]): string | undefined {
  return rest.length <= placeWordsMax ? textOf(rest, 0, rest.length) : undefined;
}

/** A text that may be a misspelt town. */
export interface MeantTown {
  readonly text: string;
  /** The words that no phrase has beside it. */
  readonly rest: readonly Token[];
}

/** All words that no phrase has, or those behind "in": "dubln dogs", "shy dogs in dubln". */
export function meantTowns(tokens: readonly Token[], rest: readonly Token[]): readonly MeantTown[] {
  const texts = new Map<string, MeantTown>();
  const add = (from: number, length: number, lead: number) => {
    const words = tokens.slice(from, from + length);
    const text = textOf(tokens, from, length);
    if (text === undefined || texts.has(text) || texts.size === meantTownsMax || !mayBeMisspelt(text)) return;
    const used = new Set(tokens.slice(from - lead, from + length));
    if (words.every((word) => rest.includes(word))) texts.set(text, { text, rest: rest.filter((word) => !used.has(word)) });
  };
  const first = tokens.findIndex((token) => rest.includes(token));
  if (rest.length <= placeWordsMax && rest.length > 0 && leadLength(tokens, first) === 0) add(first, rest.length, 0);
  for (let i = 0; i < tokens.length; i += 1) {
    const lead = leadLength(tokens, i);
    for (let length = placeWordsMax; lead > 0 && length > 0; length -= 1) add(i + lead, length, lead);
  }
  return [...texts.values()];
}

/** A word that is misspelt, and not one of a breed or a color. */
function mayBeMisspelt(text: string): boolean {
  const wrong = text.split(' ').filter((word) => !isRightWord(word));
  return text.length >= townLengthMin && wrong.length > 0 && wrong.every((word) => meantLabel(word) === undefined);
}

function addIfWords(asked: Set<string>, tokens: readonly Token[], from: number, length: number): void {
  const text = textOf(tokens, from, length);
  if (text !== undefined) asked.add(text);
}

/** "in Vienna", "near 1020", "90210". */
export function placeAt(tokens: readonly Token[], i: number, { places }: Vocabulary): Part | undefined {
  const lead = leadLength(tokens, i);
  for (let length = placeWordsMax; length > 0; length -= 1) {
    const led = lead > 0 ? placeOf(tokens, i + lead, length, places) : undefined;
    if (led) return { from: i, length: lead + length, filters: led };
    const alone = placeOf(tokens, i, length, places);
    if (alone && 'postcode' in alone) return { from: i, length, filters: alone };
  }
  return undefined;
}

function placeOf(tokens: readonly Token[], from: number, length: number, places: Places): Place | undefined {
  const text = textOf(tokens, from, length);
  return text === undefined ? undefined : places.get(text);
}

function leadLength(tokens: readonly Token[], i: number): number {
  for (const length of [2, 1]) if (leads.has(textOf(tokens, i, length) ?? '')) return length;
  return 0;
}
