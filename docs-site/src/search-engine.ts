// The search itself. The build makes the index with it, and the page loads it, bundled with MiniSearch, when the reader opens the search.
import MiniSearch, { type Options } from 'minisearch';
import { groupsOf, stemOf, titleKey, wordsOf } from './search-words.ts';

/** A place that the search can lead to: a page, a section of it, or an operation. */
export interface SearchEntry {
  readonly url: string;
  /** The title of the page. */
  readonly page: string;
  /** The title of the section; the same as `page` for a page as a whole. */
  readonly heading: string;
  /** What is found verbatim, such as a path, a code or a status. */
  readonly names?: string;
  /** Other words that readers use for it. */
  readonly keywords?: string;
  readonly text: string;
  /** From 0 to 1: how much a match counts, 1 if it is missing. */
  readonly weight?: number;
}

export interface SearchResult {
  readonly url: string;
  readonly page: readonly Piece[];
  /** Empty for a page as a whole. */
  readonly heading: readonly Piece[];
  readonly excerpt: readonly Piece[];
}

/** A piece of a text. */
export interface Piece {
  readonly text: string;
  readonly isMatch: boolean;
}

type Stored = Required<SearchEntry>;

const options: Options<Stored & { id: number }> = {
  fields: ['page', 'heading', 'names', 'keywords', 'text'],
  storeFields: ['url', 'page', 'heading', 'names', 'text', 'weight'],
  tokenize: (text, field) => (field === 'names' ? namesOf(text) : wordsOf(text)),
  processTerm: stemOf,
};

const resultsMax = 8;
const perPageMax = 3;
const queryCharsMax = 200;
/** How much a word counts that was not typed as it is. */
const guessedWeight = 0.5;
/** How much more a result counts if the query has its exact name, or is its title. */
const nameWeight = 4;
const excerptCharsMax = 140;

export function makeIndex(entries: readonly SearchEntry[]): string {
  const index = new MiniSearch(options);
  index.addAll(entries.map((entry, id) => ({ names: '', keywords: '', weight: 1, ...entry, id })));
  return JSON.stringify(index);
}

/** Returns a function that searches the index, the best result first. */
export function openIndex(json: string): (query: string) => SearchResult[] {
  const index = MiniSearch.loadJSON(json, options);
  return (query) => {
    const groups = groupsOf(query.slice(0, queryCharsMax));
    const isTyped = (word: string) => groups.some(([first]) => first === word);
    const found = index.search(
      { combineWith: 'OR', queries: [...new Set(groups.flat())] },
      {
        tokenize: (word) => [word],
        processTerm: (word) => word,
        boost: { heading: 4, page: 1.5, names: 2, keywords: 3 },
        // A number is meant as it is: 429 is not 422.
        prefix: (word) => isTyped(word) && word.length > 2 && !/^\d+$/.test(word),
        fuzzy: (word) => (isTyped(word) && word.length > 4 && !/\d/.test(word) ? 0.2 : false),
        boostTerm: (word) => (isTyped(word) ? 1 : guessedWeight),
        weights: { fuzzy: 0.7, prefix: 0.4 },
        boostDocument: (_id, _word, stored) => Number(stored?.['weight'] ?? 1),
      },
    );
    const ranked = found
      .map((result) => {
        const isNamed = namesOf(result['names']).some((name) => isTyped(stemOf(name))) || titleKey(result['heading']) === titleKey(query);
        const score = result.score * coverage(groups, result.queryTerms) ** 1.5 * (isNamed ? nameWeight : 1);
        return { ...(result as typeof result & Stored), score };
      })
      .sort((a, b) => b.score - a.score);
    return spread(ranked).map(({ url, page, heading, text, terms }) => ({
      url,
      page: mark(page, terms),
      heading: heading === page ? [] : mark(heading, terms),
      excerpt: mark(excerptOf(text, terms), terms),
    }));
  };
}

/** Names as words, without their parts. */
const namesOf = (names: string): string[] => names.split(' ').flatMap((name) => wordsOf(name).slice(0, 1));

/** Which part of the query's words was found, by the word itself or by a synonym. */
const coverage = (groups: readonly string[][], found: readonly string[]): number =>
  groups.filter((group) => group.some((word) => found.includes(word))).length / groups.length;

/** One long page must not fill the list. */
function spread<Result extends { readonly url: string }>(results: readonly Result[]): Result[] {
  const counts = new Map<string, number>();
  const chosen = results.filter(({ url }) => {
    const [page = ''] = url.split('#', 1);
    counts.set(page, (counts.get(page) ?? 0) + 1);
    return (counts.get(page) ?? 0) <= perPageMax;
  });
  return chosen.slice(0, resultsMax);
}

/** The part of the text with the first match, from the beginning of a word to the end of one. */
function excerptOf(text: string, terms: readonly string[]): string {
  if (text.length <= excerptCharsMax) return text;
  const pieces = mark(text, terms);
  const first = pieces.findIndex(({ isMatch }) => isMatch);
  const at = pieces.slice(0, Math.max(first, 0)).reduce((sum, piece) => sum + piece.text.length, 0);
  const from = at < excerptCharsMax / 2 ? 0 : text.indexOf(' ', at - 40) + 1;
  const cut = text.slice(from, from + excerptCharsMax);
  const isEnd = from + excerptCharsMax >= text.length;
  return `${from > 0 ? '… ' : ''}${isEnd ? cut : `${cut.slice(0, cut.lastIndexOf(' '))} …`}`;
}

function mark(text: string, terms: readonly string[]): Piece[] {
  const pieces: Piece[] = [];
  for (const part of text.split(/([\s,;:()<>"]+|[.?!]+(?=\s|$))/)) {
    const isMatch = wordsOf(part).some((word) => terms.includes(stemOf(word)));
    const last = pieces.at(-1);
    if (last && last.isMatch === isMatch) pieces[pieces.length - 1] = { text: last.text + part, isMatch };
    else if (part !== '') pieces.push({ text: part, isMatch });
  }
  return pieces;
}
