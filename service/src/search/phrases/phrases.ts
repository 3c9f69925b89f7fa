import { type Companion, companions } from '../../domain/profile-fields.ts';
import { ageAt } from './age-phrases.ts';
import { isMisspelt, isRightWord, meantLabel, meantPhrase } from './curated-words.ts';
import type { Part, PhraseFilters, Vocabulary } from './phrase-filters.ts';
import {
  childrenLead,
  companionAdjectives,
  companionEnds,
  companionFaults,
  companionLeads,
  companionNouns,
  joints,
  type Meaning,
  nameLeads,
  plainPhrases,
  positiveLeads,
  searchPhrases,
} from './phrase-table.ts';
import { placeAt } from './place-phrases.ts';
import { singulars, type Token, textOf } from './tokens.ts';

const phraseWordsMax = 6;
/** Shorter names of categories are like too many words. */
const categoryLengthMin = 5;
const nameLead: ReadonlySet<string> = new Set(nameLeads);
const plainTexts: ReadonlySet<string> = new Set(plainPhrases);
/** What each phrase of the table means. */
export const meanings: ReadonlyMap<string, Meaning> = new Map(
  searchPhrases.flatMap(({ means, en }) => en.map((text) => [text, means] as const)),
);

/** The longest phrase that begins here. */
export function phraseAt(tokens: readonly Token[], i: number, vocabulary: Vocabulary): Part | undefined {
  const found = [
    plainAt(tokens, i),
    companionsAt(tokens, i),
    faultsAt(tokens, i),
    ageAt(tokens, i),
    placeAt(tokens, i, vocabulary),
    nameAt(tokens, i),
    knownAt(tokens, i, vocabulary),
  ];
  return found.reduce((best, one) => (one && one.length > (best?.length ?? 0) ? one : best), undefined);
}

function plainAt(tokens: readonly Token[], i: number): Part | undefined {
  for (let length = phraseWordsMax; length > 1; length -= 1) {
    const text = textOf(tokens, i, length);
    if (text !== undefined && singulars(text).some((one) => plainTexts.has(one))) return { from: i, length };
  }
  return undefined;
}

function knownAt(tokens: readonly Token[], i: number, vocabulary: Vocabulary): Part | undefined {
  for (let length = phraseWordsMax; length > 0; length -= 1) {
    const text = textOf(tokens, i, length);
    const known = text === undefined ? undefined : filtersOfPhrase(text, vocabulary);
    if (!known || text === undefined) continue;
    const { filters, searched } = known;
    return { from: i, length, filters, isBreed: filters.breed !== undefined, ...(searched && { correction: { typed: text, searched } }) };
  }
  return undefined;
}

interface Known {
  readonly filters: PhraseFilters;
  /** The word that is meant, if it is another one. */
  readonly searched?: string | undefined;
}

function filtersOfPhrase(text: string, { categoryIds, isSpellingExact = false }: Vocabulary): Known | undefined {
  const plain = known(text, categoryIds);
  if (plain || isSpellingExact) return plain && { filters: plain };
  const searched = text.includes(' ') ? meantLabels(text) : (meantPhrase(text) ?? meantCategory(text, categoryIds));
  const filters = searched === undefined ? undefined : known(searched, categoryIds);
  return filters && { filters, searched };
}

function known(text: string, categoryIds: Vocabulary['categoryIds']): PhraseFilters | undefined {
  const forms = singulars(text);
  const meaning = forms.map((form) => meanings.get(form)).find((one) => one !== undefined);
  if (meaning && meaning.species === undefined) return meaning;
  const kind = meaning ? [meaning.species ?? ''] : forms;
  const categoryId = kind.map((form) => categoryIds.get(form)).find((id) => id !== undefined);
  if (categoryId === undefined) return undefined;
  const { species: _, ...others } = meaning ?? {};
  return { ...others, categoryId };
}

