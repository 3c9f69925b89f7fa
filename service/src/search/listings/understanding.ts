import { folded } from '../../domain/label-spellings.ts';
import { listingFilters } from '../../domain/listing-filters.ts';
import type { Db } from '../../platform/db/handles.ts';
import { meantLabel } from '../phrases/curated-words.ts';
import { type Interpretation, interpret, isSame } from '../phrases/interpretation.ts';
import { negatedPhrases } from '../phrases/negations.ts';
import type { Correction } from '../phrases/phrase-filters.ts';
import { meantTowns, placesAskedFor, townAskedFor } from '../phrases/place-phrases.ts';
import { type Token, tokensOf } from '../phrases/tokens.ts';
import { findMeantTown, findTown, readVocabulary } from '../phrases/vocabulary.ts';
import type { Found, ListingSearch, ListingSort, SearchedWords } from './listing-search.ts';
import { findNamed, selectAskedWords } from './match-queries.ts';

/** A way to understand a search. */
export interface Reading {
  /** With the words that are left in quotes, so that it means the same when it is asked for. */
  readonly search: ListingSearch;
  /** By relevance only: the animals with the name that is searched for, which come first. */
  readonly named: readonly Found[];
  /** A name that is searched for beside the search, and what its animals must match in place of it. */
  readonly lifted: Lifted | undefined;
  /** A place that was not found may be one as soon as a shelter is there. */
  readonly dependsOnPlaces: boolean;
  /** The words may be a misspelt town, if no animal is described with them. */
  readonly dependsOnDescriptions: boolean;
  readonly leftOut: readonly string[];
  readonly corrections: readonly Correction[];
}

export interface Lifted {
  readonly name: string;
  readonly search: ListingSearch;
}

/** Longer names are rare. */
const nameWordsMax = 3;
const qLengthMax = listingFilters.q.lengthMax;

/**
 * The ways to understand a search, the first of which is meant. If it finds nothing, the words are searched in names alone. A cursor may
 * be of a page of any of them.
 */
export async function understand(db: Db, search: ListingSearch, sort: ListingSort): Promise<readonly [Reading, ...Reading[]]> {
  const tokens = search.q === undefined ? [] : tokensOf(search.q);
  const isAsked = tokens.some(({ isQuoted }) => !isQuoted);
  if (!isAsked) return [await readingOf(db, search, sort)];
  const { found, ...depends } = await interpretIn(db, tokens, search);
  const asked = { ...search, q: quoted(tokens.map(({ text }) => text)) };
  if (!found) return [{ ...(await readingOf(db, asked, sort)), ...depends }];
  const understood = { ...withPhrases(search, found), q: quoted(found.rest.map(({ text }) => text)) };
  const first = await readNamed(db, { search, understood, tokens, found, sort });
  const others = first.search.orNamed === search.orNamed ? [] : [understood];
  const name = search.name === undefined ? [{ ...search, q: undefined, name: tokens.map(({ text }) => text).join(' ') }] : [];
  return [first, ...[...name, ...others].map((one) => ({ ...plainReading, search: one }))].map((reading) => ({
    ...reading,
    ...depends,
  })) as [Reading, ...Reading[]];
}

interface Interpreted extends Pick<Reading, 'dependsOnPlaces' | 'dependsOnDescriptions'> {
  readonly found: Interpretation | undefined;
}

