/** When visitors may come, by the clocks of the shelter. Schemas, checks, the console and the documents use this file. */
export const weekdays = ['monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday', 'sunday'] as const;
export type Weekday = (typeof weekdays)[number];

/** From and to, as HH:MM. A day ends at 24:00. */
export interface Opening {
  readonly from: string;
  readonly to: string;
}

/** A day that differs from its weekday. Without hours the shelter is closed. */
export interface OpeningException {
  readonly date: string;
  readonly hours: readonly Opening[];
}

export interface OpeningHours {
  /** A weekday that is not here is closed. */
  readonly weekly: { readonly [Day in Weekday]?: readonly Opening[] | undefined };
  readonly exceptions: readonly OpeningException[];
}

export const openingsOfDayMax = 4;
export const openingExceptionsMax = 60;
export const openingFromPattern = '^([01][0-9]|2[0-3]):[0-5][0-9]$';
export const openingToPattern = '^(([01][0-9]|2[0-3]):[0-5][0-9]|24:00)$';

/** What the shapes of the values can't say: a sentence each, about the field of `path`. */
export function faultsOfOpeningHours({ weekly, exceptions }: OpeningHours, path: string): string[] {
  const first = new Map<string, number>();
  return [
    ...weekdays.flatMap((day) => faultsOfOpenings(weekly[day] ?? [], `${path}.weekly.${day}`)),
    ...exceptions.flatMap(({ date, hours }, i) => {
      const same = first.get(date);
      if (same === undefined) first.set(date, i);
      return [
        ...(same === undefined ? [] : [`${path}.exceptions[${i}].date must be unique; ${date} is also that of exceptions[${same}].`]),
        ...faultsOfOpenings(hours, `${path}.exceptions[${i}].hours`),
      ];
    }),
  ];
}

/** The times of one day: each ends after it begins, and begins when the one before has ended, or later. */
export function faultsOfOpenings(hours: readonly Opening[], path: string): string[] {
  return hours.flatMap(({ from, to }, i) => {
    const before = hours[i - 1];
    const at = `${path}[${i}]`;
    if (to <= from)
      return [
        `${at}.to must be later than from; got ${from} to ${to}. A day ends at 24:00: what is after midnight belongs to the next day.`,
      ];
    if (before && from < before.to)
      return [
        `${at}.from must not be before ${before.to}, when ${path}[${i - 1}] ends; got ${from}. List the times of a day in their order.`,
      ];
    return [];
  });
}
