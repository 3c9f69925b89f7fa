import type { OpeningHours } from './api-types.gen.ts';

/** Whether visitors may come now; times are HH:MM by the clocks of the shelter. */
export type OpeningState =
  | { readonly isOpen: true; readonly until: string }
  /** `opens`: within the next two weeks; `inDays` is 0 for today. */
  | { readonly isOpen: false; readonly opens: { readonly date: string; readonly at: string; readonly inDays: number } | undefined };

const daysMax = 14;
const dayMs = 86_400_000;
const weekdays = ['sunday', 'monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday'] as const;

/** From the `openingHours` and the `timezone` of a shelter: whether it is open, until when, or when it opens next. */
export function openingState({ weekly, exceptions }: OpeningHours, timezone: string, now: Date = new Date()): OpeningState {
  // Such as 2026-11-20 14:05. What its clocks show is compared, so a change of the clocks needs no other rule.
  const [today = '', time = ''] = new Intl.DateTimeFormat('sv-SE', { timeZone: timezone, dateStyle: 'short', timeStyle: 'short' })
    .format(now)
    .split(' ');
  const midnight = Date.parse(`${today}T00:00:00Z`);
  for (let inDays = 0; inDays <= daysMax; inDays += 1) {
    const day = new Date(midnight + inDays * dayMs);
    const date = day.toISOString().slice(0, 10);
    const hours = exceptions.find((one) => one.date === date)?.hours ?? weekly[weekdays[day.getUTCDay()] ?? 'sunday'] ?? [];
    for (const { from, to } of hours) {
      if (inDays > 0 || time < from) return { isOpen: false, opens: { date, at: from, inDays } };
      if (time < to) return { isOpen: true, until: to };
    }
  }
  return { isOpen: false, opens: undefined };
}
