import { folded } from '../../domain/label-spellings.ts';
import type { Db } from '../../platform/db/handles.ts';
import { negatedPhrases } from '../phrases/negations.ts';
import type { Correction as SaidCorrection } from '../phrases/phrase-filters.ts';
import { tokensOf } from '../phrases/tokens.ts';
import type { ListingSearch, SearchedWords } from './listing-search.ts';
import { type AskedWord, type Correction, selectAskedWords, selectCorrections } from './word-queries.ts';

/** A text with more words that no animal has finds nothing. */
const correctedMax = 3;
/** A word that an animal has is doubted only if another one is so similar. */
const doubtfulSimilarityMin = 0.4;

/**
 * The words of a text, without accents, as animals have them: one that no animal has is replaced by the most similar one that may
 * replace others. `corrected` is undefined if there is a word that no animal has, and none is similar; or there are no words.
 *
 * A word that an animal has may be misspelt all the same, or be written to be found by who misspells another. If only one client uses it,
 * and one that others use is similar, animals with that one are found as well: nobody takes a misspelling for its own animals.
 */
export async function correctWords(db: Db, text: string, isExact = false): Promise<CorrectedWords> {
  const asked = await selectAskedWords(db, text);
  const doubted = asked.filter(({ isKnown, isShared }) => !(isKnown && isShared));
  const corrections = doubted.length === 0 || isExact ? [] : await findCorrections(db, asked);
  const corrected = correct(text, asked, corrections);
  const texts = [corrected?.q, corrected?.otherWords].filter((words) => words !== undefined).map((words) => words.split(' '));
  const plain = new Set([...asked, ...corrections].filter(({ isPlain }) => isPlain).map(({ word }) => word));
  const choices = [asked.map(({ word }) => word), ...texts].map((words) => words.filter((word) => plain.has(word)));
  const isMisspelt = new Set(misspeltOf(asked));
  const said = corrected ? corrections.filter(({ misspelt }) => isMisspelt.has(misspelt)) : [];
  return {
    corrected,
    corrections: said.map(({ misspelt, word }) => ({ typed: misspelt, searched: word })),
    words: { choices, areKnown: doubted.length === 0 },
  };
}

interface CorrectedWords {
  readonly corrected: Pick<ListingSearch, 'q' | 'otherWords' | 'together'> | undefined;
  readonly words: SearchedWords;
  /** Of words that no animal has. */
  readonly corrections: readonly SaidCorrection[];
}

async function findCorrections(db: Db, asked: readonly AskedWord[]): Promise<Correction[]> {
  const misspelt = misspeltOf(asked);
  if (misspelt.length > correctedMax) return [];
  const doubtful = asked.filter(({ isKnown, isShared }) => isKnown && !isShared).map(({ word }) => word);
  return selectCorrections(db, [...misspelt, ...doubtful].slice(0, correctedMax));
}

const misspeltOf = (asked: readonly AskedWord[]) => asked.filter(({ isKnown }) => !isKnown).map(({ word }) => word);

function correct(text: string, asked: readonly AskedWord[], corrections: readonly Correction[]): CorrectedWords['corrected'] {
  const misspelt = misspeltOf(asked);
  if (asked.length === 0) return undefined;
  const replacements = new Map(corrections.map((correction) => [correction.misspelt, correction]));
  if (misspelt.some((word) => !replacements.has(word))) return undefined;
  const isMisspelt = new Set(misspelt);
  const written = (isReplaced: (word: string) => boolean) =>
    asked.map(({ word }) => (isReplaced(word) ? (replacements.get(word)?.word ?? word) : word)).join(' ');
  const q = written((word) => isMisspelt.has(word));
  const otherWords = written((word) => isMisspelt.has(word) || (replacements.get(word)?.similarity ?? 0) >= doubtfulSimilarityMin);
  const together = negatedPhrases(tokensOf(text)).map((phrase) =>
    phrase
      .split(' ')
      .map((word) => (isMisspelt.has(folded(word)) ? (replacements.get(folded(word))?.word ?? word) : word))
      .join(' '),
  );
  return { q, otherWords: otherWords === q ? undefined : otherWords, ...(together.length > 0 && { together }) };
}
