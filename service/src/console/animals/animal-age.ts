import { count } from './animal-words.ts';

/** The young change from week to week: below this, an age is in weeks. */
const weeksMax = 16;
const dayMs = 86_400_000;

const daysBetween = (from: string, to: string): number => Math.round((Date.parse(to) - Date.parse(from)) / dayMs);

/** 8 weeks, or 2 years and 3 months, on a day. Days are YYYY-MM-DD. */
export function ageText(birthDate: string, isExact: boolean, today: string): string {
  const weeks = Math.trunc(Math.max(0, daysBetween(birthDate, today)) / 7);
  if (weeks < 1) return 'less than a week';
  const about = isExact ? '' : 'about ';
  if (weeks < weeksMax) return `${about}${count(weeks, 'week')}`;
  const months = monthsBetween(birthDate, today);
  const [years, rest] = [Math.trunc(months / 12), months % 12];
  const parts = [...(years > 0 ? [count(years, 'year')] : []), ...(years < 3 && (rest > 0 || years === 0) ? [count(rest, 'month')] : [])];
  return `${about}${parts.join(' and ')}`;
}

function monthsBetween(from: string, to: string): number {
  const [year, month] = [yearOf(to) - yearOf(from), monthOf(to) - monthOf(from)];
  return year * 12 + month - (to.slice(8) < from.slice(8) ? 1 : 0);
}

const yearOf = (day: string) => Number(day.slice(0, 4));
const monthOf = (day: string) => Number(day.slice(5, 7));

const part = /^(\d{1,3})\s*(days?|d|weeks?|wks?|w|months?|mths?|mo|m|years?|yrs?|y)$/i;
const partsMax = 2;

/** The day on which somebody was born who has this age today: "8 weeks", "2 years and 3 months". Undefined: it is no age. */
export function birthDateOf(age: string, today: string): string | undefined {
  const texts = age
    .trim()
    .replace(/^about\s+/i, '')
    .replace(/\s+old$/i, '')
    .split(/\s*,\s*|\s+and\s+|(?<=[a-z])\s+(?=\d)/i);
  const parts = texts.map((text) => part.exec(text.trim()));
  if (parts.length > partsMax || parts.includes(null)) return undefined;
  const sumOf = (letter: string) =>
    parts.reduce((sum, found) => sum + (found?.[2]?.toLowerCase().startsWith(letter) ? Number(found[1]) : 0), 0);
  return daysBefore(monthsBefore(today, sumOf('y') * 12 + sumOf('m')), sumOf('w') * 7 + sumOf('d'));
}

/** The last day of its month, where that has no such day. */
function monthsBefore(day: string, months: number): string {
  const index = yearOf(day) * 12 + monthOf(day) - 1 - months;
  const [year, month] = [Math.floor(index / 12), (index % 12) + 1];
  const lastDay = new Date(Date.UTC(year, month, 0)).getUTCDate();
  const date = Math.min(Number(day.slice(8)), lastDay);
  return new Date(Date.UTC(year, month - 1, date)).toISOString().slice(0, 10);
}

const daysBefore = (day: string, days: number): string => new Date(Date.parse(day) - days * dayMs).toISOString().slice(0, 10);
