import { excludedText } from '../../domain/listing-filters.ts';
import type { Companion } from '../../domain/profile-fields.ts';
import type { Part, PhraseFilters, Vocabulary } from './phrase-filters.ts';
import {
  companyNegations,
  companyVerbs,
  intensifiers,
  joints,
  kindNegations,
  negatingNouns,
  negatingVerbs,
  phrasesJoinedByNegation,
} from './phrase-table.ts';
import { type CompanionList, companionList, companionsAt, isPositiveLead, phraseAt } from './phrases.ts';
import { type Token, textOf } from './tokens.ts';

/*
 * What is negated is left out, if it is known what it is:
 * - "no cats", alone: cats. Beside another kind of animal: those that are known to get along with cats, since the home has none or the
 *   animal can't live with them. "no kids" is always the second.
 * - "not good with cats", "hates cats": those that are known to get along with cats.
 * - "not small", "other than cats", "no black cats": what the phrase means.
 *
 * All else that is negated is searched as words: a filter for its opposite would find what contradicts.
 */

const wordsOf = (texts: readonly string[]): ReadonlySet<string> => new Set(texts);
const nouns = wordsOf(negatingNouns);
const verbs = wordsOf(negatingVerbs);
const kinds = wordsOf(kindNegations);
const companies = wordsOf(companyNegations);
const skipped = wordsOf(companyVerbs);
const jointWords = wordsOf(joints);
const intensifying = wordsOf(intensifiers);
const joined = wordsOf(phrasesJoinedByNegation);
const skippedMax = 6;

export function negatedAt(tokens: readonly Token[], i: number, vocabulary: Vocabulary): Part | undefined {
  const reads: ReadonlyArray<readonly [ReadonlySet<string>, (from: number) => Excluding | undefined]> = [
    [nouns, (from) => withoutAt(tokens, from, vocabulary)],
    [companies, (from) => ofCompany(companionList(tokens, afterArticles(tokens, from)), afterArticles(tokens, from))],
    [kinds, (from) => groupsAt(tokens, afterArticles(tokens, from), vocabulary)],
    [verbs, (from) => negatedPhraseAt(tokens, from, vocabulary)],
  ];
  for (const [words, read] of reads) {
    const length = lengthAt(tokens, i, words);
    if (length === 0) continue;
    const found = read(i + length);
    if (!found) return { from: i, length: clauseEnd(tokens, i + length) - i };
    const { end, not, ...others } = extended(tokens, found, vocabulary);
    return { from: i, length: end - i, filters: { not }, ...others };
  }
  return undefined;
}

/** Words that must stand together to mean what they say: "not shy". */
export function negatedPhrases(tokens: readonly Token[]): string[] {
  return tokens.flatMap((token, i) => {
    if (!joined.has(token.folded)) return [];
    let end = i + 1;
    while (end < tokens.length - 1 && intensifying.has(tokens[end]?.folded ?? '')) end += 1;
    return end < tokens.length
      ? [
          tokens
            .slice(i, end + 1)
            .map(({ text }) => text)
            .join(' '),
        ]
      : [];
  });
}

interface Excluding {
  readonly not: readonly string[];
  /** In place of `not`, if a kind of animal is asked for. */
  readonly notBesideKind?: readonly string[];
  readonly end: number;
}

/** "no cats", "without other dogs", "no black cats". */
function withoutAt(tokens: readonly Token[], from: number, vocabulary: Vocabulary): Excluding | undefined {
  const at = afterArticles(tokens, from);
  const list = listAt(tokens, at);
  const company = ofCompany(list, at);
  const kind = groupsAt(tokens, at, vocabulary, company?.end);
  return company ? { ...(kind ?? company), notBesideKind: company.not, end: company.end } : kind;
}

/** "not good with cats", "not small", "doesn't like cats". */
function negatedPhraseAt(tokens: readonly Token[], from: number, vocabulary: Vocabulary): Excluding | undefined {
  const at = afterArticles(tokens, from);
  const led = companionsAt(tokens, at);
  if (led) return ofCompanions(led.filters?.goodWith, at + led.length);
  // "not small dog" is a dog, "not a small dog" may be anything else.
  const isWhole = ['a', 'an'].includes(tokens[at - 1]?.folded ?? '');
  const phrases = isWhole ? groupsAt(tokens, at, vocabulary) : ofPhrase(phraseAt(tokens, at, vocabulary), at);
  if (phrases) return phrases;
  for (let i = at; i < at + skippedMax && isPlainWord(tokens[i]) && skipped.has(tokens[i]?.folded ?? ''); i += 1) {
    const found = companionsAt(tokens, i + 1);
    if (found) return ofCompanions(found.filters?.goodWith, i + 1 + found.length);
    const list = companionList(tokens, i + 1);
    if (list) return ofCompany(list, i + 1);
  }
  return undefined;
}

