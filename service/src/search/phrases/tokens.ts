import { folded } from '../../domain/label-spellings.ts';

export interface Token {
  readonly text: string;
  readonly folded: string;
  /** What is between it and the word before. */
  readonly before: string;
  /** A comma or the like is before it. */
  readonly isAfterBreak: boolean;
  /** "5+". */
  readonly hasPlus: boolean;
  /** It was in quotes, and is a word whatever it may mean. */
  readonly isQuoted: boolean;
}

/** The words of a text. One of a hundred characters has fifty at most, and each step below looks at a bounded number of them. */
export function tokensOf(q: string): Token[] {
  const text = q.replace(/[“”„«»]/g, '"');
  const parts = text.split('"');
  // A last quote without another one is no quote.
  const quotedMax = parts.length % 2 === 1 ? parts.length : parts.length - 1;
  return parts.flatMap((part, n) => tokensOfPart(part, n % 2 === 1 && n < quotedMax, n > 0));
}

function tokensOfPart(part: string, isQuoted: boolean, isAfterQuote: boolean): Token[] {
  const tokens: Token[] = [];
  let end = 0;
  for (const { 0: text, index } of part.matchAll(/[\p{L}\p{M}\p{N}]+/gu)) {
    const one = folded(text);
    if (one === '') continue;
    const before = part.slice(end, index);
    end = index + text.length;
    const isAfterBreak = /[,;.!?:/()|$£€¥]/.test(before) || (tokens.length === 0 && isAfterQuote);
    tokens.push({ text, folded: one, before, isAfterBreak, hasPlus: part[end] === '+', isQuoted });
  }
  return tokens;
}

/** The words together; undefined: they end before, or a part of them is in quotes or behind a comma. */
export function textOf(tokens: readonly Token[], from: number, length: number): string | undefined {
  const words = tokens.slice(from, from + length);
  if (words.length < length || words.some(({ isQuoted, isAfterBreak }, n) => isQuoted || (n > 0 && isAfterBreak))) return undefined;
  return words.map((word) => word.folded).join(' ');
}

/** The text, and what it may be the plural of. */
export function singulars(text: string): string[] {
  const forms = [text];
  if (text.length > 3 && text.endsWith('ies')) forms.push(`${text.slice(0, -3)}y`);
  if (text.length > 3 && text.endsWith('es')) forms.push(text.slice(0, -2));
  if (text.length > 2 && text.endsWith('s')) forms.push(text.slice(0, -1));
  return forms;
}
