import { type Html, html } from '../../platform/html.ts';

/** Writes times as people of one time zone read them. */
export interface Times {
  /** 19 Nov 2026, 14:32; in UTC, which is nobody's clock, it says so. */
  at(time: Date): Html;
  /** 19 Nov 2026 */
  on(time: Date): Html;
  /** 3 hours ago, in 2 days; the exact time is its title. */
  ago(time: Date): Html;
}

const units = [
  ['year', 31_557_600],
  ['month', 2_629_800],
  ['day', 86_400],
  ['hour', 3_600],
  ['minute', 60],
] as const satisfies ReadonlyArray<readonly [Intl.RelativeTimeFormatUnit, number]>;
const relative = new Intl.RelativeTimeFormat('en', { numeric: 'auto' });
/** Formats are expensive to make, and there are few time zones. */
const formats = new Map<string, Record<'at' | 'on', Intl.DateTimeFormat>>();

/** The zone of a shelter. UTC if it has none, or one that this Node.js doesn't know. */
export function zoneOf(timezone: string | null): string {
  if (timezone === null) return 'UTC';
  try {
    formatsOf(timezone);
    return timezone;
  } catch {
    return 'UTC';
  }
}

export function timesOf(zone: string, nowMs: number): Times {
  const { at, on } = formatsOf(zone);
  const element = (time: Date, text: string, title?: string) =>
    html`<time datetime="${time.toISOString()}"${title !== undefined && html` title="${title}"`}>${text}</time>`;
  return {
    at: (time) => element(time, at.format(time)),
    on: (time) => element(time, on.format(time)),
    ago: (time) => element(time, distance((time.getTime() - nowMs) / 1_000), at.format(time)),
  };
}

function distance(seconds: number): string {
  const found = units.find(([, length]) => Math.abs(seconds) >= length);
  return found ? relative.format(Math.trunc(seconds / found[1]), found[0]) : seconds < 0 ? 'just now' : 'in less than a minute';
}

function formatsOf(zone: string) {
  const known = formats.get(zone);
  if (known) return known;
  const date = { day: 'numeric', month: 'short', year: 'numeric', timeZone: zone } as const;
  const made = {
    at: new Intl.DateTimeFormat('en-GB', { ...date, hour: '2-digit', minute: '2-digit', ...(zone === 'UTC' && { timeZoneName: 'short' }) }),
    on: new Intl.DateTimeFormat('en-GB', date),
  };
  formats.set(zone, made);
  return made;
}
