import { folded } from '../../domain/label-spellings.ts';
import { meanings } from './phrases.ts';
import { singulars, type Token, textOf, tokensOf } from './tokens.ts';

/** The kinds of animals that a name has. */
export function speciesIn(name: string): readonly string[] {
  const tokens = tokensOf(name);
  const found: string[] = [];
  for (let i = 0; i < tokens.length; ) {
    const [species, length] = speciesAt(tokens, i);
    if (species !== undefined) found.push(species);
    i += length;
  }
  return found;
}

function speciesAt(tokens: readonly Token[], i: number): readonly [species: string | undefined, length: number] {
  for (let length = 2; length > 0; length -= 1) {
    const text = textOf(tokens, i, length);
    const meaning =
      text === undefined
        ? undefined
        : singulars(text)
            .map((form) => meanings.get(form))
            .find((one) => one?.species !== undefined);
    if (meaning) return [meaning.species, length];
  }
  return [undefined, 1];
}

/** What the name of a category is called in a search: the name, and what it may be the plural of. */
export const categoryForms = (name: string): readonly string[] => singulars(folded(name));
