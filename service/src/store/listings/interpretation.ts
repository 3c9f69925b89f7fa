import { folded } from '../../domain/folded-words.ts';
import { type AgeBand, ageBandEndYears, ageBands, type Companion, companions } from '../../domain/profile-values.ts';
import {
  ageBounds,
  ageUnits,
  childrenLead,
  companionAdjectives,
  companionEnds,
  companionFaults,
  companionLeads,
  companionNouns,
  connectingWords,
  joints,
  type Meaning,
  mixWords,
  nameLeads,
  negatingNouns,
  negatingVerbs,
  numberWords,
  otherAgeBounds,
  placeLeads,
  plainPhrases,
  searchPhrases,
} from '../../domain/search-phrases.ts';

/** What words mean in this store. */
export interface Vocabulary {
  /** The category for a kind of animal, by the singular name of the kind or of the category itself. */
  readonly categoryIds: ReadonlyMap<string, bigint>;
  /** The towns and postcodes among those that were looked up, by the folded text. */
  readonly places: ReadonlyMap<string, Place>;
}

export type Place = { readonly town: string } | { readonly postcode: string };

/** The filters that phrases become. */
export interface PhraseFilters extends Omit<Meaning, 'species' | 'color' | 'goodWith'> {
  readonly categoryId?: bigint;
  readonly color?: readonly string[];
  readonly goodWith?: readonly Companion[];
  readonly name?: string;
  readonly town?: string;
  readonly postcode?: string;
}

/** Those of a request. */
export type GivenFilters = { readonly [Name in keyof PhraseFilters]?: PhraseFilters[Name] | undefined };

export interface Interpretation {
  readonly filters: PhraseFilters;
  /** The other words. */
  readonly rest: readonly Token[];
  /** A phrase says what a filter of the request says already. */
  readonly agrees: boolean;
}

export interface Token {
  readonly text: string;
  readonly folded: string;
  /** A comma or the like is before it. */
  readonly isAfterBreak: boolean;
  /** It was in quotes, and is a word whatever it may mean. */
  readonly isQuoted: boolean;
}

/** Part of a search. Without `filters` it is searched as words. */
interface Part {
  readonly from: number;
  readonly length: number;
  readonly filters?: PhraseFilters | undefined;
  readonly isBreed?: boolean;
}

const phraseWordsMax = 6;
const placeWordsMax = 4;
/** What a filter that may be repeated takes. */
const valuesMax = 3;

/** The words of a text. One of a hundred characters has fifty at most, and each step below looks at a bounded number of them. */
export function tokensOf(q: string): Token[] {
  const text = q.replace(/[“”„«»]/g, '"');
  const parts = text.split('"');
  // A last quote without another one is no quote.
  const quotedMax = parts.length % 2 === 1 ? parts.length : parts.length - 1;
  return parts.flatMap((part, n) => tokensOfPart(part, n % 2 === 1 && n < quotedMax, n > 0));
}

function tokensOfPart(part: string, isQuoted: boolean, isAfterQuote: boolean): Token[] {
  let isAfterBreak = isAfterQuote;
  return part.split(/([,;.!?:/()|]+|\s+)/u).flatMap((piece) => {
    if (/^[,;.!?:/()|]/.test(piece)) isAfterBreak = true;
    const words = piece.match(/[\p{L}\p{M}\p{N}]+/gu) ?? [];
    return words.flatMap((word) => {
      const one = folded(word);
      if (one === '') return [];
      const token = { text: word, folded: one, isAfterBreak, isQuoted };
      isAfterBreak = false;
      return [token];
    });
  });
}

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
  const negated = negatedAt(tokens, i, vocabulary);
  return negated && negated.length > (phrase?.length ?? 0) ? negated : phrase;
}

/** The longest phrase that begins here. */
function phraseAt(tokens: readonly Token[], i: number, vocabulary: Vocabulary): Part | undefined {
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
    const filters = text === undefined ? undefined : filtersOfPhrase(text, vocabulary);
    if (filters) return { from: i, length, filters, isBreed: filters.breed !== undefined };
  }
  return undefined;
}

