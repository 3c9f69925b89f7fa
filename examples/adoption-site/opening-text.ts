import { type OpeningHours, openingState } from '@homeward/sdk';

/** Such as "Open today until 17:00", in the time zone of the shelter. */
export function openingText(hours: OpeningHours, timezone: string, now: Date): string {
  const state = openingState(hours, timezone, now);
  if (state.isOpen) return `Open today until ${state.until === '24:00' ? 'midnight' : state.until}.`;
  if (!state.opens) return 'Closed. Please ask before you come.';
  const { date, at, inDays } = state.opens;
  return `Closed now. Opens ${dayText(date, inDays)} at ${at}.`;
}

function dayText(date: string, inDays: number): string {
  if (inDays === 0) return 'today';
  if (inDays === 1) return 'tomorrow';
  const day = new Date(`${date}T12:00:00Z`);
  const near = { weekday: 'long', timeZone: 'UTC' } as const;
  const shown = inDays > 6 ? ({ ...near, day: 'numeric', month: 'long' } as const) : near;
  return `on ${new Intl.DateTimeFormat('en-GB', shown).format(day)}`;
}