/** A breed of several words of which one is misspelt. A word alone may be one of animals: it is corrected where it is searched for. */
function meantLabels(text: string): string | undefined {
  const words = text.split(' ');
  const [wrong, ...others] = words.filter((word) => !isRightWord(word));
  const meant = wrong === undefined || others.length > 0 ? undefined : meantLabel(wrong);
  return meant === undefined
    ? undefined
    : singulars(words.map((word) => (word === wrong ? meant : word)).join(' ')).find((one) => meanings.has(one));
}

/** The kind of animal of this store. */
function meantCategory(word: string, categoryIds: Vocabulary['categoryIds']): string | undefined {
  if (word.length < categoryLengthMin || isRightWord(word) || meantLabel(word) !== undefined) return undefined;
  for (const name of categoryIds.keys()) if (name[0] === word[0] && isMisspelt(word, name)) return name;
  return undefined;
}

/** "named Ginger". */
function nameAt(tokens: readonly Token[], i: number): Part | undefined {
  const name = nameLead.has(tokens[i]?.folded ?? '') ? tokens[i + 1] : undefined;
  return name && !name.isAfterBreak && !name.isQuoted ? { from: i, length: 2, filters: { name: name.text } } : undefined;
}

const listWordsMax = 12;
const leads: ReadonlySet<string> = new Set(companionLeads);
const adjectives: ReadonlySet<string> = new Set(companionAdjectives);
const ends: ReadonlySet<string> = new Set(companionEnds);
const faults: ReadonlySet<string> = new Set(companionFaults);
const jointWords: ReadonlySet<string> = new Set(joints);
const companionByNoun = new Map(companions.flatMap((companion) => companionNouns[companion].map((noun) => [noun, companion] as const)));

/** "good with cats and small kids", "dog friendly". */
export function companionsAt(tokens: readonly Token[], i: number): Part | undefined {
  for (let lead = 4; lead > 0; lead -= 1) {
    const text = textOf(tokens, i, lead);
    if (text === undefined || !(leads.has(text) || text === childrenLead)) continue;
    const found = companionList(tokens, i + lead);
    if (!found || (text === childrenLead && found.companions.some((one) => one !== 'children'))) continue;
    return { from: i, length: lead + found.length, filters: { goodWith: found.companions } };
  }
  const list = companionList(tokens, i);
  const end = list && tokens[i + list.length];
  return list && end && !end.isAfterBreak && ends.has(end.folded)
    ? { from: i, length: list.length + 1, filters: { goodWith: list.companions } }
    : undefined;
}

/** "cat free", "dog reactive". */
export function faultsAt(tokens: readonly Token[], i: number): Part | undefined {
  const list = companionList(tokens, i);
  const end = list && tokens[i + list.length];
  return list && end && !end.isAfterBreak && faults.has(end.folded)
    ? { from: i, length: list.length + 1, filters: { not: list.companions.map((one) => `goodWith:${one}`) } }
    : undefined;
}

export interface CompanionList {
  readonly companions: readonly Companion[];
  readonly length: number;
}

export function companionList(tokens: readonly Token[], from: number): CompanionList | undefined {
  const found: Companion[] = [];
  let end = from;
  for (let i = from; i < tokens.length && end - from < listWordsMax; ) {
    let at = i;
    const isJoined = found.length > 0 && tokens[at] !== undefined && (jointWords.has(tokens[at]?.folded ?? '') || tokens[at]?.isAfterBreak);
    if (found.length > 0 && !isJoined) break;
    if (found.length > 0 && jointWords.has(tokens[at]?.folded ?? '')) at += 1;
    while (adjectives.has(tokens[at]?.folded ?? '') && !tokens[at]?.isQuoted) at += 1;
    const token = tokens[at];
    const companion = token && !token.isQuoted ? companionOf(token.folded) : undefined;
    if (!companion) break;
    found.push(companion);
    end = at + 1;
    i = end;
  }
  return found.length === 0 ? undefined : { companions: [...new Set(found)], length: end - from };
}

const companionOf = (word: string) =>
  singulars(word)
    .map((form) => companionByNoun.get(form))
    .find((one) => one !== undefined);

/** "good with", also without what it is good with. */
export const isPositiveLead = (tokens: readonly Token[], i: number): boolean => positiveLeads.includes(tokens[i]?.folded ?? '');
