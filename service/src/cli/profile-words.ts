import { fieldRows, type Profile, type ProfileField } from '../domain/profile-fields.ts';

/** `goodWith` as people read it: good with. */
export const wordsOf = (name: string): string => name.replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);

/** Shown in ways of their own. */
const elsewhere: readonly ProfileField[] = ['description', 'bondedWith', 'attributes', 'birthDateIsExact', 'adoptionFee'];

/** A line for each field of which something is known, by its name. */
export function knownFields(profile: Profile): Record<string, string | undefined> {
  const shown = fieldRows.filter(([name]) => !elsewhere.includes(name));
  const lines = shown.map(([name]) => [wordsOf(name), textOf(profile[name]) || undefined]);
  return { ...Object.fromEntries(lines), ...(profile.birthDate && { 'birth date': birthDateOf(profile) }), 'adoption fee': feeOf(profile) };
}

const birthDateOf = ({ birthDate, birthDateIsExact }: Profile) => `${birthDate}${birthDateIsExact ? '' : ', estimated'}`;

/** In units of the currency, such as €120.00. */
function feeOf({ adoptionFee }: Profile): string | undefined {
  if (adoptionFee === null) return undefined;
  const { amount, currency } = adoptionFee;
  const format = new Intl.NumberFormat('en', { style: 'currency', currency });
  return format.format(amount / 10 ** (format.resolvedOptions().maximumFractionDigits ?? 0));
}

/** Empty: nothing is known. */
function textOf(value: Profile[ProfileField]): string {
  if (value === null || value === 'unknown' || typeof value === 'boolean') return '';
  if (Array.isArray(value)) return value.join(', ');
  if (typeof value !== 'object') return String(value);
  const parts = Object.entries(value).map(([part, one]) => [part, textOf(one)] as const);
  const known = parts.filter(([, text]) => text !== '');
  return known.map(([part, text]) => `${wordsOf(part)} ${text}`).join(', ');
}
