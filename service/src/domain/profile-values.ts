/** Unknown is a separate value: it is never shown as no. */
export const triStates = ['yes', 'no', 'unknown'] as const;

export const knownSexes = ['male', 'female'] as const;
export const sexes = [...knownSexes, 'unknown'] as const;

export const sizes = ['small', 'medium', 'large', 'extra_large'] as const;

export const coats = ['hairless', 'short', 'medium', 'long', 'wire', 'curly'] as const;

export const companions = ['children', 'dogs', 'cats'] as const;
export type Companion = (typeof companions)[number];

export const ageBands = ['baby', 'young', 'adult', 'senior'] as const;
export type AgeBand = (typeof ageBands)[number];

/** The age in whole years at which each band ends. An age is computed from the birth date and never stored. */
export const ageBandEndYears: Readonly<Record<AgeBand, number>> = { baby: 1, young: 3, adult: 8, senior: Number.POSITIVE_INFINITY };

/** The band of the age on a day, both given as YYYY-MM-DD. */
export function ageBandOf(birthDate: string, today: string): AgeBand {
  const birthdayIsAhead = today.slice(4) < birthDate.slice(4);
  const years = Number(today.slice(0, 4)) - Number(birthDate.slice(0, 4)) - (birthdayIsAhead ? 1 : 0);
  return ageBands.find((band) => years < ageBandEndYears[band]) ?? 'senior';
}
