import { type AgeBand, ageBandEndYears, ageBands } from '../../domain/profile-fields.ts';
import type { Part, PhraseFilters } from './phrase-filters.ts';
import { ageBoundEnds, ageBounds, ageLeads, ageUnits, numberWords, otherAgeBounds, otherUnits, rangeJoints } from './phrase-table.ts';
import { singulars, type Token, textOf } from './tokens.ts';

/** In completed months, both included. Undefined: any. */
export interface Months {
  readonly min?: number | undefined;
  readonly max?: number | undefined;
}

type Bound = keyof typeof ageBounds;
type Age = Pick<Part, 'length'> & { readonly months: Months };

/** "2 years old", "8wks", "under 2", "2-4 years", "5+". */
export function ageAt(tokens: readonly Token[], i: number): Part | undefined {
  const age = rangeAt(tokens, i) ?? boundedAt(tokens, i) ?? plainAt(tokens, i);
  return age && { from: i, length: age.length, ...(isPossible(age.months) && { filters: filtersOf(age.months) }) };
}

/** The ages that filters allow. */
export const monthsOf = ({
  age,
  ageMonthsMin,
  ageMonthsMax,
}: { readonly [Name in keyof PhraseFilters]?: PhraseFilters[Name] | undefined }) =>
  both(age === undefined ? {} : monthsOfBand(age), { min: ageMonthsMin, max: ageMonthsMax });

export const both = (one: Months, other: Months): Months => ({
  min: one.min === undefined ? other.min : Math.max(one.min, other.min ?? 0),
  max: one.max === undefined ? other.max : Math.min(one.max, other.max ?? Number.POSITIVE_INFINITY),
});

export const isPossible = ({ min = 0, max = Number.POSITIVE_INFINITY }: Months) => max >= 0 && min <= max;

/** A band if there is one with these ages: it is a choice of the form that a visitor sees. */
function filtersOf({ min, max }: Months): PhraseFilters {
  const age = ageBands.find((band) => monthsOfBand(band).min === (min ?? 0) && monthsOfBand(band).max === max);
  if (age) return { age };
  return {
    ...(min !== undefined && (min > 0 || max === undefined) && { ageMonthsMin: min }),
    ...(max !== undefined && { ageMonthsMax: max }),
  };
}

function monthsOfBand(age: AgeBand): Months {
  const before = ageBands[ageBands.indexOf(age) - 1];
  const endYears = ageBandEndYears[age];
  return { min: before ? 12 * ageBandEndYears[before] : 0, max: Number.isFinite(endYears) ? 12 * endYears - 1 : undefined };
}

/** "2-4 years", "between 6 months and 2 years", "aged 2 to 4". */
function rangeAt(tokens: readonly Token[], i: number): Age | undefined {
  const lead = ['between', 'from', ...ageLeads].includes(tokens[i]?.folded ?? '') ? 1 : 0;
  const from = amountAt(tokens, i + lead);
  if (!from) return undefined;
  const isHyphen = /^\s*[-–—/]\s*$/.test(tokens[i + lead + from.length]?.before ?? '');
  const joint = isHyphen ? 0 : 1;
  const at = i + lead + from.length + joint;
  if (!isHyphen && !rangeJoints.includes(tokens[at - 1]?.folded ?? '')) return undefined;
  const to = amountAt(tokens, at);
  if (!to || (to.unit === undefined && (lead === 0 || from.unit !== undefined || isOtherUnit(tokens[at + to.length])))) return undefined;
  const unit = to.unit ?? 'year';
  const months = { min: Math.floor(monthsIn({ ...from, unit: from.unit ?? unit })), max: lastMonthOf({ ...to, unit }) };
  return { length: at + to.length - i, months };
}

/** "under 2 years", "older than 8", "5 years or older", "5+". Without a unit they are years. */
function boundedAt(tokens: readonly Token[], i: number): Age | undefined {
  const lead = boundAt(tokens, i);
  const amount = amountAt(tokens, i + (lead?.length ?? 0));
  if (!amount || (lead && tokens[i + lead.length]?.isAfterBreak)) return undefined;
  const end = lead ? undefined : boundEndAt(tokens, i, i + amount.length - 1);
  const bound = lead ?? end;
  const next = i + (lead?.length ?? 0) + amount.length + (end?.length ?? 0);
  if (!bound || (amount.unit === undefined && isOtherUnit(tokens[next]))) return undefined;
  return { length: next - i, months: monthsOfBound[bound.is]({ ...amount, unit: amount.unit ?? 'year' }) };
}