function filtersOfPhrase(text: string, { categoryIds }: Vocabulary): PhraseFilters | undefined {
  const forms = singulars(text);
  const meaning = meaningOf(forms);
  if (meaning && meaning.species === undefined) return meaning;
  if (!meaning) {
    const categoryId = forms.map((form) => categoryIds.get(form)).find((id) => id !== undefined);
    return categoryId === undefined ? undefined : { categoryId };
  }
  const { species = '', ...others } = meaning;
  const categoryId = categoryIds.get(species);
  return categoryId === undefined ? undefined : { ...others, categoryId };
}

/** Also of a word with one consonant where two belong, or the other way round: "pupy", "rabit". */
function meaningOf(forms: readonly string[]): Meaning | undefined {
  const meaning = forms.map((form) => meanings.get(form)).find((one) => one !== undefined);
  if (meaning || forms[0]?.includes(' ')) return meaning;
  return forms.map((form) => meaningsWithoutDoubles.get(withoutDoubles(form))).find((one) => one !== undefined);
}

const withoutDoubles = (word: string) => word.replace(/([b-df-hj-np-tv-z])\1+/g, '$1');

/** "named Ginger". */
function nameAt(tokens: readonly Token[], i: number): Part | undefined {
  const name = nameLead.has(tokens[i]?.folded ?? '') ? tokens[i + 1] : undefined;
  return name && !name.isAfterBreak && !name.isQuoted ? { from: i, length: 2, filters: { name: name.text } } : undefined;
}

