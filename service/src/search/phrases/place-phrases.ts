import type { Part, Place, Places, Vocabulary } from './phrase-filters.ts';
import { placeLeads } from './phrase-table.ts';
import { type Token, textOf } from './tokens.ts';

const placeWordsMax = 4;
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
