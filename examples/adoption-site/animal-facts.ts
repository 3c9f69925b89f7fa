// What is known of an animal, in words. What is not known is left out or said as that, and never shown as no.
import type { PetListing } from '@homeward/sdk';
import { companionWords, sexWords, sizeWords } from './words.ts';

type Profile = PetListing['profile'];
type Known = Profile['vaccinated'];
/** A label and its text. */
export type Fact = readonly [label: string, text: string];

const dateWords = new Intl.DateTimeFormat('en-GB', { dateStyle: 'long', timeZone: 'UTC' });
const and = new Intl.ListFormat('en');
const weekMs = 7 * 86_400_000;
/** The young change from week to week: below this, an age is in weeks. */
const weeksMax = 16;
const monthMs = (365.25 * 86_400_000) / 12;
const coatWords = { hairless: 'Hairless', short: 'Short', medium: 'Medium', long: 'Long', wire: 'Wiry', curly: 'Curly' };

export const dateText = (time: string): string => dateWords.format(new Date(time));

export function breedText({ breeds: { primary, secondary, mixed } }: Profile): string | undefined {
  const names = [primary, secondary].filter((name) => name !== null);
  if (names.length === 0) return mixed === 'yes' ? 'Mixed breed' : undefined;
  return `${names.join(' and ')}${mixed === 'yes' ? ' mix' : ''}`;
}

export function ageText({ birthDate, birthDateIsExact }: Profile, nowMs = Date.now()): string | undefined {
  if (birthDate === null) return undefined;
  const ageMs = nowMs - Date.parse(birthDate);
  const [weeks, months] = [Math.floor(ageMs / weekMs), Math.floor(ageMs / monthMs)];
  const about = birthDateIsExact ? '' : 'about ';
  if (weeks < 1) return 'less than a week';
  if (weeks < weeksMax) return `${about}${weeks} ${weeks === 1 ? 'week' : 'weeks'}`;
  if (months < 24) return `${about}${months} months`;
  return `${about}${Math.floor(months / 12)} years`;
}

export const sexText = ({ sex }: Profile): string | undefined => (sex === 'unknown' ? undefined : sexWords[sex]);

export function feeText({ adoptionFee }: Profile): string | undefined {
  if (!adoptionFee) return undefined;
  const { amount, currency } = adoptionFee;
  const format = new Intl.NumberFormat('en', { style: 'currency', currency, trailingZeroDisplay: 'stripIfInteger' });
  return amount === 0 ? 'None' : format.format(amountOf(amount, currency));
}

/** In major units: the store has minor ones, such as cents. */
export function amountOf(amount: number, currency: string): number {
  const digits = new Intl.NumberFormat('en', { style: 'currency', currency }).resolvedOptions().maximumFractionDigits ?? 2;
  return amount / 10 ** digits;
}

export function distanceText(km: number | undefined): string | undefined {
  if (km === undefined) return undefined;
  return km < 1 ? 'less than 1 km away' : `about ${Math.round(km)} km away`;
}

/** The town is the last part of an address, without a postal code. Countries write addresses differently: adapt this to yours. */
export function townOf({ address }: { readonly address: string | null }): string | undefined {
  const last = address?.split(/[,\n]/).at(-1)?.trim();
  return last?.replace(/^[\d-]+ /, '') || undefined;
}

/** Breed, age and sex are below the name. */
export function factsOf(profile: Profile): Fact[] {
  const { size, weightGrams, colors, coat, spayedNeutered, houseTrained, vaccinated, specialNeeds, arrivedOn } = profile;
  const facts: ReadonlyArray<readonly [string, string | undefined]> = [
    ['Size', size === null ? undefined : sizeWords[size]],
    ['Weight', weightGrams === null ? undefined : weightText(weightGrams)],
    ['Colours', colors.length === 0 ? undefined : capitalized(and.format(colors).toLowerCase())],
    ['Coat', coat === null ? undefined : coatWords[coat]],
    ['Vaccinated', knownText(vaccinated)],
    ['Neutered', knownText(spayedNeutered)],
    ['House-trained', knownText(houseTrained)],
    ['Special needs', knownText(specialNeeds)],
    ['At the shelter since', arrivedOn === null ? undefined : dateText(arrivedOn)],
    ['Adoption fee', feeText(profile)],
  ];
  return facts.filter((fact): fact is Fact => fact[1] !== undefined);
}

/** All three, or none if nothing is known: an adopter asks for each. */
export function companionsOf({ goodWith }: Profile): ReadonlyArray<{ readonly who: string; readonly known: Known }> {
  const all = Object.entries(companionWords).map(([name, who]) => ({ who, known: goodWith[name as keyof typeof goodWith] }));
  return all.every(({ known }) => known === 'unknown') ? [] : all;
}

const knownText = (known: Known): string | undefined => (known === 'unknown' ? undefined : capitalized(known));

const weightText = (grams: number): string =>
  grams < 1_000 ? `${grams} g` : `${(grams / 1_000).toLocaleString('en', { maximumFractionDigits: grams < 10_000 ? 1 : 0 })} kg`;

function capitalized<Text extends string | undefined>(text: Text): Text {
  return text === undefined ? text : ((text.charAt(0).toUpperCase() + text.slice(1)) as Text);
}