/** "good with cats and small kids", "dog friendly". */
function companionsAt(tokens: readonly Token[], i: number): Part | undefined {
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
function faultsAt(tokens: readonly Token[], i: number): Part | undefined {
  const list = companionList(tokens, i);
  const end = list && tokens[i + list.length];
  return list && end && !end.isAfterBreak && faults.has(end.folded) ? { from: i, length: list.length + 1 } : undefined;
}

interface CompanionList {
  readonly companions: readonly Companion[];
  readonly length: number;
}

function companionList(tokens: readonly Token[], from: number): CompanionList | undefined {
  const found: Companion[] = [];
  let end = from;
  for (let i = from; i < tokens.length && end - from < 2 * phraseWordsMax; ) {
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

/** What is negated is searched as words: an animal that is found must not be the opposite. */
function negatedAt(tokens: readonly Token[], i: number, vocabulary: Vocabulary): Part | undefined {
  const length = negationLength(tokens, i, nounNegations);
  if (length > 0) return { from: i, length: nounPhraseEnd(tokens, i + length, vocabulary) - i };
  const verb = negationLength(tokens, i, verbNegations);
  if (verb === 0) return undefined;
  let end = i + verb;
  while (end < tokens.length && !tokens[end]?.isAfterBreak && !tokens[end]?.isQuoted && tokens[end]?.folded !== 'but') end += 1;
  return { from: i, length: end - i };
}

function negationLength(tokens: readonly Token[], i: number, negations: ReadonlySet<string>): number {
  for (const length of [2, 1]) {
    const text = textOf(tokens, i, length);
    if (text !== undefined && negations.has(text)) return length;
  }
  return 0;
}

const wordsBeforeNounMax = 3;

/** Behind the first phrase, and those that are joined to it. */
function nounPhraseEnd(tokens: readonly Token[], from: number, vocabulary: Vocabulary): number {
  let end = from;
  for (let skipped = 0; end < tokens.length; ) {
    const phrase = tokens[end]?.isQuoted ? undefined : phraseAt(tokens, end, vocabulary);
    if (phrase?.filters && Object.keys(phrase.filters).length > 0) {
      end += phrase.length;
      const isNounNext = 'size' in phrase.filters || 'age' in phrase.filters || 'color' in phrase.filters || 'sex' in phrase.filters;
      if (jointWords.has(tokens[end]?.folded ?? '')) end += 1;
      else if (!(isNounNext && end < tokens.length && !tokens[end]?.isAfterBreak)) return end;
      skipped = 0;
    } else {
      if (skipped >= wordsBeforeNounMax || (end > from && tokens[end]?.isAfterBreak)) return end;
      skipped += 1;
      end += 1;
    }
  }
  return end;
}

/** "2 years old", "6 month old", "8wks", "under 1 year". */
function ageAt(tokens: readonly Token[], i: number): Part | undefined {
  const bound = ageBoundAt(tokens, i);
  if (!bound) return plainAgeAt(tokens, i);
  const age = plainAgeAt(tokens, i + bound.length);
  if (!age) return undefined;
  const isOfBand = age.years === (bound.is === 'below' ? ageBandEndYears.baby : ageBandEndYears.adult);
  return { from: i, length: bound.length + age.length, ...(isOfBand && { filters: { age: bound.is === 'below' ? 'baby' : 'senior' } }) };
}

function ageBoundAt(tokens: readonly Token[], i: number): { readonly is: 'below' | 'above'; readonly length: number } | undefined {
  for (const length of [2, 1]) {
    const text = textOf(tokens, i, length) ?? '';
    for (const is of ['below', 'above'] as const) if (ageBounds[is].includes(text)) return { is, length };
  }
  return undefined;
}

function plainAgeAt(tokens: readonly Token[], i: number): (Part & { readonly years: number }) | undefined {
  const [first, second] = [tokens[i]?.folded ?? '', tokens[i + 1]?.folded ?? ''];
  const [, glued, gluedUnit = ''] = /^(\d{1,2})([a-z]{1,6})$/.exec(first) ?? [];
  const count = glued === undefined ? countOf(first) : Number(glued);
  const unit = glued === undefined ? second : gluedUnit;
  const years = singulars(unit)
    .map((form) => ageUnits[form])
    .find((one) => one !== undefined);
  if (count === undefined || years === undefined) return undefined;
  let length = glued === undefined ? 2 : 1;
  if (['old', 'olds'].includes(tokens[i + length]?.folded ?? '')) length += 1;
  const isBound = otherAgeBounds.includes(tokens[i - 1]?.folded ?? '');
  return { from: i, length, years: count * years, ...(!isBound && { filters: { age: bandOf(count * years) } }) };
}

function countOf(word: string): number | undefined {
  if (/^\d{1,2}$/.test(word)) return Number(word);
  const index = numberWords.indexOf(word);
  return index === -1 ? undefined : index;
}

const bandOf = (years: number): AgeBand => ageBands.find((band) => years < ageBandEndYears[band]) ?? 'senior';

/** "in Vienna", "near 1020", "90210". */
function placeAt(tokens: readonly Token[], i: number, { places }: Vocabulary): Part | undefined {
  const lead = leadLength(tokens, i);
  for (let length = placeWordsMax; length > 0; length -= 1) {
    const led = lead > 0 ? placeOf(tokens, i + lead, length, places) : undefined;
    if (led) return { from: i, length: lead + length, filters: led };
    const alone = placeOf(tokens, i, length, places);
    if (alone && 'postcode' in alone) return { from: i, length, filters: alone };
  }
  return undefined;
}

function placeOf(tokens: readonly Token[], from: number, length: number, places: Vocabulary['places']): Place | undefined {
  const text = textOf(tokens, from, length);
  return text === undefined ? undefined : places.get(text);
}

function leadLength(tokens: readonly Token[], i: number): number {
  for (const length of [2, 1]) if (leadsOfPlaces.has(textOf(tokens, i, length) ?? '')) return length;
  return 0;
}

/** The words together; undefined: they end before, or a part of them is in quotes or behind a comma. */
function textOf(tokens: readonly Token[], from: number, length: number): string | undefined {
  const words = tokens.slice(from, from + length);
  if (words.length < length || words.some(({ isQuoted, isAfterBreak }, n) => isQuoted || (n > 0 && isAfterBreak))) return undefined;
  return words.map((word) => word.folded).join(' ');
}

/** The text, and what it may be the plural of. */
function singulars(text: string): string[] {
  const forms = [text];
  if (text.length > 3 && text.endsWith('ies')) forms.push(`${text.slice(0, -3)}y`);
  if (text.length > 3 && text.endsWith('es')) forms.push(text.slice(0, -2));
  if (text.length > 2 && text.endsWith('s')) forms.push(text.slice(0, -1));
  return forms;
}

/** Filters with one value that phrases give several for: no phrase decides them. */
function ambiguousFilters(parts: readonly Part[]): ReadonlySet<string> {
  const values = new Map<string, Set<unknown>>();
  for (const [name, value] of parts.flatMap(({ filters }) => Object.entries(filters ?? {}))) {
    if (!Array.isArray(value)) values.set(name, (values.get(name) ?? new Set()).add(value));
  }
  return new Set([...values].filter(([, different]) => different.size > 1).map(([name]) => name));
}

const saysThemAlready = (given: GivenFilters, meant: PhraseFilters) =>
  Object.entries(meant).some(([name, value]) => {
    const other = given[name as keyof PhraseFilters];
    return Array.isArray(value) && Array.isArray(other) ? value.some((one) => other.includes(one)) : isSame(other, value);
  });

/** Accents and case of a town or a name don't matter. */
export const isSame = (one: unknown, other: unknown): boolean =>
  one === other || (typeof one === 'string' && typeof other === 'string' && folded(one) === folded(other));

const contradicts = (meant: PhraseFilters, given: GivenFilters, ambiguous: ReadonlySet<string>) =>
  Object.entries(meant).some(([name, value]) => {
    const other = given[name as keyof PhraseFilters];
    return ambiguous.has(name) || (!Array.isArray(value) && other !== undefined && !isSame(other, value));
  });

function merge(filters: PhraseFilters, meant: PhraseFilters): PhraseFilters {
  const color = [...new Set([...(filters.color ?? []), ...(meant.color ?? [])])];
  const goodWith = companions.filter((one) => filters.goodWith?.includes(one) || meant.goodWith?.includes(one));
  return { ...filters, ...meant, ...(color.length > 0 && { color }), ...(goodWith.length > 0 && { goodWith }) };
}

const textsOf = (words: readonly string[]) => new Set(words);
const meanings = new Map(searchPhrases.flatMap(({ means, en }) => en.map((text) => [text, means] as const)));
/** Not breeds and colors: those are words of animals, which misspelt words are corrected to. */
const meaningsWithoutDoubles = new Map(
  [...meanings].flatMap(([text, means]) => (means.breed || means.color ? [] : [[withoutDoubles(text), means] as const])),
);
const nameLead = textsOf(nameLeads);
const plainTexts = textsOf(plainPhrases);
const leads = textsOf(companionLeads);
const adjectives = textsOf(companionAdjectives);
const ends = textsOf(companionEnds);
const faults = textsOf(companionFaults);
const jointWords = textsOf(joints);
const nounNegations = textsOf(negatingNouns);
const verbNegations = textsOf(negatingVerbs);
const connecting = textsOf(connectingWords);
const mixes = textsOf(mixWords);
const leadsOfPlaces = textsOf(placeLeads);
const companionByNoun = new Map(companions.flatMap((companion) => companionNouns[companion].map((noun) => [noun, companion] as const)));

/** The kinds of animals that a name has. */
export function speciesIn(name: string): readonly string[] {
  const tokens = tokensOf(name);
  const found: string[] = [];
  for (let i = 0; i < tokens.length; ) {
    const [species, length] = speciesAt(tokens, i);
    if (species !== undefined) found.push(species);
    i += length;
  }
  return found;
}

function speciesAt(tokens: readonly Token[], i: number): readonly [species: string | undefined, length: number] {
  for (let length = 2; length > 0; length -= 1) {
    const text = textOf(tokens, i, length);
    const meaning =
      text === undefined
        ? undefined
        : singulars(text)
            .map((form) => meanings.get(form))
            .find((one) => one?.species !== undefined);
    if (meaning) return [meaning.species, length];
  }
  return [undefined, 1];
}

/** What the name of a category is called in a search: the name, and what it may be the plural of. */
export const categoryForms = (name: string): readonly string[] => singulars(folded(name));
