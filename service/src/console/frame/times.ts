import { type Html, html } from '../../platform/html.ts';

/** Writes times as people of one time zone read them. */
export interface Times {
  /** 19 Nov 2026, 14:32; in UTC, which is nobody's clock, it says so. */
  at(time: Date): Html;
  /** 14:32:10, for what ends or was done within minutes. */
  second(time: Date): Html;
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
const formats = new Map<string, Record<'at' | 'on' | 'second', Intl.DateTimeFormat>>();

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
  const { at, on, second } = formatsOf(zone);
  const element = (time: Date, text: string, title?: string) =>
    html`<time datetime="${time.toISOString()}"${title !== undefined && html` title="${title}"`}>${text}</time>`;
  return {
    at: (time) => element(time, at.format(time)),
    on: (time) => element(time, on.format(time)),
    second: (time) => element(time, second.format(time)),
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
    second: new Intl.DateTimeFormat('en-GB', { timeStyle: 'medium', timeZone: zone }),
  };
  formats.set(zone, made);
  return made;
}

const minuteMs = 60_000;

/** The day on which a time is in a time zone, as YYYY-MM-DD. */
export const dayIn = (zone: string, time: Date): string =>
  new Intl.DateTimeFormat('sv-SE', { timeZone: zone, year: 'numeric', month: '2-digit', day: '2-digit' }).format(time);

/** 3 Dec 2026 */
export const dayText = (zone: string, time: Date): string =>
  new Intl.DateTimeFormat('en-GB', { timeZone: zone, day: 'numeric', month: 'short', year: 'numeric' }).format(time);

/** The last minute of a day in a time zone; undefined: there is no such day. */
export function endOfDay(zone: string, day: string): Date | undefined {
  const asUtc = Date.parse(`${day}T23:59:00Z`);
  if (Number.isNaN(asUtc) || new Date(asUtc).toISOString().slice(0, 10) !== day) return undefined;
  // The offset of a time near it is that of the time itself, but for the day on which clocks change: the second step has that too.
  const first = asUtc - offsetMs(zone, asUtc);
  return new Date(asUtc - offsetMs(zone, first));
}

/** Where tomorrow begins in a time zone. */
export function endOfToday(zone: string, now: Date): Date {
  const lastMinute = endOfDay(zone, dayIn(zone, now));
  if (!lastMinute) throw new Error('today is no day');
  return new Date(lastMinute.getTime() + minuteMs);
}

function offsetMs(zone: string, timeMs: number): number {
  const local = new Intl.DateTimeFormat('sv-SE', { timeZone: zone, dateStyle: 'short', timeStyle: 'medium' }).format(timeMs);
  return Math.round((Date.parse(`${local.replace(' ', 'T')}Z`) - timeMs) / minuteMs) * minuteMs;
}