/** By the phrases, and then by the towns of shelters, if what is left is one, or is one that is misspelt. */
async function interpretIn(db: Db, tokens: readonly Token[], search: ListingSearch): Promise<Interpreted> {
  const found = interpret(tokens, search, await readVocabulary(db, tokens, search.spelling === 'exact'));
  const others = found ?? { ...nothing, rest: tokens };
  const plain = { found, dependsOnPlaces: placesAskedFor(tokens).length > 0, dependsOnDescriptions: false };
  if (others.filters.town !== undefined || others.filters.postcode !== undefined) return plain;
  const withTown = (town: string | undefined): Interpretation | undefined =>
    town === undefined || (search.town !== undefined && !isSame(search.town, town))
      ? undefined
      : { ...others, filters: { ...others.filters, town }, rest: [], agrees: others.agrees || search.town !== undefined };
  const text = townAskedFor(others.rest);
  const inTown = text === undefined ? undefined : withTown(await findTown(db, text));
  if (inTown) return { ...plain, found: inTown, dependsOnPlaces: true };
  const isNegated = negatedPhrases(others.rest).length > 0;
  const texts = search.spelling === 'exact' || isNegated ? [] : meantTowns(tokens, others.rest);
  if (texts.length === 0) return { ...plain, dependsOnPlaces: plain.dependsOnPlaces || text !== undefined };
  const meant = await findMeantTown(db, texts);
  const inMeant = meant && !meant.isDescribed ? withTown(meant.town) : undefined;
  const said = inMeant &&
    meant && { ...inMeant, rest: meant.rest, corrections: [...inMeant.corrections, { typed: meant.text, searched: meant.town }] };
  return { found: said ?? found, dependsOnPlaces: true, dependsOnDescriptions: meant !== undefined };
}

const nothing: Interpretation = { filters: {}, rest: [], leftOut: [], corrections: [], agrees: false };

type Named = Omit<Reading, 'dependsOnPlaces' | 'dependsOnDescriptions'>;

interface Understood {
  readonly search: ListingSearch;
  readonly understood: ListingSearch;
  readonly tokens: readonly Token[];
  readonly found: Interpretation;
  readonly sort: ListingSort;
}

/** Animals whose name is the whole text come first, also those that are not what the text means. What the request asks for they must match. */
async function readNamed(db: Db, { search, understood, tokens, found, sort }: Understood): Promise<Named> {
  const name = tokens.map(({ text }) => text).join(' ');
  const said = { leftOut: found.leftOut, corrections: found.corrections };
  const lifted = { name, search: { ...search, q: undefined } };
  const mayBeName = sort === 'relevance' && tokens.length <= nameWordsMax && !found.agrees && search.orNamed === undefined;
  const named = mayBeName ? await findNamed(db, name, lifted.search) : [];
  if (named.length > 0)
    return { ...said, search: { ...understood, orNamed: name }, named: await namedAsRest(db, named, understood), lifted };
  const own = await readingOf(db, understood, sort);
  return { ...own, ...said, lifted: own.lifted ?? (mayBeName ? lifted : undefined) };
}

/** Of a search without words, or with the words as they are. */
export const plainReading = {
  named: [],
  lifted: undefined,
  dependsOnPlaces: false,
  dependsOnDescriptions: false,
  leftOut: [],
  corrections: [],
} as const;

/** A search that is understood already. */
async function readingOf(db: Db, search: ListingSearch, sort: ListingSort): Promise<Reading> {
  const none = { ...plainReading, search };
  if (sort !== 'relevance') return none;
  if (search.orNamed === undefined) return { ...none, named: await namedAsRest(db, [], search) };
  const tokens = tokensOf(search.orNamed);
  const lifted = await liftedOf(db, search, tokens);
  const named = await findNamed(db, search.orNamed, lifted);
  return { ...none, named: await namedAsRest(db, named, search), lifted: { name: search.orNamed, search: lifted } };
}

/** Also those whose name is what is left of the words. */
export async function namedAsRest(db: Db, named: readonly Found[], search: ListingSearch): Promise<Found[]> {
  const words = search.q === undefined ? [] : tokensOf(search.q);
  const text = words.map((word) => word.text).join(' ');
  const rest = words.length > 0 && words.length <= nameWordsMax ? await findNamed(db, text, search) : [];
  const ids = new Set(named.map(({ id }) => id));
  return [...named, ...rest.filter(({ id }) => !ids.has(id))].sort((a, b) => (a.id < b.id ? 1 : -1));
}

/** The search without what the name means as words. */
async function liftedOf(db: Db, search: ListingSearch, tokens: readonly Token[]): Promise<ListingSearch> {
  const { found: meant } = await interpretIn(db, tokens, search);
  if (!meant) return { ...search, q: undefined };
  const isRest = folded(search.q ?? '') === folded(meant.rest.map(({ text }) => text).join(' '));
  const kept = Object.entries(meant.filters).map(([name, value]) => {
    const asked = search[name as keyof ListingSearch];
    if (!Array.isArray(value) || !Array.isArray(asked)) return [name, isSame(asked, value) ? undefined : asked];
    const left = (asked as readonly unknown[]).filter((one) => !value.includes(one));
    return [name, left.length === 0 ? undefined : left];
  });
  return { ...search, ...Object.fromEntries(kept), q: isRest ? undefined : search.q };
}

