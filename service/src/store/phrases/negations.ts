import type { Part, Vocabulary } from './phrase-filters.ts';
import { joints, negatingNouns, negatingVerbs } from './phrase-table.ts';
import { phraseAt } from './phrases.ts';
import { type Token, textOf } from './tokens.ts';

const wordsBeforeNounMax = 3;
const jointWords: ReadonlySet<string> = new Set(joints);
const nounNegations: ReadonlySet<string> = new Set(negatingNouns);
const verbNegations: ReadonlySet<string> = new Set(negatingVerbs);

/** What is negated is searched as words: an animal that is found must not be the opposite. */
export function negatedAt(tokens: readonly Token[], i: number, vocabulary: Vocabulary): Part | undefined {
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
