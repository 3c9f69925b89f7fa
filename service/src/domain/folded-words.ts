/** The words of a text without case, accents and marks, so that spellings can be compared. Linear in the length of the text. */
export function foldedWords(text: string): string[] {
  const letters = text
    .normalize('NFD')
    .replace(accents, '$1')
    .toLowerCase()
    .replace(ligatures, (letter) => ligature[letter] ?? letter);
  return letters.normalize('NFC').match(words) ?? [];
}

export const folded = (text: string): string => foldedWords(text).join(' ');

/** Of other scripts they make another letter. */
const accents = /([\p{Script=Latin}\p{Script=Greek}])\p{M}+/gu;
const words = /[\p{L}\p{M}\p{N}]+/gu;

const ligature: Readonly<Record<string, string>> = { ß: 'ss', æ: 'ae', œ: 'oe', ø: 'o', ł: 'l', đ: 'd', ð: 'd', þ: 'th', ı: 'i' };
const ligatures = /[ßæœøłđðþı]/gu;
