import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type Interpretation, interpret } from '../../../src/search/phrases/interpretation.ts';
import type { PhraseFilters, Vocabulary } from '../../../src/search/phrases/phrase-filters.ts';
import { searchPhrases } from '../../../src/search/phrases/phrase-table.ts';
import { tokensOf } from '../../../src/search/phrases/tokens.ts';

const species = [...new Set(searchPhrases.flatMap(({ means }) => means.species ?? []))];
const idOf = (name: string) => BigInt(species.indexOf(name) + 1);
const [dogs, cats, rabbits] = [idOf('dog'), idOf('cat'), idOf('rabbit')];
const places = new Map([
  ['vienna', { town: 'Vienna' }],
  ['new york', { town: 'New York' }],
  ['sw1a 1aa', { postcode: 'SW1A 1AA' }],
  ['90210', { postcode: '90210' }],
]);
const vocabulary: Vocabulary = {
  categoryIds: new Map(species.map((name) => [name, idOf(name)])),
  places,
};
const textOf = (rest: Interpretation['rest']) => rest.map(({ text }) => text).join(' ');
const read = (q: string, given: PhraseFilters = {}) => {
  const found = interpret(tokensOf(q), given, vocabulary);
  return found && { ...found.filters, ...(found.rest.length > 0 && { rest: textOf(found.rest) }) };
};

describe('A phrase of the table', () => {
  test.each(searchPhrases.flatMap(({ means, en }) => en.map((phrase) => [phrase, means] as const)))(
    '"%s" means what it says',
    (phrase, means) => {
      const { species: kind, ...others } = means;
      const expected = { ...others, ...(kind !== undefined && { categoryId: idOf(kind) }) };
      expect(read(phrase)).toEqual(expected);
      expect(read(`${phrase.toUpperCase()}!`)).toEqual(expected);
      expect(read(`"${phrase}"`)).toBeUndefined();
    },
  );

  test('has one meaning', () => {
    const phrases = searchPhrases.flatMap(({ en }) => en);
    expect(phrases.filter((phrase, i) => phrases.indexOf(phrase) !== i)).toEqual([]);
  });
});

describe('What says nothing of an animal', () => {
  test.each<[string, PhraseFilters & { rest?: string }, string[]]>([
    ['looking for a small dog', { categoryId: dogs, size: 'small' }, ['looking for a']],
    ["I'm looking for a cat please", { categoryId: cats }, ['I m looking for a', 'please']],
    ['I want puppies near me', { categoryId: dogs, age: 'baby' }, ['I want', 'near me']],
    ['rescue cats for adoption', { categoryId: cats }, ['rescue', 'for adoption']],
    ['we would like to adopt a shy cat', { categoryId: cats, rest: 'shy' }, ['would like', 'to adopt a']],
    ['hi, do you have any labradors? thanks', { breed: 'labrador' }, ['hi', 'do you have any', 'thanks']],
    ['kittens for sale in my area', { categoryId: cats, age: 'baby' }, ['for sale', 'in my area']],
    ['search and rescue dog', { categoryId: dogs, rest: 'search and rescue' }, []],
    ['"please" dog', { categoryId: dogs, rest: 'please' }, []],
    ['rescue', {}, ['rescue']],
  ])('in "%s" is left out, and said', (q, expected, leftOut) => {
    expect(read(q)).toEqual(expected);
    expect(interpret(tokensOf(q), {}, vocabulary)?.leftOut).toEqual(leftOut);
  });
});

describe('A misspelt phrase', () => {
  test('is said with the phrase that it was read as', () => {
    expect(interpret(tokensOf('small pupies'), {}, vocabulary)?.corrections).toEqual([{ typed: 'pupies', searched: 'puppy' }]);
    expect(interpret(tokensOf('small puppies'), {}, vocabulary)?.corrections).toEqual([]);
    expect(interpret(tokensOf('kiten'), {}, { ...vocabulary, isSpellingExact: true })).toBeUndefined();
  });
});

