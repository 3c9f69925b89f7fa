import type { Db } from '../../platform/db/handles.ts';
import type { ListingSearch } from './listing-search.ts';
import { selectAskedWords, selectCorrections } from './word-queries.ts';

/** A text with more words that no animal has finds nothing. */
const correctedMax = 3;
/** A word that an animal has is doubted only if another one is so similar. */
const doubtfulSimilarityMin = 0.4;

/**
 * The words of a text, without accents, as animals have them: one that no animal has is replaced by the most similar one that may
 * replace others. Undefined: there is a word that no animal has, and none is similar; or there are no words.
 *
 * A word that an animal has may be misspelt all the same, or be written to be found by who misspells another. If only one client uses it,
 * and one that others use is similar, animals with that one are found as well: nobody takes a misspelling for its own animals.
 */
export async function correctWords(db: Db, text: string): Promise<Pick<ListingSearch, 'q' | 'otherWords'> | undefined> {
  const asked = await selectAskedWords(db, text);
  const misspelt = asked.filter(({ isKnown }) => !isKnown).map(({ word }) => word);
  if (asked.length === 0 || misspelt.length > correctedMax) return undefined;
  const doubtful = asked.filter(({ isKnown, isShared }) => isKnown && !isShared).map(({ word }) => word);
  const compared = [...misspelt, ...doubtful].slice(0, correctedMax);
  const corrections = compared.length === 0 ? [] : await selectCorrections(db, compared);
  const correct = new Map(corrections.map((correction) => [correction.misspelt, correction]));
  if (misspelt.some((word) => !correct.has(word))) return undefined;
  const isMisspelt = new Set(misspelt);
  const written = (isReplaced: (word: string) => boolean) =>
    asked.map(({ word }) => (isReplaced(word) ? (correct.get(word)?.word ?? word) : word)).join(' ');
  const q = written((word) => isMisspelt.has(word));
  const otherWords = written((word) => isMisspelt.has(word) || (correct.get(word)?.similarity ?? 0) >= doubtfulSimilarityMin);
  return { q, otherWords: otherWords === q ? undefined : otherWords };
}
