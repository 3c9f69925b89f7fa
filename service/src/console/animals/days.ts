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
