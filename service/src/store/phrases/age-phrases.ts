import { type AgeBand, ageBandEndYears, ageBands } from '../../domain/profile-values.ts';
import type { Part } from './phrase-filters.ts';
import { ageBounds, ageUnits, numberWords, otherAgeBounds } from './phrase-table.ts';
import { singulars, type Token, textOf } from './tokens.ts';

/** "2 years old", "6 month old", "8wks", "under 1 year". */
export function ageAt(tokens: readonly Token[], i: number): Part | undefined {
  const bound = ageBoundAt(tokens, i);
  if (!bound) return plainAgeAt(tokens, i);
  const age = plainAgeAt(tokens, i + bound.length);
  if (!age) return undefined;
  const isOfBand = age.years === (bound.is === 'below' ? ageBandEndYears.baby : ageBandEndYears.adult);
  return { from: i, length: bound.length + age.length, ...(isOfBand && { filters: { age: bound.is === 'below' ? 'baby' : 'senior' } }) };
}

function ageBoundAt(tokens: readonly Token[], i: number): { readonly is: 'below' | 'above'; readonly length: number } | undefined {
  for (const length of [2, 1]) {
    const text = textOf(tokens, i, length) ?? '';
    for (const is of ['below', 'above'] as const) if (ageBounds[is].includes(text)) return { is, length };
  }
  return undefined;
}

function plainAgeAt(tokens: readonly Token[], i: number): (Part & { readonly years: number }) | undefined {
  const [first, second] = [tokens[i]?.folded ?? '', tokens[i + 1]?.folded ?? ''];
  const [, glued, gluedUnit = ''] = /^(\d{1,2})([a-z]{1,6})$/.exec(first) ?? [];
  const count = glued === undefined ? countOf(first) : Number(glued);
  const unit = glued === undefined ? second : gluedUnit;
  const years = singulars(unit)
    .map((form) => ageUnits[form])
    .find((one) => one !== undefined);
  if (count === undefined || years === undefined) return undefined;
  let length = glued === undefined ? 2 : 1;
  if (['old', 'olds'].includes(tokens[i + length]?.folded ?? '')) length += 1;
  const isBound = otherAgeBounds.includes(tokens[i - 1]?.folded ?? '');
  return { from: i, length, years: count * years, ...(!isBound && { filters: { age: bandOf(count * years) } }) };
}

function countOf(word: string): number | undefined {
  if (/^\d{1,2}$/.test(word)) return Number(word);
  const index = numberWords.indexOf(word);
  return index === -1 ? undefined : index;
}

const bandOf = (years: number): AgeBand => ageBands.find((band) => years < ageBandEndYears[band]) ?? 'senior';
