import type { Db } from '../db/handles.ts';
import { selectAskedWords, selectCorrections } from './word-queries.ts';

/** A text with more words that no animal has finds nothing. */
const correctedMax = 3;

/**
 * The words of a text, without accents, as animals have them: one that no animal has is replaced by the most similar one that may
 * replace others. Undefined: there is a word that no animal has, and none is similar; or there are no words.
 */
export async function correctWords(db: Db, text: string): Promise<string | undefined> {
  const asked = await selectAskedWords(db, text);
  const misspelt = asked.filter(({ isKnown }) => !isKnown).map(({ word }) => word);
  if (asked.length === 0 || misspelt.length > correctedMax) return undefined;
  const corrections = misspelt.length === 0 ? [] : await selectCorrections(db, misspelt);
  if (corrections.length < misspelt.length) return undefined;
  const correct = new Map(corrections.map((correction) => [correction.misspelt, correction.word]));
  return asked.map(({ word }) => correct.get(word) ?? word).join(' ');
}
