import { randomInt } from 'node:crypto';

/** No other word of the store begins so. */
const newWordPrefix = 'zq';
const letters = 'abcdefghijklmnopqrstuvwxyz';
const lettersAfterPrefix = 4;

/** A word that nobody else uses: one of 456,976. */
export const newWord = (): string => newWordPrefix + Array.from({ length: lettersAfterPrefix }, () => letters[randomInt(26)]).join('');

export const newWords = (count: number): string => Array.from({ length: count }, newWord).join(' ');
