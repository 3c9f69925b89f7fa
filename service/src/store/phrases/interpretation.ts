import { folded } from '../../domain/folded-words.ts';
import { companions } from '../../domain/profile-values.ts';
import { ageAt, both, isPossible, monthsOf } from './age-phrases.ts';
import { negatedAt } from './negations.ts';
import type { Part, PhraseFilters, Vocabulary } from './phrase-filters.ts';
import { connectingWords, mixWords } from './phrase-table.ts';
import { phraseAt } from './phrases.ts';
import type { Token } from './tokens.ts';

/** What a filter that may be repeated takes. */
const valuesMax = 3;
const connecting: ReadonlySet<string> = new Set(connectingWords);
const mixes: ReadonlySet<string> = new Set(mixWords);

/** Those of a request. */
export type GivenFilters = { readonly [Name in keyof PhraseFilters]?: PhraseFilters[Name] | undefined };

export interface Interpretation {
  readonly filters: PhraseFilters;
  /** The other words. */
  readonly rest: readonly Token[];
  /** A phrase says what a filter of the request says already. */
  readonly agrees: boolean;
}

/** Undefined: nothing of the text is a phrase. `given` are the filters of the request, which win. */
export function interpret(tokens: readonly Token[], given: GivenFilters, vocabulary: Vocabulary): Interpretation | undefined {
  const parts = partsOf(tokens, vocabulary);
  const ambiguous = ambiguousFilters(parts);
  let filters: PhraseFilters = {};
  let agrees = false;
  const used = new Set<number>();
  let isBreedUsed = false;
  for (const { from, length, filters: meant, isBreed } of parts) {
    if (!meant || contradicts(meant, given, ambiguous)) continue;
    const merged = merge(filters, meant);
    if (new Set([...(given.color ?? []), ...(merged.color ?? [])]).size > valuesMax) continue;
    agrees ||= saysThemAlready(given, meant);
    filters = merged;
    isBreedUsed ||= isBreed ?? false;
    for (let i = from; i < from + length; i += 1) used.add(i);
  }
  if (used.size === 0) return undefined;
  const plain = new Set(parts.flatMap(({ from, length, filters: meant }) => (meant ? [] : indexes(from, length))));
  const rest = tokens.filter(({ folded: word, isQuoted }, i) => {
    if (used.has(i)) return false;
    if (isQuoted || plain.has(i)) return true;
    return !connecting.has(word) && !(isBreedUsed && mixes.has(word));
  });
  return { filters, rest, agrees };
}

const indexes = (from: number, length: number) => Array.from({ length }, (_, i) => from + i);

/** The phrases of the text, and what is not to be interpreted. */
function partsOf(tokens: readonly Token[], vocabulary: Vocabulary): Part[] {
  const parts: Part[] = [];
  for (let i = 0; i < tokens.length; ) {
    const part = partAt(tokens, i, vocabulary);
    if (part) parts.push(part);
    i += part?.length ?? 1;
  }
  return parts;
}

function partAt(tokens: readonly Token[], i: number, vocabulary: Vocabulary): Part | undefined {
  if (tokens[i]?.isQuoted) return undefined;
  const phrase = phraseAt(tokens, i, vocabulary);
  // "not older than 5" is an age.
  const age = ageAt(tokens, i);
  if (age?.filters) return phrase && phrase.length > age.length ? phrase : age;
  const negated = negatedAt(tokens, i, vocabulary);
  return negated && negated.length > (phrase?.length ?? 0) ? negated : phrase;
}

/** Filters with one value that phrases give several for: no phrase decides them. */
function ambiguousFilters(parts: readonly Part[]): ReadonlySet<string> {
  const values = new Map<string, Set<unknown>>();
  for (const [name, value] of parts.flatMap(({ filters }) => Object.entries(filters ?? {}))) {
    if (!Array.isArray(value)) values.set(name, (values.get(name) ?? new Set()).add(value));
  }
  const ambiguous = [...values].filter(([, different]) => different.size > 1).map(([name]) => name);
  const months = parts.map(({ filters = {} }) => monthsOf(filters)).reduce(both, {});
  return new Set([...ambiguous, ...(isPossible(months) ? [] : ['age', 'ageMonthsMin', 'ageMonthsMax'])]);
}

const saysThemAlready = (given: GivenFilters, meant: PhraseFilters) =>
  Object.entries(meant).some(([name, value]) => {
    const other = given[name as keyof PhraseFilters];
    return Array.isArray(value) && Array.isArray(other) ? value.some((one) => other.includes(one)) : isSame(other, value);
  });

const contradicts = (meant: PhraseFilters, given: GivenFilters, ambiguous: ReadonlySet<string>) =>
  !isPossible(both(monthsOf(meant), monthsOf(given))) ||
  Object.entries(meant).some(([name, value]) => {
    const other = given[name as keyof PhraseFilters];
    return ambiguous.has(name) || (!Array.isArray(value) && other !== undefined && !isSame(other, value));
  });

function merge(filters: PhraseFilters, meant: PhraseFilters): PhraseFilters {
  const color = [...new Set([...(filters.color ?? []), ...(meant.color ?? [])])];
  const goodWith = companions.filter((one) => filters.goodWith?.includes(one) || meant.goodWith?.includes(one));
  return { ...filters, ...meant, ...(color.length > 0 && { color }), ...(goodWith.length > 0 && { goodWith }) };
}

/** Accents and case of a town or a name don't matter. */
export const isSame = (one: unknown, other: unknown): boolean =>
  one === other || (typeof one === 'string' && typeof other === 'string' && folded(one) === folded(other));
