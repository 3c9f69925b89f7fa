import type { Category, Understood } from '@homeward/sdk';
import { type Filter, wordsCharsMax } from './filter.ts';
import { ageWords, companionWords, sexWords, sizeWords } from './words.ts';

/** What the store has understood of the words that were typed, beside the filters of the form. Empty: nothing but words. */
export function understoodParts(understood: Understood | undefined, filter: Filter, categories: readonly Category[]): readonly string[] {
  if (!understood || filter.words === undefined) return [];
  const { categoryId, age, sex, size, goodWith = [], color = [], breed, coat, town, postcode, name, q } = understood;
  const parts: ReadonlyArray<string | false | undefined> = [
    categoryId !== filter.categoryId && categories.find(({ id }) => id === categoryId)?.name,
    breed,
    ...color,
    coat && `${coat} coat`,
    age !== filter.age && age && ageWords[age].toLowerCase(),
    sex !== filter.sex && sex && sexWords[sex].toLowerCase(),
    size !== filter.size && size && sizeWords[size].toLowerCase(),
    ...goodWith.filter((who) => !filter.goodWith.includes(who)).map((who) => `good with ${companionWords[who].toLowerCase()}`),
    town && `in ${town}`,
    postcode && `in ${postcode}`,
    name && `named ${name}`,
  ];
  const known = parts.filter((part) => typeof part === 'string');
  return known.length > 0 && q ? [...known, q.replace(/^"(.*)"$/, '“$1”')] : known;
}

/** A search for the words as they are: what is in quotes is not interpreted. */
export function withoutMeaning(filter: Filter): Filter {
  const words = (filter.words ?? '').replaceAll(/["“”„«»]/g, ' ').trim();
  return { ...filter, words: `"${words.slice(0, wordsCharsMax - 2)}"` };
}
