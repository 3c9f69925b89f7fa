import { folded } from '../../domain/label-spellings.ts';
import { listingFilters, readExcluded, sizesOf } from '../../domain/listing-filters.ts';
import { companions, type Size, sizes } from '../../domain/profile-fields.ts';
import { both, isPossible, monthsOf } from './age-phrases.ts';
import { negatedAt } from './negations.ts';
import type { Correction, Part, PhraseFilters, Vocabulary } from './phrase-filters.ts';
import { connectingWords, mixWords } from './phrase-table.ts';
import { phraseAt } from './phrases.ts';
import type { Token } from './tokens.ts';

/** What a filter that may be repeated takes. */
const valuesMax = 3;
const exclusionsMax = listingFilters.not.countMax;
const connecting: ReadonlySet<string> = new Set(connectingWords);
const mixes: ReadonlySet<string> = new Set(mixWords);

/** Those of a request. */
export type GivenFilters = { readonly [Name in keyof PhraseFilters]?: PhraseFilters[Name] | undefined };

export interface Interpretation {
  readonly filters: PhraseFilters;
  /** The other words. */
  readonly rest: readonly Token[];
  /** What says nothing of an animal: "looking for a". */
  readonly leftOut: readonly string[];
  readonly corrections: readonly Correction[];
  /** A phrase says what a filter of the request says already. */
  readonly agrees: boolean;
}

/** Undefined: nothing of the text is a phrase. `given` are the filters of the request, which win. */
export function interpret(tokens: readonly Token[], given: GivenFilters, vocabulary: Vocabulary): Interpretation | undefined {
  const parts = besideKind(partsOf(tokens, vocabulary), given);
  const asked = askedOf(parts, given);
  const ambiguous = ambiguousFilters(parts);
  let filters: PhraseFilters = {};
  let agrees = false;
  const leftOut: string[] = [];
  const corrections: Correction[] = [];
  const used = new Set<number>();
  let isBreedUsed = false;
  for (const { from, length, filters: meant, isBreed, correction } of parts) {
    if (!meant || contradicts(meant, given, ambiguous) || excludes(meant, asked)) continue;
    const merged = merge(filters, meant);
    if (new Set([...(given.color ?? []), ...(merged.color ?? [])]).size > valuesMax) continue;
    if (new Set([...(given.not ?? []), ...(merged.not ?? [])]).size > exclusionsMax) continue;
    agrees ||= saysThemAlready(given, meant);
    filters = merged;
    if (Object.keys(meant).length === 0) leftOut.push(typedText(tokens, from, length));
    if (correction) corrections.push(correction);
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
  return { filters, rest, leftOut, corrections, agrees };
}

const typedText = (tokens: readonly Token[], from: number, length: number) =>
  tokens
    .slice(from, from + length)
    .map(({ text }) => text)
    .join(' ');

/** "dog, no cats" is for a home without cats. */
function besideKind(parts: readonly Part[], given: GivenFilters): readonly Part[] {
  const isAsked = [given, ...parts.map(({ filters }) => filters)].some((one) => one?.categoryId !== undefined || one?.breed !== undefined);
  return isAsked ? parts.map((part) => (part.notBesideKind ? { ...part, filters: { not: part.notBesideKind } } : part)) : parts;
}

/** All that is asked for, by the request or by a phrase. */
const askedOf = (parts: readonly Part[], given: GivenFilters): PhraseFilters =>
  parts.reduce((all, { filters }) => (filters ? merge(all, filters) : all), merge({}, given as PhraseFilters));

/** What it leaves out is asked for, or the request leaves out what it means. */
function excludes({ not, ...meant }: PhraseFilters, asked: PhraseFilters): boolean {
  const isAskedIn = (text: string, filters: PhraseFilters) =>
    Object.entries(readExcluded(text)).every(([name, value]) => {
      const one = filters[name as keyof PhraseFilters];
      return Array.isArray(one) ? [value].flat().every((each) => one.includes(each as string)) : isSame(one, value);
    });
  const isLeftOut = Object.keys(meant).length > 0 && asked.not?.some((text) => isAskedIn(text, meant));
  return isLeftOut || (not?.some((text) => isAskedIn(text, asked)) ?? false);
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
  // Some begin with a negation: "no hair", "not older than 5", "no problem with cats".
  return phraseAt(tokens, i, vocabulary) ?? negatedAt(tokens, i, vocabulary);
}

/** Filters with one value that phrases give several for: no phrase decides them. */
function ambiguousFilters(parts: readonly Part[]): ReadonlySet<string> {
  const values = new Map<string, Set<unknown>>();
  for (const [name, value] of parts.flatMap(({ filters }) => Object.entries(filters ?? {}))) {
    if (!Array.isArray(value)) values.set(name, (values.get(name) ?? new Set()).add(value));
  }
  const ambiguous = [...values].filter(([, different]) => different.size > 1).map(([name]) => name);
  const months = parts.map(({ filters = {} }) => monthsOf(filters)).reduce(both, {});
  const areSizesPossible = sizesAllowed(...parts.map(({ filters = {} }) => filters)).length > 0;
  return new Set([
    ...ambiguous,
    ...(isPossible(months) ? [] : ['age', 'ageMonthsMin', 'ageMonthsMax']),
    ...(areSizesPossible ? [] : ['size', 'sizeMin', 'sizeMax']),
  ]);
}

/** The sizes that all of these filters allow. */
const sizesAllowed = (...all: readonly GivenFilters[]): readonly Size[] =>
  sizes.filter((one) =>
    all.every(
      ({ size = one, sizeMin, sizeMax }) =>
        size === one &&
        (sizeMin === undefined || sizesOf('min', sizeMin).includes(one)) &&
        (sizeMax === undefined || sizesOf('max', sizeMax).includes(one)),
    ),
  );

const saysThemAlready = (given: GivenFilters, meant: PhraseFilters) =>
  Object.entries(meant).some(([name, value]) => {
    const other = given[name as keyof PhraseFilters];
    return Array.isArray(value) && Array.isArray(other) ? value.some((one) => other.includes(one)) : isSame(other, value);
  });

const contradicts = (meant: PhraseFilters, given: GivenFilters, ambiguous: ReadonlySet<string>) =>
  !isPossible(both(monthsOf(meant), monthsOf(given))) ||
  sizesAllowed(meant, given).length === 0 ||
  Object.entries(meant).some(([name, value]) => {
    const other = given[name as keyof PhraseFilters];
    return ambiguous.has(name) || (!Array.isArray(value) && other !== undefined && !isSame(other, value));
  });

function merge(filters: PhraseFilters, meant: PhraseFilters): PhraseFilters {
  const color = [...new Set([...(filters.color ?? []), ...(meant.color ?? [])])];
  const goodWith = companions.filter((one) => filters.goodWith?.includes(one) || meant.goodWith?.includes(one));
  const not = [...new Set([...(filters.not ?? []), ...(meant.not ?? [])])];
  return {
    ...filters,
    ...meant,
    ...(not.length > 0 && { not }),
    ...(color.length > 0 && { color }),
    ...(goodWith.length > 0 && { goodWith }),
  };
}

/** Accents and case of a town or a name don't matter. */
export const isSame = (one: unknown, other: unknown): boolean =>
  one === other || (typeof one === 'string' && typeof other === 'string' && folded(one) === folded(other));