/** What is joined to it is negated as well: "not good with cats or dogs", "for families with children", but not "and good with dogs". */
function extended(tokens: readonly Token[], found: Excluding, vocabulary: Vocabulary): Excluding {
  const word = tokens[found.end];
  if (!isPlainWord(word)) return found;
  const isJoint = jointWords.has(word.folded);
  const at = isJoint ? found.end + 1 : found.end;
  const led = companionsAt(tokens, at);
  const mayFollow = isJoint ? word.folded !== 'and' || !isPositiveLead(tokens, at) : ['with', 'for'].includes(word.folded);
  if (!mayFollow) return found;
  const more = led
    ? ofCompanions(led.filters?.goodWith, at + led.length)
    : isJoint
      ? ofPhrase(phraseAt(tokens, at, vocabulary), at)
      : undefined;
  if (!more) return found;
  const besideKind = found.notBesideKind ? { notBesideKind: [...found.notBesideKind, ...more.not] } : {};
  return extended(tokens, { not: [...found.not, ...more.not], ...besideKind, end: more.end }, vocabulary);
}

/** Of a list with commas, only as far as the first, unless its last word is joined: "no cats, dogs or kids". */
function listAt(tokens: readonly Token[], at: number): CompanionList | undefined {
  const list = companionList(tokens, at);
  const end = at + (list?.length ?? 0);
  const comma = tokens.findIndex((token, n) => n > at && n < end && token.isAfterBreak);
  const isJoined = tokens.slice(comma, end).some(({ folded }) => jointWords.has(folded));
  return comma === -1 || isJoined ? list : companionList(tokens.slice(0, comma), at);
}

const ofCompany = (list: CompanionList | undefined, at: number) => list && ofCompanions(list.companions, at + list.length);

const ofCompanions = (companions: readonly Companion[] | undefined, end: number): Excluding | undefined =>
  companions && { not: companions.map((one) => `goodWith:${one}`), end };

function ofPhrase(phrase: Part | undefined, from: number): Excluding | undefined {
  const not = phrase?.filters && excludedOf(phrase.filters);
  return phrase && not && { not, end: from + phrase.length };
}

/** Phrases that say one thing together, and those that are joined to them: "black cats or puppies". */
function groupsAt(tokens: readonly Token[], from: number, vocabulary: Vocabulary, to = tokens.length): Excluding | undefined {
  const not: string[] = [];
  let end = from;
  for (let at = from; at < to; ) {
    const group = groupAt(tokens, at, vocabulary);
    const one = group && excludedOf(group.filters);
    if (!one) break;
    not.push(...one);
    end = group.end;
    const isList = to < tokens.length || tokens[end]?.isAfterBreak === false;
    if (!isList || !(jointWords.has(tokens[end]?.folded ?? '') || to < tokens.length)) break;
    at = jointWords.has(tokens[end]?.folded ?? '') ? end + 1 : end;
  }
  return not.length === 0 ? undefined : { not, end };
}

function groupAt(tokens: readonly Token[], from: number, vocabulary: Vocabulary) {
  let filters: PhraseFilters = {};
  let end = from;
  while (end === from || isPlainWord(tokens[end])) {
    const phrase = phraseAt(tokens, end, vocabulary);
    if (!phrase?.filters || Object.keys(phrase.filters).length === 0) break;
    filters = { ...filters, ...phrase.filters };
    end += phrase.length;
    if (filters.categoryId !== undefined || filters.breed !== undefined || filters.goodWith) break;
  }
  return end === from ? undefined : { filters, end };
}

/** Of "small kids" the kids alone. */
function excludedOf(filters: PhraseFilters): readonly string[] | undefined {
  if (filters.goodWith) return filters.goodWith.map((one) => `goodWith:${one}`);
  const text = excludedText(filters);
  return text === undefined ? undefined : [text];
}

function afterArticles(tokens: readonly Token[], from: number): number {
  let at = from;
  while (isPlainWord(tokens[at]) && intensifying.has(tokens[at]?.folded ?? '')) at += 1;
  return at;
}

function clauseEnd(tokens: readonly Token[], from: number): number {
  let end = from;
  while (isPlainWord(tokens[end]) && tokens[end]?.folded !== 'but') end += 1;
  return end;
}

const isPlainWord = (token: Token | undefined): token is Token => token !== undefined && !token.isAfterBreak && !token.isQuoted;

function lengthAt(tokens: readonly Token[], i: number, words: ReadonlySet<string>): number {
  for (const length of [2, 1]) if (words.has(textOf(tokens, i, length) ?? '')) return length;
  return 0;
}
