import type { Category, Understood } from '@homeward/sdk';
import type { ListingPage } from './catalogue.ts';
import { type Filter, type Size, wordsCharsMax } from './filter.ts';
import { type Meant, meantOf } from './meant-filters.ts';
import { ageWords, companionWords, sexWords, sizeWords } from './words.ts';

/** The search as the store has understood it: each part of it can be taken away, and the others mean the same. */
export function understoodFilter(filter: Filter, understood: Understood | undefined): Filter {
  if (!understood || filter.words === undefined) return filter;
  const { categoryId, q, age, sex, size, goodWith = [] } = understood;
  return { ...filter, cursor: undefined, categoryId, words: q, age, sex, size, goodWith: [...goodWith], meant: meantOf(understood) };
}

/** What was understood beside the words: their names, each with the search without it. */
export function meantParts(filter: Filter, categories: readonly Category[]): ReadonlyArray<readonly [text: string, without: Filter]> {
  const { meant = {} } = filter;
  const {
    breed,
    color = [],
    coat,
    town,
    postcode,
    name,
    orNamed,
    not = [],
    ageMonthsMin,
    ageMonthsMax,
    sizeMin,
    sizeMax,
    spelling,
  } = meant;
  const less = (change: { readonly [Name in keyof Meant]: Meant[Name] | undefined }): Filter => ({
    ...filter,
    meant: Object.fromEntries(Object.entries({ ...meant, ...change }).filter(([, value]) => value !== undefined)),
  });
  const parts: ReadonlyArray<readonly [string | false | undefined, Filter]> = [
    [breed, less({ breed: undefined })],
    ...color.map((one) => [one, less({ color: color.filter((other) => other !== one) })] as const),
    [coat && `${coat} coat`, less({ coat: undefined })],
    [monthsText(ageMonthsMin, ageMonthsMax), less({ ageMonthsMin: undefined, ageMonthsMax: undefined })],
    [sizesText(sizeMin, sizeMax), less({ sizeMin: undefined, sizeMax: undefined })],
    ...not.map((one) => [excludedText(one, categories), less({ not: not.filter((other) => other !== one) })] as const),
    [town && `in ${town}`, less({ town: undefined })],
    [postcode && `in ${postcode}`, less({ postcode: undefined })],
    [name && `named “${name}”`, less({ name: undefined })],
    [orNamed && `or named “${orNamed}”`, less({ orNamed: undefined })],
    [spelling && 'spelt like that', less({ spelling: undefined })],
  ];
  return parts.filter((part): part is readonly [string, Filter] => Boolean(part[0]));
}

/** The words that are searched for, each with the others. What is negated is not taken apart: "not shy". */
export function wordParts(words: string | undefined): ReadonlyArray<readonly [text: string, rest: string | undefined]> {
  if (words === undefined) return [];
  const [, inner] = /^"([^"]*)"$/.exec(words) ?? [];
  const all = inner?.split(' ') ?? [];
  if (inner === undefined || negation.test(inner)) return [[inner ?? words, undefined]];
  return all.map((text, n) => [text, all.length === 1 ? undefined : `"${all.filter((_, other) => other !== n).join(' ')}"`]);
}

const negation = /(^| )(no|not|never|without|t|isnt|doesnt|dont|cant|wont|cannot)( |$)/i;

/** Once nothing else is asked for, animals with the name are. Else all animals would be found, these first. */
export function withName(filter: Filter): Filter {
  const { orNamed, ...others } = filter.meant ?? {};
  if (orNamed === undefined) return filter;
  const values = [
    filter.words,
    filter.age,
    filter.sex,
    filter.size,
    filter.categoryId,
    ...filter.goodWith,
    ...Object.values(others).flat(),
  ];
  return values.some((value) => value !== undefined) ? filter : { ...filter, meant: { name: orNamed } };
}

/** A search for the words as they are: what is in quotes is not interpreted. */
export function withoutMeaning(filter: Filter): Filter {
  const words = (filter.words ?? '').replaceAll(/["“”„«»]/g, ' ').trim();
  return { ...filter, words: `"${words.slice(0, wordsCharsMax - 2)}"` };
}

/** A search for words that were corrected, as they were typed. */
export function withSpelling(typed: Filter, understood: Filter, corrections: NonNullable<ListingPage['corrections']>): Filter {
  const words = understood.words?.split(/(?=[" ])|(?<=[" ])/) ?? [];
  // A phrase that was misspelt is no word of the search.
  const base = corrections.every(({ searched }) => words.includes(searched)) ? understood : withoutMeaning(typed);
  const typedOf = (word: string) => corrections.find(({ searched }) => searched === word)?.typed ?? word;
  return { ...base, words: base === understood ? words.map(typedOf).join('') : base.words, meant: { ...base.meant, spelling: 'exact' } };
}

function monthsText(min: number | undefined, max: number | undefined): string | undefined {
  if (min === undefined && max === undefined) return undefined;
  const isYears = (min ?? 0) % 12 === 0 && (max === undefined || (max + 1) % 12 === 0);
  const [unit, from, to] = isYears ? ['years', (min ?? 0) / 12, (max ?? 0) / 12] : ['months', min ?? 0, max ?? 0];
  if (max === undefined) return `${from} ${unit} or older`;
  if (min === undefined) return isYears ? `under ${(max + 1) / 12} years` : `up to ${max} months`;
  const last = Math.floor(to);
  return from === last ? `${from} ${unit} old` : `${from}–${last} ${unit}`;
}

/** "large or very large". */
function sizesText(min: Size | undefined, max: Size | undefined): string | undefined {
  if (min === undefined && max === undefined) return undefined;
  const all = Object.keys(sizeWords) as Size[];
  const [first, last] = [min === undefined ? 0 : all.indexOf(min), max === undefined ? all.length : all.indexOf(max) + 1];
  return or.format(all.slice(first, last).map((size) => sizeWords[size].toLowerCase()));
}

const or = new Intl.ListFormat('en', { type: 'disjunction' });

/** "not small", "not good with cats", "no dogs under 1 year". */
function excludedText(text: string, categories: readonly Category[]): string {
  const wordsOf: Readonly<Record<string, (value: string) => string | undefined>> = {
    categoryId: (value) => categories.find(({ id }) => String(id) === value)?.name ?? `category ${value}`,
    age: (value) => ageWords[value as keyof typeof ageWords],
    sex: (value) => sexWords[value as keyof typeof sexWords],
    size: (value) => sizeWords[value as keyof typeof sizeWords],
    sizeMin: (value) => sizesText(value as Size, undefined),
    sizeMax: (value) => sizesText(undefined, value as Size),
    goodWith: (value) => `good with ${companionWords[value as keyof typeof companionWords]}`,
    coat: (value) => `${value} coat`,
    ageMonthsMin: (value) => monthsText(Number(value), undefined),
    ageMonthsMax: (value) => monthsText(undefined, Number(value)),
  };
  const parts = text.split(',').map((part) => {
    const [name = '', value = ''] = part.split(':');
    return (wordsOf[name]?.(value) ?? value).toLowerCase();
  });
  return `not ${parts.join(' and ')}`;
}
