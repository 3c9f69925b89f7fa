import { folded } from '../../domain/label-spellings.ts';
import type { Db } from '../../platform/db/handles.ts';
import { meantLabel } from '../phrases/curated-words.ts';
import { negatedPhrases } from '../phrases/negations.ts';
import type { Correction } from '../phrases/phrase-filters.ts';
import { tokensOf } from '../phrases/tokens.ts';
import type { ListingSearch, SearchedWords } from './listing-search.ts';
import { selectAskedWords } from './word-queries.ts';

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