describe('A search', () => {
  test.each<[string, ReturnType<typeof read>]>([
    ['small dog', { categoryId: dogs, size: 'small' }],
    ['Puppies', { categoryId: dogs, age: 'baby' }],
    ['shy cat', { categoryId: cats, rest: 'shy' }],
    ['bunnies', { categoryId: rabbits }],
    ['dogs good with cats', { categoryId: dogs, goodWith: ['cats'] }],
    ['good with cats, dogs and small kids', { goodWith: ['children', 'dogs', 'cats'] }],
    ['cat-friendly dog', { categoryId: dogs, goodWith: ['cats'] }],
    ['dog and cat friendly', { goodWith: ['dogs', 'cats'] }],
    ['dog for kids', { categoryId: dogs, goodWith: ['children'] }],
    ['looking for a dog', { categoryId: dogs }],
    ['cats for adoption', { categoryId: cats }],
    ['golden retriever', { breed: 'golden retriever' }],
    ['golden cat', { categoryId: cats, color: ['golden'] }],
    ['black and white cat', { categoryId: cats, color: ['black', 'white'] }],
    ['toy poodle', { breed: 'toy poodle' }],
    ['German-Shepherd mix', { breed: 'german shepherd' }],
    ['alsatian', { breed: 'german shepherd' }],
    ['black labs', { color: ['black'], breed: 'labrador' }],
    ['old english sheepdog', { breed: 'old english sheepdog' }],
    ['domestic short hair', { breed: 'domestic shorthair' }],
    ['long-haired female kitten', { categoryId: cats, age: 'baby', sex: 'female', coat: 'long' }],
    ['2 year old dog', { categoryId: dogs, ageMonthsMin: 24, ageMonthsMax: 35 }],
    ['6 month old puppy', { categoryId: dogs, age: 'baby', ageMonthsMin: 5, ageMonthsMax: 7 }],
    ['ten years old', { ageMonthsMin: 120, ageMonthsMax: 131 }],
    ['dog under 12 months', { categoryId: dogs, age: 'baby' }],
    ['less than a year old cat', { categoryId: cats, age: 'baby' }],
    ['cat over 8 years old', { categoryId: cats, age: 'senior' }],
    ['cat over 10 years', { categoryId: cats, ageMonthsMin: 120 }],
    ['dog under 6 months', { categoryId: dogs, ageMonthsMax: 5 }],
    ['pupies', { categoryId: dogs, age: 'baby' }],
    ['rabit', { categoryId: rabbits }],
    ['family dog', { categoryId: dogs, goodWith: ['children'] }],
    ['small dog for seniors', { categoryId: dogs, size: 'small', rest: 'for seniors' }],
    ['cat named Ginger', { categoryId: cats, name: 'Ginger' }],
    ['dog called "Max"', { categoryId: dogs, rest: 'called Max' }],
    ['dog in Vienna', { categoryId: dogs, town: 'Vienna' }],
    ['small dogs near New York', { categoryId: dogs, size: 'small', town: 'New York' }],
    ['cats SW1A 1AA', { categoryId: cats, postcode: 'SW1A 1AA' }],
    ['dog 90210', { categoryId: dogs, postcode: '90210' }],
    ['dog in need', { categoryId: dogs, rest: 'need' }],
    ['Kätzchen', undefined],
    ['vienna', undefined],
    ['young at heart cat', { categoryId: cats, rest: 'young at heart' }],
    ['cat with blue eyes', { categoryId: cats, rest: 'blue eyes' }],
    ['"small" dog', { categoryId: dogs, rest: 'small' }],
    ['"small dog" "cat', { categoryId: cats, rest: 'small dog' }],
    ['dog "', { categoryId: dogs }],
    ['“small” dog', { categoryId: dogs, rest: 'small' }],
  ])('%s', (q, expected) => {
    expect(read(q)).toEqual(expected);
  });

  test.each<[string, PhraseFilters & { rest?: string }]>([
    ['dog under 2 years', { categoryId: dogs, ageMonthsMax: 23 }],
    ['cats 3 months old', { categoryId: cats, ageMonthsMin: 2, ageMonthsMax: 4 }],
    ['older than 8', { age: 'senior' }],
    ['2-4 years', { ageMonthsMin: 24, ageMonthsMax: 59 }],
    ['2 – 4 yrs', { ageMonthsMin: 24, ageMonthsMax: 59 }],
    ['cat between 6 months and 2 years old', { categoryId: cats, ageMonthsMin: 6, ageMonthsMax: 35 }],
    ['6 to 12 months', { ageMonthsMin: 6, ageMonthsMax: 12 }],
    ['aged 5', { ageMonthsMin: 60, ageMonthsMax: 71 }],
    ['ages 2 to 4', { ageMonthsMin: 24, ageMonthsMax: 59 }],
    ['1-2 years', { age: 'young' }],
    ['8wks', { ageMonthsMax: 2 }],
    ['under 12 weeks', { ageMonthsMax: 2 }],
    ['1.5 years old', { ageMonthsMin: 17, ageMonthsMax: 19 }],
    ['two and a half years old', { ageMonthsMin: 29, ageMonthsMax: 31 }],
    ['dog 5+', { categoryId: dogs, ageMonthsMin: 60 }],
    ['5+ years old', { ageMonthsMin: 60 }],
    ['5 years plus', { ageMonthsMin: 60 }],
    ['8 years or older', { age: 'senior' }],
    ['up to 2 years', { ageMonthsMax: 35 }],
    ['3 years or younger', { ageMonthsMax: 47 }],
    ['at least 2 years old', { ageMonthsMin: 24 }],
    ['not older than 5', { ageMonthsMax: 71 }],
    ['over 2 and under 5 years', { ageMonthsMin: 24, ageMonthsMax: 59 }],
    ['small dog under 5 in Vienna', { categoryId: dogs, size: 'small', ageMonthsMax: 59, town: 'Vienna' }],
    ['dog under 10 kg', { categoryId: dogs, rest: 'under 10 kg' }],
    ['horse over 14 hands', { categoryId: idOf('horse'), rest: 'over 14 hands' }],
    ['dog under £20', { categoryId: dogs, rest: 'under 20' }],
    ['dog 2', { categoryId: dogs, rest: '2' }],
    ['cat under 0 years', { categoryId: cats, rest: 'under 0 years' }],
    ['small puppy over 10 years', { size: 'small', rest: 'puppy over 10 years' }],
    ['4-2 years cat', { categoryId: cats, rest: '4 2 years' }],
  ])('%s: the number is the age', (q, expected) => {
    expect(read(q)).toEqual(expected);
  });

  test.each([
    ['dog not good with cats', dogs],
    ["dog that isn't good with cats", dogs],
    ['dog without cats', dogs],
    ['no kids dog', dogs],
    ['dog, no cats or kids', dogs],
    ['dog that hates cats', dogs],
    ['dog reactive cat', cats],
    ['cat free', undefined],
    ['not small', undefined],
    ['never good with small children', undefined],
    ['scared of dogs', undefined],
    ['not a puppy', undefined],
    ['cat, not good with dogs, small', cats],
  ])('%s is not the opposite of what it says', (q, categoryId) => {
    const found = read(q);
    expect(found?.goodWith).toBeUndefined();
    expect(found?.age).toBeUndefined();
    expect(found?.categoryId).toBe(categoryId);
  });

  test.each<[string, PhraseFilters, ReturnType<typeof read>]>([
    ['small dog', { size: 'large' }, { categoryId: dogs, rest: 'small' }],
    ['puppy', { age: 'senior' }, undefined],
    ['puppy', { categoryId: cats }, undefined],
    ['not small', { size: 'small' }, undefined],
    ['small dog', { not: ['size:small'] }, { categoryId: dogs, rest: 'small' }],
    ['not a puppy', { categoryId: dogs }, { not: [`age:baby,categoryId:${dogs}`] }],
    ['not black', { color: ['white'] }, { not: ['color:black'] }],
    ['no cats', { categoryId: dogs }, { not: ['goodWith:cats'] }],
    ['dog over 10 years', { age: 'baby' }, { categoryId: dogs, rest: 'over 10 years' }],
    ['dog over 10 years', { age: 'senior' }, { categoryId: dogs, ageMonthsMin: 120 }],
    ['dog over 10 years', { ageMonthsMin: 24 }, { categoryId: dogs, rest: 'over 10 years' }],
    ['small dog', { size: 'small' }, { categoryId: dogs, size: 'small' }],
    ['good with cats', { goodWith: ['dogs'] }, { goodWith: ['cats'] }],
    ['black cat', { color: ['white', 'brown', 'red'] }, { categoryId: cats, rest: 'black' }],
    ['cat in Vienna', { town: 'Graz' }, { categoryId: cats, rest: 'Vienna' }],
  ])('%s beside %o follows the filter of the request', (q, given, expected) => {
    expect(read(q, given)).toEqual(expected);
  });

  test.each<[string, PhraseFilters & { rest?: string }]>([
    ['big dog', { categoryId: dogs, sizeMin: 'large' }],
    ['large', { sizeMin: 'large' }],
    ['large or extra large dogs', { categoryId: dogs, sizeMin: 'large' }],
    ['huge dog', { categoryId: dogs, size: 'extra_large' }],
    ['very big dog', { categoryId: dogs, size: 'extra_large' }],
    ['dog not too big', { categoryId: dogs, sizeMax: 'medium' }],
    ['dog, nothing too large', { categoryId: dogs, sizeMax: 'medium' }],
    ['not big', { sizeMax: 'medium' }],
    ['no big dogs', { not: [`sizeMin:large,categoryId:${dogs}`] }],
    ['not a big dog', { not: [`sizeMin:large,categoryId:${dogs}`] }],
    ['small to medium dog', { categoryId: dogs, sizeMax: 'medium' }],
    ['medium to large dog', { categoryId: dogs, sizeMin: 'medium', sizeMax: 'large' }],
    ['medium or larger', { sizeMin: 'medium' }],
    ['big or huge', { sizeMin: 'large' }],
    ['big heart', { rest: 'big heart' }],
  ])('%s: a size is a range', (q, expected) => {
    expect(read(q) ?? { rest: q }).toEqual(expected);
  });

  test.each<[string, PhraseFilters, ReturnType<typeof read>]>([
    ['big dog', { size: 'small' }, { categoryId: dogs, rest: 'big' }],
    ['big dog', { size: 'extra_large' }, { categoryId: dogs, sizeMin: 'large' }],
    ['not too big', { sizeMin: 'large' }, undefined],
    ['small dog', { sizeMin: 'medium' }, { categoryId: dogs, rest: 'small' }],
    ['big dog', { not: ['sizeMin:large'] }, { categoryId: dogs, rest: 'big' }],
  ])('%s beside %o is no range that has no size', (q, given, expected) => {
    expect(read(q, given)).toEqual(expected);
  });

  test('with two of a kind has neither as a filter', () => {
    expect(read('small or huge dog')).toEqual({ categoryId: dogs, rest: 'small huge' });
    expect(read('small or large dog')).toEqual({ categoryId: dogs, rest: 'small large' });
    expect(read('cats and dogs')).toBeUndefined();
  });

  test('of any text is understood again as it was, once the other words are in quotes', () => {
    const phrases = searchPhrases.flatMap(({ en }) => en);
    const piece = fc.oneof(
      fc.constantFrom(...phrases),
      fc.constantFrom(
        'not',
        'no',
        'with',
        'or',
        'without other',
        'not good with',
        'under',
        '2-4 years',
        'in',
        'vienna',
        '"',
        ',',
        'shy',
        '7',
        'mix',
      ),
      fc.string(),
    );
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 12 }), (pieces) => {
        const q = pieces.join(' ').slice(0, 100);
        const found = interpret(tokensOf(q), {}, vocabulary);
        if (!found) return;
        const rest = `"${textOf(found.rest)}"`;
        expect(interpret(tokensOf(rest), found.filters, vocabulary)).toBeUndefined();
        for (const { text } of found.rest) expect(q).toContain(text);
      }),
      { numRuns: 5_000 },
    );
  });

  test.each(['not ', 'no cat ', 'good with cats and ', 'a,', '"', 'in ', 'ß', '́', '1 '])('of %j again and again takes no time', (piece) => {
    const q = piece.repeat(100).slice(0, 100);
    const startMs = performance.now();
    for (let i = 0; i < 50; i += 1) interpret(tokensOf(q), {}, vocabulary);
    expect((performance.now() - startMs) / 50).toBeLessThan(20);
  });
});