/** A filter that may be repeated has what was asked for and what is meant. */
function withPhrases(search: ListingSearch, { filters }: Interpretation): ListingSearch {
  const { color, goodWith, not, ...others } = filters;
  return {
    ...search,
    ...others,
    ...(color && { color: [...new Set([...(search.color ?? []), ...color])] }),
    ...(not && { not: [...new Set([...(search.not ?? []), ...not])] }),
    ...(goodWith && { goodWith: [...new Set([...(search.goodWith ?? []), ...goodWith])] }),
  };
}

/** Words that are no phrases any more. A text that is too long with its quotes has no phrase, so it needs none. */
function quoted(words: readonly string[]): string | undefined {
  const text = words.join(' ');
  if (text === '') return undefined;
  return text.length + 2 > qLengthMax ? text : `"${text}"`;
}

/** The search with words in place of others, as it means the same when it is requested. A text that gets too long stays as it is. */
export function withWords(search: ListingSearch, corrections: readonly Correction[]): ListingSearch {
  if (search.q === undefined || corrections.length === 0) return search;
  const searched = new Map(corrections.map((one) => [one.typed, one.searched]));
  const text = `"${tokensOf(search.q)
    .map((token) => searched.get(token.folded) ?? token.text)
    .join(' ')}"`;
  return text.length > qLengthMax ? search : { ...search, q: text };
}

/** Of a text with more misspelt words none is corrected. */
const correctedMax = 3;

interface CorrectedWords {
  /** Undefined: the text has no words. */
  readonly corrected: Pick<ListingSearch, 'q' | 'otherWords' | 'together'> | undefined;
  readonly words: SearchedWords;
  readonly corrections: readonly Correction[];
  /** Those of words that no animal has, so that only the animals with the others are searched for. */
  readonly replacing: readonly Correction[];
}

/**
 * The words of a text, without accents, as animals have them, and what the misspelt ones are corrected to. That depends on curated words
 * alone, and on no animal. If an animal has a misspelt word, such as a name, those with it are found as well as those with the other.
 */
export async function correctWords(db: Db, text: string, isExact = false): Promise<CorrectedWords> {
  const corrections = isExact ? [] : correctionsOf(text);
  const searched = new Map(corrections.map((one) => [one.typed, one.searched]));
  const asked = await selectAskedWords(db, text, [...searched.keys()]);
  const unknown = new Map(asked.flatMap(({ word, isKnown }) => (isKnown ? [] : [[word, searched.get(word) ?? word] as const])));
  const written = (meant: ReadonlyMap<string, string>) => asked.map(({ word }) => meant.get(word) ?? word).join(' ');
  const [q, otherWords] = [written(unknown), written(searched)];
  const together = negatedPhrases(tokensOf(text)).map((phrase) =>
    phrase
      .split(' ')
      .map((word) => unknown.get(folded(word)) ?? word)
      .join(' '),
  );
  const typed = asked.filter(({ isPlain }) => isPlain).map(({ word }) => word);
  const meant = typed.flatMap((word) => searched.get(word)?.split(' ') ?? word);
  return {
    corrected:
      asked.length === 0
        ? undefined
        : { q, otherWords: otherWords === q ? undefined : otherWords, ...(together.length > 0 && { together }) },
    words: { choices: corrections.length === 0 ? [typed] : [typed, meant] },
    corrections,
    replacing: corrections.filter((one) => unknown.has(one.typed)),
  };
}

function correctionsOf(text: string): Correction[] {
  const words = new Set(tokensOf(text).map((token) => token.folded));
  const corrections = [...words].flatMap((typed): Correction[] => {
    const searched = meantLabel(typed);
    return searched === undefined ? [] : [{ typed, searched }];
  });
  return corrections.length > correctedMax ? [] : corrections;
}
