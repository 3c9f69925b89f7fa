import { hash } from 'node:crypto';

/**
 * A set of terms in a fixed number of bytes, as a Bloom filter: each term sets some bits. It has every term that was added. It may seem
 * to have others too, the more the longer the text was that its terms are from. A term is a word, or a filter such as `sex=female`, as the
 * document of an animal has them.
 */
export type TermSet = Buffer;

const setBytes = 256;
/** The bits of a term. With 200 terms in a set, it seems to have one in sixty others. */
const bitsOfTerm = 3;

export function termSetOf(terms: Iterable<string>): TermSet {
  const set = Buffer.alloc(setBytes);
  for (const term of new Set(terms)) {
    for (const bit of bitsOf(term)) set[bit >> 3] = (set[bit >> 3] ?? 0) | (1 << (bit & 7));
  }
  return set;
}

/** The bits that a set with all the terms has. */
export const bitsOfAll = (terms: Iterable<string>): readonly number[] => [...terms].flatMap(bitsOf);

export const hasBits = (set: TermSet, bits: readonly number[]): boolean =>
  bits.every((bit) => ((set[bit >> 3] ?? 0) & (1 << (bit & 7))) !== 0);

export const writeTermSet = (set: TermSet): string => set.toString('base64url');

/** Undefined: it is none of this release. */
export function readTermSet(text: string): TermSet | undefined {
  const set = Buffer.from(text, 'base64url');
  return set.length === setBytes ? set : undefined;
}

/** The same in every process and release: sets are exchanged. */
function bitsOf(term: string): number[] {
  const digest = hash('sha256', term, 'buffer');
  return Array.from({ length: bitsOfTerm }, (_, i) => digest.readUInt16BE(2 * i) % (setBytes * 8));
}