/** "2 years old", "aged 5". */
function plainAt(tokens: readonly Token[], i: number): Age | undefined {
  if (otherAgeBounds.includes(tokens[i - 1]?.folded ?? '')) return undefined;
  const lead = ageLeads.includes(tokens[i]?.folded ?? '') ? 1 : 0;
  const amount = amountAt(tokens, i + lead);
  if (!amount || (amount.unit === undefined && (lead === 0 || isOtherUnit(tokens[i + lead + amount.length])))) return undefined;
  const exact = { ...amount, unit: amount.unit ?? 'year' };
  const month = Math.floor(monthsIn(exact));
  // A year is the whole of it. Months and weeks are guessed at by shelters, so those beside it count too.
  const isYear = exact.unit === 'year' && Number.isInteger(exact.count);
  return {
    length: lead + amount.length,
    months: isYear ? { min: month, max: month + 11 } : { min: Math.max(0, month - 1), max: month + 1 },
  };
}

interface Amount {
  readonly count: number;
  readonly unit: keyof typeof ageUnits;
}

const monthsIn = ({ count, unit }: Amount) => count * ageUnits[unit].months;
/** "up to 2 years" also means animals that are two and a half. */
const lastMonthOf = ({ count, unit }: Amount) =>
  unit === 'year' && Number.isInteger(count) ? 12 * count + 11 : Math.ceil(monthsIn({ count, unit }));

const monthsOfBound: Readonly<Record<Bound, (amount: Amount) => Months>> = {
  below: (amount) => ({ max: Math.ceil(monthsIn(amount)) - 1 }),
  atMost: (amount) => ({ max: lastMonthOf(amount) }),
  atLeast: (amount) => ({ min: Math.floor(monthsIn(amount)) }),
};
const bounds = Object.keys(ageBounds) as Bound[];

function boundAt(tokens: readonly Token[], i: number): { readonly is: Bound; readonly length: number } | undefined {
  for (const length of [3, 2, 1]) {
    const text = textOf(tokens, i, length) ?? '';
    for (const is of bounds) if (ageBounds[is].includes(text)) return { is, length };
  }
  return undefined;
}

/** Of the amount with these tokens, or behind it. */
function boundEndAt(tokens: readonly Token[], first: number, last: number): { readonly is: Bound; readonly length: number } | undefined {
  if (tokens[first]?.hasPlus || tokens[last]?.hasPlus) return { is: 'atLeast', length: 0 };
  for (const length of [2, 1]) {
    const text = textOf(tokens, last + 1, length) ?? '';
    if (tokens[last + 1]?.isAfterBreak) return undefined;
    for (const is of ['atMost', 'atLeast'] as const) if (ageBoundEnds[is].includes(text)) return { is, length };
  }
  return undefined;
}

/** "2", "2 years", "1.5 yrs old", "8wks". */
function amountAt(
  tokens: readonly Token[],
  i: number,
): { readonly count: number; readonly unit: Amount['unit'] | undefined; readonly length: number } | undefined {
  const first = tokens[i];
  if (!first || first.isQuoted) return undefined;
  const [, glued, gluedUnit = ''] = /^(\d{1,2})([a-z]{1,6})$/.exec(first.folded) ?? [];
  const whole = glued === undefined ? countOf(first.folded) : Number(glued);
  if (whole === undefined) return undefined;
  if (glued !== undefined) {
    const unit = unitOf(gluedUnit);
    return unit && { count: whole, unit, length: 1 + oldLength(tokens, i + 1) };
  }
  const { part, length } = fractionAt(tokens, i + 1);
  const next = tokens[i + 1 + length];
  const unit = next && !next.isAfterBreak && !next.isQuoted ? unitOf(next.folded) : undefined;
  const count = whole + part;
  return unit ? { count, unit, length: 2 + length + oldLength(tokens, i + 2 + length) } : { count, unit, length: 1 + length };
}

function fractionAt(tokens: readonly Token[], i: number): { readonly part: number; readonly length: number } {
  const next = tokens[i];
  if (next?.before === '.' && /^\d$/.test(next.folded)) return { part: Number(next.folded) / 10, length: 1 };
  return textOf(tokens, i, 3) === 'and a half' ? { part: 0.5, length: 3 } : { part: 0, length: 0 };
}

function oldLength(tokens: readonly Token[], i: number): number {
  if (tokens[i]?.isAfterBreak) return 0;
  return textOf(tokens, i, 2) === 'of age' ? 2 : ['old', 'olds'].includes(textOf(tokens, i, 1) ?? '') ? 1 : 0;
}

const unitOf = (word: string): Amount['unit'] | undefined =>
  singulars(word)
    .map((form) => unitByWord.get(form))
    .find((one) => one !== undefined);
const units = Object.keys(ageUnits) as Array<Amount['unit']>;
const unitByWord: ReadonlyMap<string, Amount['unit']> = new Map(
  units.flatMap((unit) => ageUnits[unit].en.map((word) => [word, unit] as const)),
);

/** "under 10 kg" is no age. */
const isOtherUnit = (token: Token | undefined) =>
  token !== undefined && !token.isAfterBreak && singulars(token.folded).some((form) => otherUnits.includes(form) || /^\d/.test(form));

function countOf(word: string): number | undefined {
  if (/^\d{1,2}$/.test(word)) return Number(word);
  const index = numberWords.indexOf(word);
  return index === -1 ? undefined : index;
}
